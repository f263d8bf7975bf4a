import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { LEAST, MONITORS, type MonitorApp, monitorApp } from "./monitor-app.ts";

let stores: TestStores;
let app: MonitorApp;

beforeAll(async () => {
  stores = await openTestStores();
  app = monitorApp(stores);
});
afterAll(() => stores.close());

const CHANNELS = {
  alertEmail: "ops@example.com",
  alertWebhookUrl: "https://hooks.example.com/secret-webhook",
  alertChatAUrl: "https://chat.example.com/secret-a",
  alertChatBUrl: "https://chat.example.com/secret-b",
  alertChatCUrl: "https://chat.example.com/secret-c",
  alertChatDBotToken: "secret-bot",
  alertChatDChatId: "-100secret",
  alertPagingARoutingKey: "secret-routing",
  alertPagingBApiKey: "secret-apikey",
  alertSmsNumber: "+491701234567",
  alertVoiceNumber: "+491701234568",
};
const SECRETS = {
  headers: { Authorization: "Bearer secret-header" },
  body: '{"password":"secret-body"}',
  steps: [{ name: "Sign in", method: "POST" as const, url: "https://shop.example.com/secret-step" }],
};

describe("a monitor", () => {
  test("has the defaults of what is not said, and nothing is known of it", async () => {
    const { id: organizationId, make } = await app.organization();
    const made = await make();
    expect(made).toEqual({
      ...LEAST,
      id: made.id,
      organizationId,
      createdAt: made.createdAt,
      updatedAt: made.createdAt,
      expectedStatusCode: null,
      degradedResponseTimeMs: null,
      port: null,
      keyword: null,
      keywordMatchType: null,
      alertEmail: null,
      alertThreshold: 2,
      alertOnDegraded: false,
      consecutiveFailures: 0,
      lastStatus: null,
      lastCheckedAt: null,
      confirmedStatus: null,
      paused: false,
      heartbeatGraceSec: 60,
      heartbeatLastReceivedAt: null,
      uptimeTargetBp: 9990,
      uptimeWindowDays: 30,
      sloBreachOpen: false,
      hasAlertWebhook: false,
      hasAlertChatA: false,
      hasAlertChatB: false,
      hasAlertChatC: false,
      hasAlertChatD: false,
      hasAlertPagingA: false,
      hasAlertPagingB: false,
      hasAlertSms: false,
      hasAlertVoice: false,
      hasHeaders: false,
      hasBody: false,
      hasSteps: false,
      tags: [],
      regions: null,
      escalationPolicyId: null,
      recoveryThreshold: 1,
      retryIntervalSec: null,
      remindEverySec: null,
      expiryWarnDays: 14,
      method: null,
      followRedirects: null,
      tlsSkipVerify: null,
    });
  });

  test("keeps its secrets out of its answer, out of the tables in the clear, and shows them to whoever may see them", async () => {
    const { send, answer, make } = await app.organization();
    const made = await make({ ...CHANNELS, ...SECRETS });
    expect(made).toMatchObject({
      alertEmail: "ops@example.com",
      hasAlertWebhook: true,
      hasAlertChatA: true,
      hasAlertChatB: true,
      hasAlertChatC: true,
      hasAlertChatD: true,
      hasAlertPagingA: true,
      hasAlertPagingB: true,
      hasAlertSms: true,
      hasAlertVoice: true,
      hasHeaders: true,
      hasBody: true,
      hasSteps: true,
    });
    for (const text of [JSON.stringify(made), await (await send("GET", MONITORS)).text()])
      expect(text).not.toMatch(/secret|49170123456/);
    const stored = await stores.postgres<{ row: string }[]>`
      SELECT row_to_json(m)::text AS row FROM monitors m WHERE id = ${made.id}`;
    expect(stored[0]?.row).not.toMatch(/secret|49170123456/);
    const path = `${MONITORS}/${made.id}/secrets`;
    const { alertEmail: _alertEmail, ...sealed } = CHANNELS;
    const shown = await answer("GET", path, undefined, "admin/secrets:read");
    expect(shown.status).toBe(200);
    expect(shown.body).toMatchObject({ ...sealed, ...SECRETS });
    expect(shown.body.heartbeatToken).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(shown.body.heartbeatUrl).toEndWith(`/api/v1/heartbeats/${shown.body.heartbeatToken}`);
    expect((await answer("GET", path, undefined, "member")).body.code).toBe("FORBIDDEN");
    expect((await answer("GET", path, undefined, "owner/monitors:read")).body.code).toBe(
      "PAT_SCOPE_INSUFFICIENT",
    );
  });

  test("is changed where a field is given, and null takes one away", async () => {
    const { answer, make } = await app.organization();
    const made = await make({ ...CHANNELS, ...SECRETS, port: 8443, keyword: "in stock" });
    const path = `${MONITORS}/${made.id}`;
    const changed = await answer("PATCH", path, {
      name: "The shop",
      port: null,
      alertEmail: null,
      alertChatDBotToken: null,
      headers: null,
      retryIntervalSec: 15,
    });
    expect(changed).toMatchObject({
      status: 200,
      body: {
        name: "The shop",
        url: LEAST.url,
        port: null,
        keyword: "in stock",
        alertEmail: null,
        hasAlertChatD: false,
        hasAlertWebhook: true,
        hasHeaders: false,
        hasSteps: true,
        retryIntervalSec: 15,
      },
    });
    const { body: secrets } = await answer("GET", `${path}/secrets`, undefined, "owner");
    expect(secrets).toMatchObject({
      alertChatDBotToken: null,
      alertChatDChatId: "-100secret",
      headers: null,
    });
    expect(secrets.steps).toEqual(SECRETS.steps);
  });

  test.each([
    ["name", null],
    ["intervalSec", null],
    ["regions", null],
    ["tags", null],
    ["paused", null],
    ["alertThreshold", null],
  ])("does not take null for %p, which cannot be taken away", async (name, value) => {
    const { answer, make } = await app.organization();
    const { id } = await make();
    const { status, body } = await answer("PATCH", `${MONITORS}/${id}`, { [name]: value });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "VALIDATION_FAILED", fields: [{ path: `/${name}` }] });
  });

  test("is found by all the tags that are asked for", async () => {
    const { answer, make } = await app.organization();
    const both = await make({ tags: ["shop", "eu"] });
    const one = await make({ tags: ["shop"] });
    await make();
    const idsOf = async (query: string) =>
      Object.values((await answer("GET", `${MONITORS}${query}`)).body).map((found) => Object(found).id);
    expect(await idsOf("?tag=shop")).toEqual([both.id, one.id]);
    expect(await idsOf("?tag=shop&tag=eu")).toEqual([both.id]);
    expect(await idsOf("?tag=nothing")).toEqual([]);
    expect((await idsOf("")).length).toBe(3);
  });

  test("of another organisation is not there", async () => {
    const own = await app.organization();
    const other = await app.organization();
    const { id } = await other.make();
    for (const [method, path, json] of [
      ["GET", `${MONITORS}/${id}`],
      ["PATCH", `${MONITORS}/${id}`, { name: "mine" }],
      ["DELETE", `${MONITORS}/${id}`],
      ["POST", `${MONITORS}/${id}/rotate-heartbeat-token`],
      ["POST", `${MONITORS}/${id}/test-alert`],
      ["GET", `${MONITORS}/${id}/checks`],
      ["GET", `${MONITORS}/${id}/stats`],
      ["GET", `${MONITORS}/${id}/timeline`],
    ] as const)
      expect([method, path, (await own.answer(method, path, json)).status]).toEqual([method, path, 404]);
    expect((await own.answer("GET", MONITORS)).body).toEqual(Object([]));
    expect((await other.answer("GET", `${MONITORS}/${id}`)).status).toBe(200);
  });

  test("that is deleted is gone with what was known of it", async () => {
    const { answer, send, make } = await app.organization();
    const { id } = await make({ paused: true });
    expect((await send("DELETE", `${MONITORS}/${id}`)).status).toBe(204);
    expect((await answer("GET", `${MONITORS}/${id}`)).status).toBe(404);
    const left = await stores.postgres`SELECT 1 FROM monitor_state WHERE monitor_id = ${id}
      UNION ALL SELECT 1 FROM monitor_periods WHERE monitor_id = ${id}`;
    expect(left).toHaveLength(0);
  });

  test("rings for whoever watches, once what changed is kept", async () => {
    const { send, make } = await app.organization();
    const before = app.rings();
    const { id } = await make();
    await send("PATCH", `${MONITORS}/${id}`, { name: "again" });
    await send("DELETE", `${MONITORS}/${id}`);
    expect(app.rings()).toBe(before + 3);
    await send("POST", MONITORS, { ...LEAST, type: "tcp" });
    expect(app.rings()).toBe(before + 3);
  });
});

