/** From a monitor that fails to whoever subscribed to a page that shows it, through one real server. */
import { expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { eventually } from "../harness/eventually.ts";
import { makeToken } from "../harness/server-process.ts";
import { startSuiteServer } from "../harness/suite-server.ts";
import { Receiver } from "../notify/deliveries/receiver.ts";
import { openMailPeer } from "../notify/mail/mail-peer.ts";

const Made = Type.Object({ id: Type.Integer() });
const Incidents = Type.Object({
  items: Type.Array(Type.Object({ id: Type.Integer(), monitorIds: Type.Array(Type.Integer()) })),
});

test("an incident of a monitor reaches subscribers by mail and by webhook when a person says something of it, and the page", async () => {
  using hook = new Receiver();
  const peer = await openMailPeer();
  const failing = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("", { status: 500 }),
  });
  const server = await startSuiteServer({
    ...{ OUTBOUND_ALLOW: "127.0.0.1", SMTP_URL: peer.url, SMTP_FROM: "obs <obs@example.com>" },
  });
  const token = await makeToken(server.url);
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? null : JSON.parse(text);
  };
  const { id: monitorId } = Value.Parse(
    Made,
    await call("POST", "/monitors", {
      ...{ name: "shop-internal-7", url: `http://127.0.0.1:${failing.port}/`, type: "http" },
      ...{ intervalSec: 30, timeoutMs: 5000, alertThreshold: 1 },
    }),
  );
  await call("POST", "/status-pages", {
    ...{ name: "Acme", slug: "acme", monitorIds: [monitorId] },
    publicNames: [{ monitorId, name: "Shop" }],
  });
  const mailsTo = (address: string) =>
    peer.received.flatMap(({ recipients, mail }) => (recipients.includes(address) ? [mail] : []));
  const subscribed = async (json: { email: string; webhookUrl?: string }) => {
    await call("POST", "/status-pages/public/acme/subscribe", json);
    const mail = await eventually("the mail that asks", () => mailsTo(json.email)[0]);
    const [link = ""] = /http:\/\/\S+confirm\?token=[\w-]+/.exec(mail.text ?? "") ?? [];
    const confirmed = await fetch(link, { headers: { accept: "application/json" } });
    expect(confirmed.status).toBe(200);
    return Value.Parse(Type.Object({ secret: Type.Optional(Type.String()) }), await confirmed.json());
  };
  await subscribed({ email: "ana@example.org" });
  const { secret = "" } = await subscribed({ email: "ben@example.org", webhookUrl: `${hook.url}/told` });

  const incident = await eventually("the incident", async () => {
    const { items } = Value.Parse(Incidents, await call("GET", "/incidents?status=open"));
    return items.find(({ monitorIds }) => monitorIds.includes(monitorId));
  });
  expect(hook.received).toHaveLength(0);
  await call("POST", `/incidents/${incident.id}/updates`, {
    body: "We are looking into it.",
    status: "identified",
  });
  const [told] = await eventually("the webhook", () => hook.received.length > 0 && hook.received);
  if (told === undefined) throw new Error("nothing was told");
  new Webhook(secret).verify(told.body, Object.fromEntries(told.headers));
  expect(JSON.parse(told.body).data.incident).toMatchObject({
    title: "Incident: Shop",
    status: "identified",
    updates: [{ body: "We are looking into it." }],
  });
  const mail = await eventually("the mail", () => mailsTo("ana@example.org")[1]);
  expect(mail.subject).toBe("Acme status: Identified: Incident: Shop");
  expect(mail.text).toContain("We are looking into it.");
  for (const said of [told.body, mail.text ?? "", mail.html ?? ""])
    for (const internal of ["shop-internal-7", "127.0.0.1:", "500"])
      expect([internal, said.replaceAll(server.url, "").includes(internal)]).toEqual([internal, false]);
  await eventually("the page", async () => {
    const page = await (await fetch(`${server.url}/status/acme`)).text();
    return page.includes("We are looking into it.");
  });
  await server.stop();
  await peer.close();
  await failing.stop(true);
});
