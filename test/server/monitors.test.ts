import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../harness/eventually.ts";
import { makeToken, type ServerProcess } from "../harness/server-process.ts";
import { startSuiteServer } from "../harness/suite-server.ts";
import { Receiver } from "../notify/deliveries/receiver.ts";

/** Monitors of the real server, from the API to their checks, their incidents' events and the log store. */

let server: ServerProcess;
let token: string;
let target: ReturnType<typeof Bun.serve>;
let seen = 0;
beforeAll(async () => {
  target = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => {
      seen += 1;
      return new Response("welcome");
    },
  });
  server = await startSuiteServer({ OUTBOUND_ALLOW: "127.0.0.1" });
  token = await makeToken(server.url);
});
afterAll(async () => {
  await server.stop();
  await target.stop(true);
});

interface MonitorAnswer {
  readonly id: number;
  readonly lastStatus: string | null;
  readonly lastCheckedAt: string | null;
}

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text);
}

test("a monitor is checked as soon as it is made, and again at once when it is resumed", async () => {
  const url = `http://127.0.0.1:${target.port}/`;
  const { id } = await call<MonitorAnswer>("POST", "/monitors", {
    name: "Shop",
    url,
    type: "http",
    intervalSec: 3600,
    timeoutMs: 5000,
  });
  const checked = (after: string | null) => async () => {
    const monitor = await call<MonitorAnswer>("GET", `/monitors/${id}`);
    return monitor.lastCheckedAt !== after && monitor.lastCheckedAt !== null && monitor;
  };
  const first = await eventually("checked", checked(null));
  expect(first.lastStatus).toBe("up");
  await call("PATCH", `/monitors/${id}`, { paused: true });
  await call("PATCH", `/monitors/${id}`, { paused: false });
  await eventually("checked again", checked(first.lastCheckedAt));
  expect(seen).toBeGreaterThanOrEqual(2);
});

test("a heartbeat is taken into account at once", async () => {
  const { id } = await call<MonitorAnswer>("POST", "/monitors", {
    name: "Backup",
    url: "backup",
    type: "heartbeat",
    intervalSec: 30,
    timeoutMs: 5000,
  });
  const { url } = await call<{ url: string }>("POST", `/monitors/${id}/rotate-heartbeat-token`);
  const path = new URL(url).pathname;
  expect((await fetch(`${server.url}${path}/fail`, { method: "POST" })).status).toBe(200);
  await eventually("it failed", async () => {
    const monitor = await call<MonitorAnswer>("GET", `/monitors/${id}`);
    return monitor.lastStatus === "down";
  });
});

test("a monitor that goes down opens an incident, tells its channel, pages who is named, and tells the end", async () => {
  using hook = new Receiver();
  let isDown = true;
  const failing = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("", { status: isDown ? 500 : 200 }),
  });
  const { user } = await call<{ user: { id: number } }>("GET", "/me");
  const steps = [{ type: "user", delaySec: 0, userId: user.id }];
  const policy = await call<{ id: number }>("POST", "/escalation-policies", { name: "shop", steps });
  const { id } = await call<MonitorAnswer>("POST", "/monitors", {
    ...{ name: "Checkout", url: `http://127.0.0.1:${failing.port}/`, type: "http" },
    ...{ intervalSec: 30, timeoutMs: 5000, alertThreshold: 1, alertWebhookUrl: hook.url },
    escalationPolicyId: policy.id,
  });
  const told = (): string[] => hook.received.map(({ body }) => JSON.parse(body).type);
  await eventually("the channel has heard of it", () => told().includes("incident.opened"));
  const { items } = await call<{ items: { id: number; monitorIds: number[] }[] }>(
    "GET",
    "/incidents?status=open",
  );
  const incident = items.find(({ monitorIds }) => monitorIds.includes(id));
  const updates = async () =>
    (await call<{ updates: { kind: string }[] }>("GET", `/incidents/${incident?.id}`)).updates;
  await eventually("somebody is paged", async () => (await updates()).some(({ kind }) => kind === "paged"));
  isDown = false;
  await eventually("the channel has heard the end", () => told().includes("incident.resolved"));
  await failing.stop(true);
});

test("a test alert reaches the channel and says what became of it", async () => {
  using hook = new Receiver();
  const { id } = await call<MonitorAnswer>("POST", "/monitors", {
    ...{ name: "Backup", url: "backup", type: "heartbeat", intervalSec: 3600, timeoutMs: 5000 },
    alertWebhookUrl: hook.url,
  });
  const { deliveries } = await call<{ deliveries: object[] }>("POST", `/monitors/${id}/test-alert`);
  expect(deliveries).toMatchObject([{ channel: "webhook", state: "delivered", lastCode: 204 }]);
  expect(hook.received.map(({ body }) => JSON.parse(body).type)).toEqual(["test"]);
});
