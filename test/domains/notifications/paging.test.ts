import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../../harness/eventually.ts";
import { makeToken, type ServerProcess } from "../../harness/server-process.ts";
import { startSuiteServer } from "../../harness/suite-server.ts";
import { type MailPeer, openMailPeer } from "../../notify/mail/mail-peer.ts";

const CONTACTS = "/api/v1/me/contact-methods";

let server: ServerProcess;
let peer: MailPeer;

beforeAll(async () => {
  peer = await openMailPeer({});
  server = await startSuiteServer({ SMTP_URL: peer.url });
});
afterAll(async () => {
  await server.stop();
  await peer.close();
});

async function send(token: string, method: string, path: string, json?: unknown) {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(json !== undefined && { "content-type": "application/json" }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
}

/** The first mail to an address of which something holds. */
function mailTo(address: string, has: (text: string) => boolean): Promise<{ subject: string; text: string }> {
  return eventually(`a mail to ${address}`, () => {
    const found = peer.received.find(
      ({ recipients, mail }) => recipients.includes(address) && has(`${mail.subject}\n${mail.text}`),
    );
    return found === undefined ? null : { subject: found.mail.subject ?? "", text: found.mail.text ?? "" };
  });
}

async function makeContact(token: string): Promise<{ id: number; address: string; code: string }> {
  const address = `${crypto.randomUUID()}@example.com`;
  const made = await send(token, "POST", CONTACTS, { kind: "email", address, label: "at home" });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ kind: "email", label: "at home", verified: false });
  const { subject } = await mailTo(address, (text) => text.includes("confirms"));
  return { id: made.body.id, address, code: subject.slice(0, 6) };
}

/** A code that is not the given one. */
function otherThan(code: string): string {
  return code === "000000" ? "000001" : "000000";
}

describe("a page", () => {
  test("reaches its person everywhere they have proved to be, and is answered and ended by the buttons behind its link alone", async () => {
    const token = await makeToken(server.url);
    const { body: me } = await send(token, "GET", "/api/v1/me");
    const contact = await makeContact(token);
    await send(token, "POST", `${CONTACTS}/${contact.id}/verify`, { code: contact.code });
    const steps = [{ type: "user", delaySec: 0, userId: me.user.id }];
    const policy = await send(token, "POST", "/api/v1/escalation-policies", { name: "p", steps });
    const title = `Checkout is down ${crypto.randomUUID()}`;
    const opened = { title, escalationPolicyId: policy.body.id };
    const { body: incident } = await send(token, "POST", "/api/v1/incidents", opened);
    let over = "";
    for (const address of [me.user.email, contact.address]) {
      const { text } = await mailTo(address, (mail) => mail.includes(title) && !mail.includes("Nobody"));
      const link = /https?:\S+\/acknowledge\/\S+/.exec(text)?.[0] ?? "";
      const path = new URL(link).pathname;
      // Scanners of mails open every link.
      const shown = await fetch(`${server.url}${path}`);
      expect(shown.status).toBe(200);
      expect(await shown.text()).toContain('<form method="post">');
      expect(shown.headers.get("referrer-policy")).toBe("no-referrer");
      const forged = `${path.slice(0, -4)}AAAA`;
      expect((await fetch(`${server.url}${forged}`, { method: "POST" })).status).toBe(400);
      const before = await send(token, "GET", `/api/v1/incidents/${incident.id}`);
      if (address === me.user.email) expect(before.body.acknowledgedAt).toBeNull();
      expect((await fetch(`${server.url}${path}`, { method: "POST" })).status).toBe(200);
      const after = await send(token, "GET", `/api/v1/incidents/${incident.id}`);
      expect(after.body).toMatchObject({ acknowledgedBy: me.user.id, resolvedAt: null });
      over = path;
    }
    expect((await fetch(`${server.url}${over}`)).status).toBe(200);
    expect((await fetch(`${server.url}${over.slice(0, -4)}AAAA/resolve`, { method: "POST" })).status).toBe(
      400,
    );
    expect((await send(token, "GET", `/api/v1/incidents/${incident.id}`)).body.resolvedAt).toBeNull();
    const action = /action="([^"]+)"/.exec(await (await fetch(`${server.url}${over}`)).text())?.[1] ?? "";
    const resolved = await fetch(new URL(action, `${server.url}${over}`), { method: "POST" });
    expect(resolved.status).toBe(200);
    expect((await send(token, "GET", `/api/v1/incidents/${incident.id}`)).body.status).toBe("resolved");
    // Whoever comes later hears that there is nothing to take care of.
    expect((await fetch(`${server.url}${over}`, { method: "POST" })).status).toBe(409);
    const timeline = await eventually("the timeline says who was paged", async () => {
      const { body } = await send(token, "GET", `/api/v1/incidents/${incident.id}`);
      const kinds: string[] = body.updates.map(({ kind }: { kind: string }) => kind);
      return kinds.includes("paged") ? kinds : null;
    });
    expect(timeline).toContain("acknowledged");
  });
});

describe("a way to be reached", () => {
  test("is verified by the code that was sent there, and by no other", async () => {
    const token = await makeToken(server.url);
    const { id, code } = await makeContact(token);
    const verify = (typed: string) => send(token, "POST", `${CONTACTS}/${id}/verify`, { code: typed });
    expect((await verify(otherThan(code))).body.verified).toBe(false);
    expect((await verify(code)).body.verified).toBe(true);
    expect((await send(token, "GET", CONTACTS)).body).toMatchObject([{ id, verified: true }]);
    expect((await send(token, "POST", `${CONTACTS}/${id}/resend`)).status).toBe(409);
    expect((await send(token, "DELETE", `${CONTACTS}/${id}`)).status).toBe(204);
  });

  test("cannot be verified after five wrong codes, until another one is sent", async () => {
    const token = await makeToken(server.url);
    const { id, address, code } = await makeContact(token);
    const verify = (typed: string) => send(token, "POST", `${CONTACTS}/${id}/verify`, { code: typed });
    for (let attempt = 0; attempt < 5; attempt += 1) await verify(otherThan(code));
    expect((await verify(code)).body.verified).toBe(false);
    expect((await send(token, "POST", `${CONTACTS}/${id}/resend`)).status).toBe(200);
    const codes = (): string[] =>
      peer.received
        .filter(({ recipients }) => recipients.includes(address))
        .map(({ mail }) => mail.subject?.slice(0, 6) ?? "");
    await eventually("another code", () => codes().length === 2 || null);
    expect((await verify(codes()[1] ?? "")).body.verified).toBe(true);
  });

  test("is its person's alone", async () => {
    const [token, stranger] = [await makeToken(server.url), await makeToken(server.url)];
    const { id, code } = await makeContact(token);
    expect((await send(stranger, "POST", `${CONTACTS}/${id}/verify`, { code })).status).toBe(404);
    expect((await send(stranger, "DELETE", `${CONTACTS}/${id}`)).status).toBe(404);
    expect((await send(stranger, "GET", CONTACTS)).body).toEqual([]);
  });

  test("has codes sent so often a day and no oftener", async () => {
    const token = await makeToken(server.url);
    const { id } = await makeContact(token);
    const statuses: number[] = [];
    for (let nth = 0; nth < 20; nth += 1)
      statuses.push((await send(token, "POST", `${CONTACTS}/${id}/resend`)).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(19);
    expect(statuses.at(-1)).toBe(429);
  });
});
