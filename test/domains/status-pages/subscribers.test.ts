import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { smtpServerOf, smtpTransport } from "../../../src/notify/mail/smtp-transport.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openMailPeer } from "../../notify/mail/mail-peer.ts";
import { DAY_MS, type PageServer, pageServer } from "./page-server.ts";
import { subscribedPage } from "./subscribed-page.ts";

let stores: TestStores;
let server: PageServer;
let directory: ReturnType<typeof temporaryDirectory>;
const HTML = { accept: "text/html,*/*" };

beforeAll(async () => {
  stores = await openTestStores();
  directory = temporaryDirectory();
  server = pageServer(stores, { directory: directory.path });
});
afterAll(async () => {
  await stores.close();
  directory[Symbol.dispose]();
});

const page = (on: PageServer = server) => subscribedPage(stores, on);
const allowNext = (organizationId: number) =>
  stores.postgres`UPDATE status_page_notices SET next_attempt_at = now() - interval '1 second' WHERE organization_id = ${organizationId}`;

describe("a subscription", () => {
  test("counts once its link was opened and its button pressed; a scanner that opens it confirms nothing", async () => {
    const { subscribe, subscribers, link, email, api } = await page();
    expect((await subscribe(email, [api, 999_999])).status).toBe(202);
    expect(await subscribers()).toMatchObject([{ email, confirmed: false, monitorIds: [api] }]);
    const opened = await server.app.send("GET", link(), { headers: HTML });
    expect(await opened.text()).toContain('<form method="post">');
    expect(await subscribers()).toMatchObject([{ confirmed: false }]);
    const pressed = await server.app.send("POST", link(), { headers: HTML });
    expect(await pressed.text()).toContain("The subscription is confirmed.");
    expect(await subscribers()).toMatchObject([{ confirmed: true }]);
    expect((await server.app.send("GET", link())).status).toBe(400);
  });

  test("is answered the same for every address, and mails nobody twice within ten minutes, whatever page it is", async () => {
    const { subscribe, email, mailsTo } = await page();
    const other = await page();
    const answers = [
      await subscribe(),
      await subscribe(),
      await other.subscribe(email),
      await subscribe("no address"),
    ];
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    expect(new Set(texts).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    expect(mailsTo()).toHaveLength(1);
    server.clock.nowMs += 11 * 60_000;
    await subscribe();
    expect(mailsTo()).toHaveLength(2);
  });

  test("that is confirmed is changed by nobody who asks for it again", async () => {
    const { subscribed, subscribe, subscribers, email, api, mailsTo } = await page();
    await subscribed();
    const before = await subscribers();
    expect(before).toMatchObject([{ email, confirmed: true, monitorIds: null }]);
    server.clock.nowMs += 11 * 60_000;
    const mails = mailsTo().length;
    expect((await subscribe(email, [api])).status).toBe(202);
    expect(await subscribers()).toEqual(before);
    expect(mailsTo()).toHaveLength(mails);
  });

  test("cannot be asked for more than five times an hour by one client, however many addresses it knows", async () => {
    const { subscribe, subscribers } = await page();
    for (let index = 0; index < 12; index += 1)
      expect((await subscribe(`victim-${index}@example.com`, undefined, "203.0.113.77")).status).toBe(202);
    expect(await subscribers()).toHaveLength(5);
  });

  test("to what the page does not show is refused, instead of one to everything", async () => {
    const { subscribe, subscribers, email, api, monitor } = await page();
    const hidden = await monitor("hidden");
    const refused = await subscribe(email, [hidden]);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { fields: [{ path: "/monitorIds" }] },
    ]);
    expect(await subscribers()).toEqual([]);
    expect((await subscribe(email, [hidden, api])).status).toBe(202);
    expect(await subscribers()).toMatchObject([{ monitorIds: [api] }]);
  });

  test("that nobody confirms is forgotten after two days, and its link with it", async () => {
    const { subscribe, subscribers, link } = await page();
    await subscribe();
    const before = link();
    server.clock.nowMs += 2 * DAY_MS + 1;
    expect((await server.app.send("GET", before)).status).toBe(400);
    for (const remove of server.housekeeping) await remove(stores.postgres, server.clock.nowMs, 1000);
    expect(await subscribers()).toEqual([]);
  });

  test("works by the form of the page, and to a locked page only for who has unlocked it", async () => {
    const { slug, send, path, email, subscribe, mailsTo, api } = await page();
    const body = new URLSearchParams([
      ["email", email],
      ["monitorId", String(api)],
    ]).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const answer = await server.app.send("POST", `/status/${slug}/subscribe`, { headers, body });
    expect(answer.status).toBe(202);
    expect(mailsTo()).toHaveLength(1);
    await send("PUT", `${path}/password`, { password: "open sesame" });
    expect((await subscribe("else@example.com")).status).toBe(401);
  });

  test("ends by one request of a mail program, by a button for people, and by an admin", async () => {
    const { id, subscribed, subscribers, incident, tell, api, send, path, mailsTo } = await page();
    await subscribed();
    await tell(await incident([api], [{ body: "We look", public: true }]), [api]);
    await server.tellDue();
    const { pathname, search } = new URL(mailsTo().at(-1)?.unsubscribe ?? "");
    const shown = await server.app.send("GET", pathname + search, { headers: HTML });
    expect(await shown.text()).toContain("<button>Unsubscribe</button>");
    expect(await subscribers()).toHaveLength(1);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    for (const _twice of [1, 2]) {
      const ended = await server.app.send("POST", pathname + search, {
        headers,
        body: "List-Unsubscribe=One-Click",
      });
      expect(ended.status).toBe(200);
    }
    expect(await subscribers()).toEqual([]);
    expect((await server.app.send("POST", `${pathname}?token=1.${"A".repeat(43)}`)).status).toBe(400);
    expect((await server.app.send("POST", pathname)).status).toBe(400);
    await subscribed("second@example.com");
    const [second] = await stores.postgres<{ id: string }[]>`
      SELECT id FROM status_page_subscribers WHERE organization_id = ${id}`;
    expect((await send("DELETE", `${path}/subscribers/${second?.id}`)).status).toBe(204);
    expect((await send("DELETE", `${path}/subscribers/${second?.id}`)).status).toBe(404);
    const [row] = await stores.postgres<{ email: string }[]>`
      SELECT meta #>> '{snapshot,email}' AS email FROM audit_log
      WHERE organization_id = ${id} AND action = 'DELETE_STATUS_PAGE_SUBSCRIBER'`;
    expect(row).toEqual({ email: "second@example.com" });
  });
});

