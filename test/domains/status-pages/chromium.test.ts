import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import {
  DAY_MS,
  freshSlug,
  NOW_MS,
  organization,
  PAGES,
  type PageServer,
  pageServer,
} from "./page-server.ts";

const AXE = readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir), "utf8");
/** Where pictures are put for somebody to look at. */
const PICTURES = Bun.env.OBS_TEST_PICTURES;
const LOCKED_PASSWORD = "open sesame";

let stores: TestStores;
let server: PageServer;
let directory: ReturnType<typeof temporaryDirectory>;
let listener: Bun.Server<undefined>;
let browser: Browser;
let open: string;
let locked: string;

beforeAll(async () => {
  stores = await openTestStores();
  directory = temporaryDirectory();
  server = pageServer(stores, { directory: directory.path });
  listener = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => server.app.unchecked.handle(request, { peerAddress: "192.0.2.1" }),
  });
  open = `http://127.0.0.1:${listener.port}/status/${await acme()}`;
  locked = `http://127.0.0.1:${listener.port}/status/${await lockedPage()}`;
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
});
afterAll(async () => {
  await browser.close();
  await listener.stop(true);
  await stores.close();
  directory[Symbol.dispose]();
});

/** A page with something of everything. */
async function acme(): Promise<string> {
  const { id, send, monitor, period, incident } = await organization(stores, server);
  const [api, payments, search, long] = [
    await monitor("api", "up"),
    await monitor("payments", "down"),
    await monitor("search", "degraded"),
    await monitor("a".repeat(120), null),
  ];
  await period(api, "up", NOW_MS - 100 * DAY_MS, null);
  await period(payments, "up", NOW_MS - 60 * DAY_MS, NOW_MS - 9 * DAY_MS);
  await period(payments, "down", NOW_MS - 9 * DAY_MS, NOW_MS - 9 * DAY_MS + 1_000_000);
  await period(payments, "up", NOW_MS - 9 * DAY_MS + 1_000_000, NOW_MS - 1_000_000);
  await period(payments, "down", NOW_MS - 1_000_000, null);
  await period(search, "up", NOW_MS - 20 * DAY_MS, NOW_MS - 3 * DAY_MS);
  await period(search, "degraded", NOW_MS - 3 * DAY_MS, null);
  await incident(
    [payments],
    [
      { body: "Card payments fail for some of you. We look into it.", public: true },
      { body: "The fault is <b>found</b>.\nWe are putting it right.", public: true, status: "identified" },
    ],
  );
  await stores.postgres`
    INSERT INTO maintenance_windows (organization_id, monitor_id, title, starts_at, ends_at, created_at, updated_at)
    VALUES (${id}, ${api}, 'New database servers', ${new Date(NOW_MS + DAY_MS)}, ${new Date(NOW_MS + DAY_MS + 7_200_000)}, now(), now())`;
  const slug = freshSlug();
  await send("POST", PAGES, {
    ...{
      name: "Acme",
      slug,
      description: "How our services are.",
      monitorIds: [api, payments, search, long],
    },
    publicNames: [
      { monitorId: api, name: "API" },
      { monitorId: payments, name: "Payments" },
      { monitorId: search, name: "Search" },
    ],
    groups: [{ name: "Behind the scenes", monitorIds: [search, long] }],
    theme: { accent: "#ffcc00", timezone: "Europe/Berlin" },
  });
  return slug;
}

async function lockedPage(): Promise<string> {
  const { send } = await organization(stores, server);
  const slug = freshSlug();
  const { body } = await send("POST", PAGES, { name: "Acme", slug });
  await send("PUT", `${PAGES}/${body.id}/password`, { password: LOCKED_PASSWORD });
  return slug;
}

const VIEWS = [
  { name: "desktop", width: 1200, height: 900, colorScheme: "light" },
  { name: "dark", width: 1200, height: 900, colorScheme: "dark" },
  { name: "phone", width: 360, height: 740, colorScheme: "light" },
  { name: "phone-dark", width: 360, height: 740, colorScheme: "dark" },
  // A window of 1280 pixels in which everything is four times as large.
  { name: "zoomed", width: 320, height: 256, colorScheme: "light" },
] as const;

describe("in a browser", () => {
  test.each([...VIEWS])(
    "the page has no fault that axe finds, asks nobody else, violates no policy and never scrolls sideways: $name",
    async ({ name, width, height, colorScheme }) => {
      for (const [kind, url] of [
        ["page", open],
        ["embed", `${open}?embed=1`],
        ["locked", locked],
      ] as const) {
        const context = await browser.newContext({
          viewport: { width, height },
          colorScheme,
          bypassCSP: false,
        });
        const page = await context.newPage();
        const requests: string[] = [];
        const complaints: string[] = [];
        page.on("request", (request) => requests.push(request.url()));
        page.on("console", (message) => {
          const isFault = message.type() === "error" || message.type() === "warning";
          if (isFault && !message.text().includes("status of 401")) complaints.push(message.text());
        });
        await page.goto(url);
        const widths = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]");
        expect(widths).toEqual([width, width]);
        expect(requests.filter((asked) => !asked.startsWith("data:"))).toEqual([url]);
        expect(complaints).toEqual([]);
        // Run from outside of the page, so no policy of it stands in the way.
        await page.evaluate(AXE);
        const found = await page.evaluate(
          "axe.run().then(({ violations }) => violations.map((one) => one.id + ': ' + one.nodes.map((node) => node.html).join(' | ')))",
        );
        expect(found).toEqual([]);
        if (PICTURES !== undefined)
          await page.screenshot({ path: `${PICTURES}/${kind}-${name}.png`, fullPage: true });
        await context.close();
      }
    },
  );

  test("everything is done without script: unlocking and subscribing, and the title says the state", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(locked);
    await page.getByLabel("Password").fill(LOCKED_PASSWORD);
    await page.getByRole("button", { name: "Open" }).click();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Acme status");
    await page.goto(open);
    expect(await page.title()).toBe("✕ Some systems are down – Acme status");
    await page.getByLabel("Email address").fill("reader@example.com");
    await page.getByLabel("Payments", { exact: true }).check();
    await page.getByRole("button", { name: "Subscribe" }).click();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain("a mail with a link");
    expect(server.mails.map(({ to }) => to)).toContain("reader@example.com");
    await context.close();
  });

  test("a name that is written from right to left turns round nothing but itself", async () => {
    const { send, monitor } = await organization(stores, server);
    const slug = freshSlug();
    const name = "safe\u202Eelbareporcni";
    const monitorId = await monitor("api", "up");
    const publicNames = [{ monitorId, name }];
    await send("POST", PAGES, { name, slug, monitorIds: [monitorId], publicNames });
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${listener.port}/status/${slug}`);
    const unisolated = await page.evaluate(
      "[...document.querySelectorAll('body *')].filter((one) => getComputedStyle(one).unicodeBidi !== 'isolate').length",
    );
    expect(unisolated).toBe(0);
    await page.close();
  });
});
