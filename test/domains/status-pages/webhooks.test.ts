import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { openWebhook, sealWebhook } from "../../../src/domains/status-pages/subscribers/webhooks.ts";
import { eventually } from "../../harness/eventually.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type Answering, Receiver } from "../../notify/deliveries/receiver.ts";
import { type PageServer, pageServer } from "./page-server.ts";
import { subscribedPage } from "./subscribed-page.ts";

let stores: TestStores;
let server: PageServer;
let directory: ReturnType<typeof temporaryDirectory>;

beforeAll(async () => {
  stores = await openTestStores();
  directory = temporaryDirectory();
  server = pageServer(stores, { directory: directory.path });
});
afterAll(async () => {
  await stores.close();
  directory[Symbol.dispose]();
});

/** A page and an endpoint that is told of it, with the secret that its requests are signed with. */
async function hooked(answering?: Answering) {
  const made = await subscribedPage(stores, server);
  const hook = new Receiver(answering);
  const url = `${hook.url}/hooks/token-of-theirs`;
  expect((await made.subscribe(made.email, undefined, undefined, url)).status).toBe(202);
  expect(hook.received).toEqual([]);
  const confirmed: { secret: string } = JSON.parse(await (await server.app.send("GET", made.link())).text());
  /** What is due is due now, again and again, until nothing is. */
  const retry = () =>
    stores.postgres`UPDATE status_page_notices SET next_attempt_at = now() - interval '1 second' WHERE organization_id = ${made.id}`;
  return { ...made, hook, url, secret: confirmed.secret, retry };
}

/** An incident that everybody is told of. */
async function happens({ incident, tell, api }: Awaited<ReturnType<typeof hooked>>): Promise<void> {
  const sourceKey = `monitor:${crypto.randomUUID()}`;
  await tell(await incident([api], [{ body: "We look into it", public: true }], { sourceKey }), [api]);
}

