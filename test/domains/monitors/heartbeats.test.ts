import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { LEAST, MONITORS, type MonitorApp, monitorApp, type OrganizationCalls } from "./monitor-app.ts";

let stores: TestStores;
let app: MonitorApp;
let nowMs = Date.parse("2026-03-01T12:00:00Z");

beforeAll(async () => {
  stores = await openTestStores();
  app = monitorApp(stores, { now: () => nowMs });
});
afterAll(() => stores.close());

const HEARTBEAT = { type: "heartbeat", url: "backup" };

async function tokenOf(calls: OrganizationCalls, id: number): Promise<string> {
  const { body } = await calls.answer("GET", `${MONITORS}/${id}/secrets`, undefined, "owner");
  return String(body.heartbeatToken);
}

async function stateOf(id: number) {
  const [row] = await stores.postgres<
    { heartbeat_received_at: Date | null; heartbeat_started_at: Date | null; heartbeat_failed: boolean }[]
  >`SELECT heartbeat_received_at, heartbeat_started_at, heartbeat_failed FROM monitor_state WHERE monitor_id = ${id}`;
  return {
    receivedMs: row?.heartbeat_received_at?.getTime() ?? null,
    startedMs: row?.heartbeat_started_at?.getTime() ?? null,
    failed: row?.heartbeat_failed,
  };
}

describe("a heartbeat", () => {
  test.each(["POST", "GET", "HEAD"])("by %s is written down when it is answered", async (method) => {
    const calls = await app.organization();
    const { id } = await calls.make(HEARTBEAT);
    const token = await tokenOf(calls, id);
    const rings = app.rings();
    nowMs += 1000;
    const response = await app.send(method, `/api/v1/heartbeats/${token}`, {
      ...(method === "POST" && { body: "whatever the job printed" }),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(method === "HEAD" ? "" : '{"received":true}');
    expect(await stateOf(id)).toEqual({ receivedMs: nowMs, startedMs: null, failed: false });
    expect(app.rings()).toBe(rings + 1);
    expect((await calls.answer("GET", `${MONITORS}/${id}`)).body.heartbeatLastReceivedAt).toBe(
      new Date(nowMs).toISOString(),
    );
  });

  test("says that a job begins, ends well and ends badly", async () => {
    const calls = await app.organization();
    const { id } = await calls.make(HEARTBEAT);
    const path = `/api/v1/heartbeats/${await tokenOf(calls, id)}`;
    await app.send("POST", `${path}/start`);
    expect(await stateOf(id)).toEqual({ receivedMs: null, startedMs: nowMs, failed: false });
    nowMs += 5000;
    await app.send("GET", `${path}/fail`);
    expect(await stateOf(id)).toEqual({ receivedMs: nowMs, startedMs: null, failed: true });
    await app.send("POST", `${path}/0`);
    expect(await stateOf(id)).toMatchObject({ failed: false });
    await app.send("POST", `${path}/137`);
    expect(await stateOf(id)).toMatchObject({ failed: true });
    expect((await app.send("POST", `${path}/ok`)).status).toBe(404);
  });

  test("with a token that nobody has is 404, and so is one with the token from before", async () => {
    const calls = await app.organization();
    const { id } = await calls.make(HEARTBEAT);
    const old = await tokenOf(calls, id);
    const rotated = await calls.answer("POST", `${MONITORS}/${id}/rotate-heartbeat-token`);
    expect(rotated.status).toBe(200);
    const { token, url } = rotated.body;
    expect(url).toEndWith(`/api/v1/heartbeats/${token}`);
    expect((await app.send("POST", `/api/v1/heartbeats/${token}`)).status).toBe(200);
    for (const unknown of [old, "x".repeat(43), "short", "%00"])
      expect([unknown, (await app.send("POST", `/api/v1/heartbeats/${unknown}`)).status]).toEqual([
        unknown,
        404,
      ]);
  });

  test("of a monitor that is paused, or of another type, is written down as well", async () => {
    const calls = await app.organization();
    for (const fields of [{ ...HEARTBEAT, paused: true }, LEAST]) {
      const { id } = await calls.make(fields);
      expect((await app.send("POST", `/api/v1/heartbeats/${await tokenOf(calls, id)}`)).status).toBe(200);
      expect((await stateOf(id)).receivedMs).toBe(nowMs);
    }
  });

  test("is limited by its token, however many jobs share an address, and its token is in no line of the log", async () => {
    const calls = await app.organization();
    const tokens = [
      await tokenOf(calls, (await calls.make(HEARTBEAT)).id),
      await tokenOf(calls, (await calls.make(HEARTBEAT)).id),
    ];
    const [busy = "", quiet = ""] = tokens;
    const limited = Array.from({ length: 300 }, () => app.send("POST", `/api/v1/heartbeats/${busy}`));
    const statuses = (await Promise.all(limited)).map(({ status }) => status);
    expect(statuses).toContain(429);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(240);
    expect((await app.send("POST", `/api/v1/heartbeats/${quiet}`)).status).toBe(200);
    await app.send("POST", `/api/v1/heartbeats/${"y".repeat(43)}`);
    const lines = JSON.stringify(app.logged());
    for (const token of [...tokens, "y".repeat(43)]) expect(lines).not.toContain(token);
    expect(lines).toContain("/api/v1/heartbeats/:token");
  });

  test("is found by the hash of its token; the token itself is stored sealed", async () => {
    const calls = await app.organization();
    const { id } = await calls.make(HEARTBEAT);
    const token = await tokenOf(calls, id);
    const [row] = await stores.postgres<{ row: string }[]>`
      SELECT row_to_json(m)::text || encode(sealed_heartbeat_token, 'escape') AS row FROM monitors m WHERE id = ${id}`;
    expect(row?.row).not.toContain(token);
    expect(row?.row).not.toContain(Buffer.from(token).toString("hex"));
  });
});