describe("what is refused", () => {
  test.each<[string, object, string, string]>([
    ["an interval between those there are", { intervalSec: 45 }, "/intervalSec", "invalid_literal"],
    ["a timeout in seconds", { timeoutMs: 10 }, "/timeoutMs", "too_small"],
    ["a field that nobody knows", { interval: 60 }, "/interval", "unrecognized_keys"],
    ["a number in quotes", { port: "80" }, "/port", "invalid_type"],
    ["a tag in capitals", { tags: ["Shop"] }, "/tags/0", "invalid_string"],
    [
      "a telephone number without a plus",
      { alertSmsNumber: "0170123456" },
      "/alertSmsNumber",
      "invalid_string",
    ],
    ["a keyword monitor without its keyword", { type: "keyword" }, "/keyword", "custom"],
    ["a port monitor without its port", { type: "port" }, "/port", "custom"],
    ["a tcp monitor without its port", { type: "tcp" }, "/port", "custom"],
    ["a multi_step monitor without its steps", { type: "multi_step" }, "/steps", "custom"],
    [
      "a far region for what only this server can check",
      { type: "ping", regions: ["weur"] },
      "/regions",
      "custom",
    ],
    ["an escalation policy that is not there", { escalationPolicyId: 99 }, "/escalationPolicyId", "custom"],
    ["a header whose name ends the line", { headers: { "X:\r\nY": "1" } }, "/headers/X:\r\nY", "custom"],
    ["a header whose value ends the line", { headers: { X: "1\r\nY: 2" } }, "/headers/X", "invalid_string"],
    [
      "a step with a variable that has no name",
      {
        type: "multi_step",
        steps: [
          {
            name: "a",
            method: "GET",
            url: "https://a.example",
            extract: [{ var: "1a", source: "header", path: "x" }],
          },
        ],
      },
      "/steps/0/extract/0/var",
      "invalid_string",
    ],
  ])("%s, at its place", async (_name, fields, path, code) => {
    const { answer } = await app.organization();
    const { status, body } = await answer("POST", MONITORS, { ...LEAST, ...fields });
    expect(status).toBe(400);
    expect(body.code).toBe("VALIDATION_FAILED");
    expect(body.fields).toContainEqual(expect.objectContaining({ path, code }));
  });

  test("a change after which the monitor as a whole would be wrong, whichever field it names", async () => {
    const { answer, make } = await app.organization();
    const { id } = await make({ type: "tcp", port: 5432, url: "db.example.com" });
    const path = `${MONITORS}/${id}`;
    expect((await answer("PATCH", path, { port: null })).body).toMatchObject({
      fields: [{ path: "/port", code: "custom" }],
    });
    expect((await answer("PATCH", path, { type: "keyword" })).body).toMatchObject({
      fields: [{ path: "/keyword", code: "custom" }],
    });
    expect((await answer("PATCH", path, { type: "https", port: null, regions: ["weur"] })).status).toBe(200);
    expect((await answer("PATCH", path, { type: "ping" })).body).toMatchObject({
      fields: [{ path: "/regions", code: "custom" }],
    });
  });

  test.each([
    "http://127.0.0.1/",
    "http://localhost:9/hook",
    "http://a.localhost/",
    "http://2130706433/",
    "http://0177.0.0.1/",
    "http://[::ffff:127.0.0.1]/",
    "http://169.254.169.254/latest/meta-data",
    "http://10.0.0.1/",
  ])("alerts to %s", async (url) => {
    const { answer, make } = await app.organization();
    expect((await answer("POST", MONITORS, { ...LEAST, alertChatBUrl: url })).body.code).toBe(
      "ALERT_URL_BLOCKED",
    );
    const { id } = await make();
    expect((await answer("PATCH", `${MONITORS}/${id}`, { alertWebhookUrl: url })).body).toMatchObject({
      code: "ALERT_URL_BLOCKED",
      error: expect.stringContaining("/alertWebhookUrl"),
    });
  });

  test.each([
    ["https", "https://127.0.0.1/"],
    ["tcp", "localhost:5432"],
    ["ping", "169.254.169.254"],
    ["dns", "dns://127.0.0.53/example.com"],
    ["keyword", "http://2130706433/"],
  ])("to watch this machine by %s, naming the setting that would allow it", async (type, url) => {
    const { answer, make } = await app.organization();
    const fields = { type, url, port: 5432, keyword: "ok" };
    const refused = await answer("POST", MONITORS, { ...LEAST, ...fields });
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "TARGET_BLOCKED", error: expect.stringContaining("OUTBOUND_ALLOW") },
    });
    const { id } = await make();
    expect((await answer("PATCH", `${MONITORS}/${id}`, fields)).body.code).toBe("TARGET_BLOCKED");
  });

  test("a step that leads to this machine, and a target that is none, at their places", async () => {
    const { answer } = await app.organization();
    const step = (url: string) => ({ name: "a", method: "GET", url });
    const steps = [step("https://shop.example.com"), step("http://[::1]/")];
    expect((await answer("POST", MONITORS, { ...LEAST, type: "multi_step", steps })).body).toMatchObject({
      code: "TARGET_BLOCKED",
      error: expect.stringContaining("/steps/1/url"),
    });
    expect((await answer("POST", MONITORS, { ...LEAST, url: "https://" })).body).toMatchObject({
      code: "VALIDATION_FAILED",
      fields: [{ path: "/url", code: "custom" }],
    });
  });

  test("nothing of one's own network, of an address that the operator named, and of a name", async () => {
    const { make } = await app.organization();
    for (const url of ["http://192.168.1.1/", "http://127.0.0.9/", "https://internal.example.com/"])
      expect((await make({ url })).url).toBe(url);
  });

  test("alerts go to a loopback address that the operator has named, and to any name, which is judged when it is called", async () => {
    const { make } = await app.organization();
    const made = await make({
      alertWebhookUrl: "http://127.0.0.9:9000/hook",
      alertChatAUrl: "https://intranet.example.com/",
    });
    expect(made.hasAlertWebhook).toBe(true);
  });

  test("one monitor more than the plan has, and nothing of a call that would pass it", async () => {
    const capped = monitorApp(stores, { maxMonitors: 2 });
    const { answer, make } = await capped.organization();
    await make();
    expect((await answer("POST", `${MONITORS}/bulk`, { monitors: [LEAST, LEAST] })).body.code).toBe(
      "PLAN_LIMIT_MONITORS",
    );
    await make();
    expect(await answer("POST", MONITORS, LEAST)).toMatchObject({
      status: 409,
      body: { code: "PLAN_LIMIT_MONITORS" },
    });
    const both = await Promise.all(Array.from({ length: 5 }, () => answer("POST", MONITORS, LEAST)));
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([409]));
  });
});