describe("a webhook", () => {
  test("is told in public words once a person has confirmed it, signed as a library verifies", async () => {
    const page = await hooked();
    using hook = page.hook;
    await happens(page);
    await server.tellDue();
    await server.tellDue();
    const [told, ...more] = hook.received;
    expect(more).toEqual([]);
    if (told === undefined) throw new Error("nothing was told");
    // The clock of the suite stands still, so the library makes the signature instead of judging its age.
    const sentAt = new Date(Number(told.headers.get("webhook-timestamp")) * 1000);
    const id = told.headers.get("webhook-id") ?? "";
    expect(new Webhook(page.secret).sign(id, sentAt, told.body)).toBe(
      told.headers.get("webhook-signature") ?? "",
    );
    const { type, data } = JSON.parse(told.body);
    expect(type).toBe("status_page.incident");
    expect(data).toMatchObject({
      page: { name: "Acme", url: `http://localhost:8080/status/${page.slug}` },
      incident: { title: "Incident: API", status: "investigating", updates: [{ body: "We look into it" }] },
    });
    expect(told.body).not.toContain("api-internal");
    expect(page.mailsTo()).toHaveLength(1);
    expect(await page.subscribers()).toMatchObject([
      { channel: "webhook", email: page.email, webhookHost: new URL(page.url).host, confirmed: true },
    ]);
    expect(JSON.stringify(await page.subscribers())).not.toContain("token-of-theirs");
    const { pathname, search } = new URL(data.unsubscribe);
    expect((await server.app.send("POST", pathname + search)).status).toBe(200);
    expect(await page.subscribers()).toEqual([]);
  });

  test("of an address that leads inward, or of none, is refused, and nothing is kept", async () => {
    const { subscribe, email, subscribers } = await subscribedPage(stores, server);
    for (const url of [
      "http://169.254.169.254/latest",
      "http://localhost/x",
      "http://[::1]/",
      "http://2130706433/",
    ]) {
      const refused = await subscribe(email, undefined, undefined, url);
      // 127.0.0.1 is allowed here, in whatever form it is written.
      if (url.includes("2130706433") || url.includes("localhost")) expect(refused.status).toBe(202);
      else {
        const { code, error } = JSON.parse(await refused.text());
        expect([url, refused.status, code]).toEqual([url, 400, "ALERT_URL_BLOCKED"]);
        expect(error).toStartWith("/webhookUrl leads ");
      }
    }
    for (const url of ["ftp://example.com/", "https://user:word@example.com/", "https://", "example.com"])
      expect((await subscribe(email, undefined, undefined, url)).status).toBe(400);
    expect((await subscribers()).length).toBeLessThanOrEqual(1);
  });

  test("that fails is tried again under the same id, and forgotten after three changes that it did not take", async () => {
    const page = await hooked(() => new Response("no", { status: 400 }));
    using hook = page.hook;
    for (const left of [1, 1, 0]) {
      await happens(page);
      await server.tellDue();
      expect(await page.subscribers()).toHaveLength(left);
    }
    expect(hook.received).toHaveLength(3);
    expect(page.mailsTo().at(-1)?.subject).toBe("Nothing more is sent about Acme");
    expect(page.mailsTo()).toHaveLength(2);
  });

  test("hears what is written while it is being told", async () => {
    const page = await hooked((_received, nth) => (nth === 1 ? "hang" : new Response(null, { status: 204 })));
    using hook = page.hook;
    const { incident, tell, api, id } = page;
    const about = await incident([api], [{ body: "We look into it", public: true }]);
    await tell(about, [api]);
    const telling = server.tellDue();
    await eventually("it is being told", () => hook.received.length === 1);
    await stores.postgres`
      INSERT INTO incident_updates (organization_id, incident_id, kind, status, public, body, created_at)
      VALUES (${id}, ${about}, 'update', 'identified', true, 'We have found it', now())`;
    await tell(about, [api]);
    hook.release();
    await telling;
    await page.retry();
    await server.tellDue();
    await page.retry();
    await server.tellDue();
    expect(hook.received).toHaveLength(2);
    expect(hook.received[1]?.body).toContain("We have found it");
  });

  test("opens for its own organisation alone", () => {
    const { sealed } = sealWebhook(TEST_BOX, 1, new URL("https://example.com/hooks/token"));
    expect(openWebhook(TEST_BOX, 1, sealed).url).toBe("https://example.com/hooks/token");
    expect(() => openWebhook(TEST_BOX, 2, sealed)).toThrow();
  });

  test("that is late gets the same id again, and one that has come back is as good as new", async () => {
    const page = await hooked((_received, nth) => new Response(null, { status: nth < 3 ? 503 : 204 }));
    using hook = page.hook;
    await happens(page);
    for (const _attempt of [1, 2, 3, 4]) {
      await page.retry();
      await server.tellDue();
    }
    const ids = hook.received.map(({ headers }) => headers.get("webhook-id"));
    expect([ids.length, new Set(ids).size]).toEqual([3, 1]);
    const [row] = await stores.postgres`
      SELECT failures FROM status_page_subscribers WHERE organization_id = ${page.id}`;
    expect(row?.failures).toBe(0);
  });

  test("that says it is gone hears nothing more at once", async () => {
    const page = await hooked(() => new Response(null, { status: 410 }));
    using _hook = page.hook;
    await happens(page);
    await server.tellDue();
    expect(await page.subscribers()).toEqual([]);
  });

  test("that hangs holds up no mail", async () => {
    const page = await hooked(() => "hang");
    using hook = page.hook;
    server.clock.nowMs += 11 * 60_000;
    await page.subscribed(`also-${page.email}`);
    await happens(page);
    const telling = server.tellDue();
    await eventually("the mail", () => page.mailsTo(`also-${page.email}`).length === 2);
    await eventually("the endpoint hangs", () => hook.received.length === 1);
    hook.release();
    await telling;
  });

  test("is named once for a page, whoever asks, and told once", async () => {
    const page = await hooked();
    using hook = page.hook;
    const again = await page.subscribe(`other-${page.email}`, undefined, undefined, page.url);
    expect(again.status).toBe(202);
    expect(await page.subscribers()).toHaveLength(1);
    await happens(page);
    await server.tellDue();
    expect(hook.received).toHaveLength(1);
  });
});
