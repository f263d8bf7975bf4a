/** The reference as a person has it: in a real browser, over the whole server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { makeToken } from "../../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";

const CHROMIUM = Bun.which("chromium") ?? Bun.which("google-chrome") ?? Bun.which("chromium-browser");
if (CHROMIUM === null)
  process.stderr.write("skipped: no chromium on this machine (Debian package chromium)\n");
const WAIT_MS = 300_000;
/** The operation that a newcomer needs first, as the page names its section. */
const FIRST_OPERATION = "tag/logs/POST/api/v1/logs/ingest";
const FIRST_SECTION = `//*[contains(@id, "${FIRST_OPERATION}")]`;

describe.skipIf(CHROMIUM === null)("the page of the reference", () => {
  let server: SharedServer;
  let browser: Browser;
  let page: Page;
  const requested: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    server = await sharedServer();
    browser = await puppeteer.launch({
      executablePath: CHROMIUM ?? "",
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
      protocolTimeout: WAIT_MS,
    });
    page = await browser.newPage();
    page.setDefaultTimeout(WAIT_MS);
    page.on("request", (request) => requested.push(request.url()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    await page.goto(`${server.url}/docs`, { waitUntil: "networkidle0" });
  }, 2 * WAIT_MS);
  afterAll(async () => {
    await browser.close();
  }, WAIT_MS);

  test(
    "opens on how to get a token and send a first log, to this very server",
    async () => {
      await page.waitForSelector("::-p-text(Get a token)");
      const text = await page.$eval("body", (body) => body.textContent);
      expect(text).toContain("Send a first log");
      expect(text).toContain(`export OBS=${server.url}`);
    },
    WAIT_MS,
  );

  test(
    "shows operations, those of logs first",
    async () => {
      const section = await page.waitForSelector(`[id$="${FIRST_OPERATION}"]`);
      await section?.scrollIntoView();
      // What a section holds is made when it comes into view.
      await page.waitForSelector(`xpath/.${FIRST_SECTION}//button[contains(., "Test Request")]`);
      await page.waitForSelector("[id$='tag/kql']");
      const tags = await page.$$eval("[id*='tag/']", (elements) =>
        elements.map(({ id }) => /tag\/([^/]+)$/.exec(id)?.[1] ?? ""),
      );
      const inOrder = [...new Set(tags.filter((tag) => tag !== ""))];
      expect(inOrder.slice(0, 2)).toEqual(["logs", "kql"]);
    },
    WAIT_MS,
  );

  test(
    "sends a call with a token that is put in",
    async () => {
      const token = await makeToken(server.url);
      await page.type("input[placeholder=Token]", token);
      await page.locator(`xpath/.${FIRST_SECTION}//button[contains(., "Test Request")]`).click();
      const answered = page.waitForResponse(`${server.url}/api/v1/logs/ingest`);
      await page.locator('xpath/.//button[contains(., "Send Request")]').click();
      expect((await answered).status()).toBe(202);
    },
    WAIT_MS,
  );

  test("asks no other server for anything, and the policy has nothing to complain of", () => {
    expect(requested).toContain(`${server.url}/openapi.json`);
    const elsewhere = requested.filter(
      (url) => !url.startsWith(`${server.url}/`) && !url.startsWith("data:"),
    );
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
