import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { eventually } from "../../harness/eventually.ts";
import { makeToken, type ServerProcess } from "../../harness/server-process.ts";
import { startSuiteServer } from "../../harness/suite-server.ts";
import { Receiver } from "../../notify/deliveries/receiver.ts";

const CHANNELS = "/api/v1/me/alert-channels";
const INCIDENTS = "/api/v1/incidents";

let server: ServerProcess;
const receivers: Receiver[] = [];

beforeAll(async () => {
  server = await startSuiteServer({ OUTBOUND_ALLOW: "127.0.0.1" });
});
afterAll(async () => {
  await server.stop();
  for (const receiver of receivers) receiver[Symbol.dispose]();
});

function receiver(): Receiver {
  const made = new Receiver();
  receivers.push(made);
  return made;
}

async function send(token: string, method: string, path: string, json?: unknown) {
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? null : JSON.parse(text) };
}

function typesOf(hears: Receiver): string[] {
  return hears.received.map(({ body }) => JSON.parse(body).type);
}

describe("what becomes of an incident", () => {
  test("is told to the channels of the organisation, in order and signed, and the log of deliveries shows it", async () => {
    const token = await makeToken(server.url);
    const hook = receiver();
    const chat = receiver();
    const put = await send(token, "PUT", CHANNELS, { alertWebhookUrl: hook.url, alertChatAUrl: chat.url });
    expect(put.status).toBe(200);
    const { body: incident } = await send(token, "POST", INCIDENTS, { title: "Checkout is down" });
    const path = `${INCIDENTS}/${incident.id}`;
    await send(token, "POST", `${path}/updates`, { status: "identified", body: "It is the database." });
    await send(token, "POST", `${path}/acknowledge`);
    await eventually("the chat has heard that it began", () => chat.received.length > 0 || null);
    await send(token, "POST", `${path}/resolve`);
    const told = ["opened", "updated", "acknowledged", "resolved"].map((event) => `incident.${event}`);
    await eventually("the webhook has heard it all", () => hook.received.length === told.length || null);
    expect(typesOf(hook)).toEqual(told);
    const said = JSON.parse(hook.received[1]?.body ?? "").data.update;
    expect(said).toMatchObject({ status: "identified", body: "It is the database.", public: true });
    const { body: secret } = await send(token, "GET", "/api/v1/me/webhook-secret");
    for (const { body, headers } of hook.received) {
      const verified = new Webhook(secret.secret).verify(body, Object.fromEntries(headers));
      expect(verified).toMatchObject({ data: { incidentId: incident.id, incident: { id: incident.id } } });
    }
    await eventually("the chat has heard the end", () => chat.received.length === 3 || null);
    const texts = chat.received.map(({ body }): string => JSON.parse(body).text);
    expect(texts).toEqual([
      "Checkout is down",
      "Acknowledged: Checkout is down",
      "Resolved: Checkout is down",
    ]);
    const deliveries = await eventually("all is delivered", async () => {
      const { body } = await send(token, "GET", `${path}/deliveries`);
      return body.every(({ state }: { state: string }) => state === "delivered") ? body : null;
    });
    expect(deliveries).toHaveLength(7);
    expect(JSON.stringify(deliveries)).not.toContain("127.0.0.1");
  });

  test("is signed so that receivers with the old and with the new secret take it while the secret is replaced", async () => {
    const token = await makeToken(server.url);
    const hook = receiver();
    await send(token, "PUT", CHANNELS, { alertWebhookUrl: hook.url });
    const { body: old } = await send(token, "GET", "/api/v1/me/webhook-secret");
    await send(token, "POST", INCIDENTS, { title: "before" });
    await eventually("the first is heard", () => hook.received.length === 1 || null);
    const { body: fresh } = await send(token, "POST", "/api/v1/me/webhook-secret/rotate");
    await send(token, "POST", INCIDENTS, { title: "after" });
    await eventually("the second is heard", () => hook.received.length === 2 || null);
    const takenBy = ({ secret }: { secret: string }) =>
      hook.received.map(({ body, headers }) => {
        try {
          return new Webhook(secret).verify(body, Object.fromEntries(headers)) !== undefined;
        } catch {
          return false;
        }
      });
    expect(takenBy(old)).toEqual([true, true]);
    expect(takenBy(fresh)).toEqual([false, true]);
    const forged = hook.received.map(
      ({ body, headers }) =>
        () =>
          new Webhook(fresh.secret).verify(body.replace("after", "other"), Object.fromEntries(headers)),
    );
    for (const verify of forged) expect(verify).toThrow();
  });

  test("is told to nobody of another organisation, and to nobody where nothing is set", async () => {
    const [own, other] = [await makeToken(server.url), await makeToken(server.url)];
    const theirs = receiver();
    await send(other, "PUT", CHANNELS, { alertWebhookUrl: theirs.url });
    const { body: incident } = await send(own, "POST", INCIDENTS, { title: "ours" });
    await send(other, "POST", INCIDENTS, { title: "theirs" });
    await eventually("theirs is told", () => theirs.received.length === 1 || null);
    expect(theirs.titles).toEqual(["theirs"]);
    expect((await send(own, "GET", `${INCIDENTS}/${incident.id}/deliveries`)).body).toEqual([]);
  });
});