describe("subscribers", () => {
  test("are told once of a change, of what concerns them, in public words, and not again within five minutes", async () => {
    const { id, subscribed, incident, tell, api, shop, email, mailsTo } = await page();
    await subscribed();
    await subscribed(`shop-${email}`, [shop]);
    const about = await incident(
      [api],
      [
        { body: "We look into it", public: true },
        { body: "ECONNREFUSED 10.0.0.7", public: false },
      ],
    );
    for (const _event of [1, 2, 3]) await tell(about, [api]);
    await server.tellDue();
    await server.tellDue();
    expect(mailsTo(`shop-${email}`)).toHaveLength(1);
    const [, mail, ...more] = mailsTo();
    expect(more).toEqual([]);
    expect(mail?.subject).toBe("Acme status: Investigating: Incident: API");
    expect(mail?.text).toContain("We look into it");
    for (const secret of ["api-internal", "ECONNREFUSED", "db-7"]) expect(mail?.text).not.toContain(secret);

    await stores.postgres`
      INSERT INTO incident_updates (organization_id, incident_id, kind, status, public, body, created_at)
      VALUES (${id}, ${about}, 'update', 'resolved', true, 'It is over', now())`;
    await stores.postgres`UPDATE incidents SET status = 'resolved', resolved_at = now() WHERE id = ${about}`;
    await tell(about, [api]);
    await server.tellDue();
    expect(mailsTo()).toHaveLength(2);
    await allowNext(id);
    await server.tellDue();
    expect(mailsTo()).toHaveLength(3);
    expect(mailsTo().at(-1)?.subject).toContain("Resolved");
    expect(mailsTo().at(-1)?.text).not.toContain("We look into it");
    await tell(about, [api]);
    await allowNext(id);
    await server.tellDue();
    expect(mailsTo()).toHaveLength(3);
  });

  test("hear nothing of incidents of which nothing was written for everyone, nor of pages that are not public", async () => {
    const { subscribed, incident, tell, api, send, path, mailsTo } = await page();
    await subscribed();
    await tell(await incident([api], [{ body: "noted", public: false }]), [api]);
    await send("PATCH", path, { isPublic: false });
    await tell(await incident([api], [{ body: "public", public: true }], { sourceKey: "monitor:9" }), [api]);
    await server.tellDue();
    expect(mailsTo()).toHaveLength(1);
  });

  test("get a mail that a mail program reads, with the headers by which it unsubscribes", async () => {
    const peer = await openMailPeer();
    const transport = smtpTransport(smtpServerOf(peer.url), "Acme <status@example.com>");
    const mailing = pageServer(stores, { directory: directory.path, transport });
    const { subscribed, incident, tell, api, email } = await page(mailing);
    await subscribed();
    await tell(await incident([api], [{ body: "<b>We</b> look", public: true }]), [api]);
    await mailing.tellDue();
    transport.close();
    await peer.close();
    const [received] = peer.received.filter(({ recipients }) => recipients.includes(email));
    const headers = new Map(received?.mail.headers.map(({ key, value }) => [key, value]));
    expect(headers.get("list-unsubscribe-post")).toBe("List-Unsubscribe=One-Click");
    expect(headers.get("list-unsubscribe")).toMatch(
      /^<http:\/\/localhost:8080\/api\/v1\/status-pages\/public\/unsubscribe\?token=.+>$/,
    );
    expect(received?.mail.html).toContain("&lt;b&gt;We&lt;/b&gt; look");
  });
});
