/** An invite as the person has it who opens the mailed link: in a real browser. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { Secret, TOTP } from "otpauth";
import { type Browser, chromium, type Page } from "playwright-core";
import { MfaEnrolment } from "../../../src/identity/types.ts";
import { TEST_ORIGIN } from "../../harness/http-app.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { bodyOf, freshEmail, PASSWORD, type Person } from "../../identity/identity-server.ts";
import { type OrganizationServer, organizationServer } from "./organization-server.ts";

const WAIT_MS = 300_000;
const MESSAGE = "#message:not(:empty)";

let stores: TestStores;
let server: OrganizationServer;
let listener: Bun.Server<undefined>;
let browser: Browser;
let owner: Person;
let page: Page;
let requested: string[];
let complaints: string[];

beforeAll(async () => {
  stores = await openTestStores();
  server = organizationServer(stores);
  listener = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => server.app.handle(request, { peerAddress: "192.0.2.1" }),
  });
  owner = await server.register({ organizationName: "Light & House" });
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
}, WAIT_MS);
afterAll(async () => {
  await browser.close();
  await listener.stop(true);
  await stores.close();
}, WAIT_MS);

beforeEach(async () => {
  const context = await browser.newContext();
  context.setDefaultTimeout(WAIT_MS);
  page = await context.newPage();
  requested = [];
  complaints = [];
  page.on("request", (request) => requested.push(request.url()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.text().includes("Content Security Policy")) complaints.push(message.text());
  });
}, WAIT_MS);

const here = (): string => `http://127.0.0.1:${listener.port}`;

/** Invites an address and opens the link that it is mailed, on this listener. */
async function openInvite(email: string): Promise<{ status: number | undefined; token: string }> {
  const { token } = await server.invite(owner.cookie, email, "member");
  const link = server.mails.at(-1)?.message.link ?? "";
  const opened = await page.goto(link.replace(TEST_ORIGIN, here()));
  return { status: opened?.status(), token };
}

async function fill(form: string, fields: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(fields)) await page.fill(`#${form} [name=${name}]`, text);
  await page.click(`#${form} button`);
}

const said = async (): Promise<string | null> => page.locator(MESSAGE).textContent();

async function isMember(email: string): Promise<boolean> {
  return (await server.membersOf(owner.cookie)).some((member) => member.email === email);
}

describe("the page of a mailed invite", () => {
  test(
    "makes an account with a chosen password, joins, and says what comes next",
    async () => {
      const email = freshEmail();
      const { status, token } = await openInvite(email);
      expect(status).toBe(200);
      await fill("new", { email, password: PASSWORD });
      expect(await said()).toBe("You have an account now, and are a member of Light & House.");
      expect(await page.locator("#next-new").textContent()).toContain(`obs login --url ${here()}`);
      expect(await page.locator("#next-new a").getAttribute("href")).toBe("/docs");
      expect(await page.locator("#ways").count()).toBe(0);
      expect(await isMember(email)).toBe(true);
      expect((await server.logIn(email)).status).toBe(200);
      // What lets somebody in is in no address that is sent, nor in the one that stays in the history.
      expect(requested.filter((url) => new URL(url).origin !== here())).toEqual([]);
      expect(requested.filter((url) => new URL(url).search.includes(token))).toEqual([]);
      expect(page.url()).toBe(`${here()}/accept-invite`);
      expect(complaints).toEqual([]);
    },
    WAIT_MS,
  );

  test(
    "lets somebody in who has an account, by password and one-time code, and says how to work there",
    async () => {
      const { email, cookie } = await server.register();
      const { secret } = await bodyOf(
        await server.as(cookie, "POST", "/api/v1/auth/mfa/enroll"),
        MfaEnrolment,
      );
      const totp = new TOTP({ secret: Secret.fromBase32(secret) });
      const codeNow = () => totp.generate({ timestamp: server.clock.now() });
      await server.as(cookie, "POST", "/api/v1/auth/mfa/verify", { code: codeNow() });
      // A code is taken once.
      server.clock.advance(60_000);
      await openInvite(email);
      await fill("known", { email, password: PASSWORD });
      expect(await said()).toBe("Your account asks for a one-time code.");
      expect(await isMember(email)).toBe(false);
      await fill("known", { totp: codeNow() });
      await page.waitForSelector("#next-known:not([hidden])");
      expect(await said()).toBe("You are a member of Light & House now, as member.");
      expect(await isMember(email)).toBe(true);
      const next = await page.locator("#next-known").textContent();
      expect(next).toContain(`the organizationId ${owner.account.organization.id}, and`);
      expect(next).toContain(`obs login --url ${here()} --token obs_...`);
    },
    WAIT_MS,
  );

  test(
    "lets the person join by whom the browser is signed in, without a password",
    async () => {
      const { email, cookie } = await server.register();
      const [name = "", value = ""] = cookie.split("=");
      await page.context().addCookies([{ name, value, url: here() }]);
      await openInvite(email);
      await page.click("#join");
      await page.waitForSelector("#next-known:not([hidden])");
      expect(await isMember(email)).toBe(true);
    },
    WAIT_MS,
  );

  test(
    "says in words what is wrong, and can be tried again",
    async () => {
      const email = freshEmail();
      await openInvite(email);
      await fill("new", { email: freshEmail(), password: PASSWORD });
      expect(await said()).toContain("meant for another email address");
      await fill("known", { email: owner.email, password: "not this one at all" });
      await page.waitForSelector('#message:text("The email or the password is wrong.")');
      await fill("new", { email, password: PASSWORD });
      await page.waitForSelector("#next-new:not([hidden])");
      expect(await isMember(email)).toBe(true);
      await page.goto(`${here()}/accept-invite`);
      expect(await said()).toContain("Open the link of the invitation again");
    },
    WAIT_MS,
  );
});