describe("the channels of an organisation", () => {
  test("are replaced as a whole, and shown without what is secret", async () => {
    const token = await makeToken(server.url);
    const hears = receiver();
    const template = {
      name: "ntfy",
      url: `${hears.url}/topic?title={{title}}`,
      headers: { Priority: "{{severity}}" },
      body: '{"message": "{{text}}"}',
    };
    const put = await send(token, "PUT", CHANNELS, {
      alertEmail: "ops@example.com",
      alertChatDBotToken: "110201543:secret",
      alertChatDChatId: "-100",
      templates: [template],
    });
    expect(put.body).toMatchObject({
      alertEmail: "ops@example.com",
      hasAlertChatD: true,
      hasAlertWebhook: false,
      templates: ["ntfy"],
      escalationPolicyId: null,
    });
    expect(JSON.stringify(put.body)).not.toContain("secret");
    await send(token, "POST", INCIDENTS, { title: 'a "quoted" one' });
    await eventually("the template is told", () => hears.received.length === 1 || null);
    const [received] = hears.received;
    expect(received?.path).toBe("/topic");
    expect(received?.headers.get("priority")).toBe("medium");
    expect(() => JSON.parse(received?.body ?? "")).not.toThrow();
    const emptied = await send(token, "PUT", CHANNELS, {});
    expect(emptied.body).toMatchObject({ alertEmail: null, hasAlertChatD: false, templates: [] });
  });

  test.each([
    [{ alertWebhookUrl: "http://169.254.169.254/latest" }, "ALERT_URL_BLOCKED"],
    [{ alertChatAUrl: "http://2130706434/" }, "ALERT_URL_BLOCKED"],
    [{ templates: [{ name: "x", url: "http://10.0.0.1/", body: "" }] }, "ALERT_URL_BLOCKED"],
    [{ alertSmsNumber: "12345" }, "VALIDATION_FAILED"],
    [{ escalationPolicyId: 999_999_999 }, "VALIDATION_FAILED"],
    [{ templates: [{ name: "x", url: "https://{{title}}.example.com/", body: "" }] }, "VALIDATION_FAILED"],
    [{ templates: [{ name: "x", url: "https://a.example.com/", body: "{{titel}}" }] }, "VALIDATION_FAILED"],
    [
      { templates: [{ name: "x", url: "https://a.example.com/", body: "", headers: { "a b": "c" } }] },
      "VALIDATION_FAILED",
    ],
    [
      { templates: [{ name: "x", url: "https://a.example.com/", body: "", headers: { a: "c\r\nd: e" } }] },
      "VALIDATION_FAILED",
    ],
  ])("refuses %j", async (body, code) => {
    const token = await makeToken(server.url);
    const refused = await send(token, "PUT", CHANNELS, body);
    expect(refused.status).toBe(400);
    expect(refused.body.code).toBe(code);
    if (code === "ALERT_URL_BLOCKED")
      expect(refused.body.error).toMatch(/^\/(alert\w+Url|templates\/0\/url) leads /);
    expect((await send(token, "GET", CHANNELS)).body).toMatchObject({ alertEmail: null, templates: [] });
  });
});
