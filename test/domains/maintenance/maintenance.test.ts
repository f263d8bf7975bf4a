import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { maintenanceRoutes } from "../../../src/domains/maintenance/routes.ts";
import { readWindows } from "../../../src/maintenance/windows.ts";
import { inOrganization } from "../../../src/storage/organization-transaction.ts";
import { type TestApp, testApp } from "../../harness/http-app.ts";
import { testLedger } from "../../harness/ledger.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

const PATH = "/api/v1/maintenance-windows";
const SATURDAY = { startsAt: "2026-03-07T22:00:00.000Z", endsAt: "2026-03-08T02:00:00.000Z" };

let stores: TestStores;
let app: TestApp;
let rings = 0;
const nowMs = Date.parse("2026-03-08T01:00:00Z");

beforeAll(async () => {
  stores = await openTestStores();
  const onWindowsChanged = (): void => {
    rings += 1;
  };
  app = testApp(maintenanceRoutes({ sql: stores.postgres, onWindowsChanged }), {
    ledger: testLedger(stores.postgres, () => nowMs),
  });
});
afterAll(() => stores.close());

async function organization() {
  const [row] = await stores.postgres<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('at work', now()) RETURNING id`;
  const id = row?.id ?? 0;
  const send = async (method: string, path: string, json?: unknown, as = "member/*") => {
    const response = await app.send(method, path, {
      as: `${as}/1/${id}`,
      ...(json !== undefined && { json }),
    });
    const text = await response.text();
    const body: Record<string, unknown> = text === "" ? {} : JSON.parse(text);
    return { status: response.status, body };
  };
  return { id, send };
}

async function makeMonitor(organizationId: number): Promise<number> {
  const [row] = await stores.postgres<{ id: string }[]>`
    INSERT INTO monitors (organization_id, name, url, type, interval_sec, timeout_ms, heartbeat_token_hash,
                          sealed_heartbeat_token, created_at, updated_at)
    VALUES (${organizationId}, 'a', 'b', 'https', 60, 1000, sha256(gen_random_uuid()::text::bytea), '', now(), now())
    RETURNING id`;
  return Number(row?.id);
}

describe("a maintenance window", () => {
  test("is made, listed, changed and deleted; null makes it one of all monitors", async () => {
    const { id: organizationId, send } = await organization();
    const monitorId = await makeMonitor(organizationId);
    const before = rings;
    const made = await send("POST", PATH, { ...SATURDAY, monitorId, title: "New disks" });
    expect(made).toMatchObject({ status: 201, body: { ...SATURDAY, monitorId, title: "New disks" } });
    const path = `${PATH}/${made.body.id}`;
    expect((await send("GET", path)).body).toEqual(made.body);
    expect(await send("PATCH", path, { monitorId: null })).toMatchObject({
      status: 200,
      body: { ...SATURDAY, monitorId: null },
    });
    expect(Object.values((await send("GET", PATH)).body)).toHaveLength(1);
    expect((await send("DELETE", path)).status).toBe(204);
    expect((await send("GET", path)).status).toBe(404);
    expect(rings).toBe(before + 3);
    const rows = await stores.postgres<{ action: string }[]>`
      SELECT action FROM audit_log WHERE organization_id = ${organizationId} ORDER BY seq`;
    expect(rows.map(({ action }) => action)).toEqual([
      "CREATE_MAINTENANCE_WINDOW",
      "UPDATE_MAINTENANCE_WINDOW",
      "DELETE_MAINTENANCE_WINDOW",
    ]);
  });

  test("ends after it begins, also when only one end is changed", async () => {
    const { send } = await organization();
    expect((await send("POST", PATH, { ...SATURDAY, endsAt: SATURDAY.startsAt })).body).toMatchObject({
      fields: [{ path: "/endsAt", code: "custom" }],
    });
    const { id } = (await send("POST", PATH, SATURDAY)).body;
    expect((await send("PATCH", `${PATH}/${id}`, { startsAt: "2026-03-09T00:00:00Z" })).body).toMatchObject({
      fields: [{ path: "/endsAt", code: "custom" }],
    });
    expect((await send("POST", PATH, { startsAt: SATURDAY.startsAt })).body).toMatchObject({
      fields: [{ path: "/endsAt", code: "invalid_type" }],
    });
  });

  test("is about a monitor of its own organisation", async () => {
    const own = await organization();
    const other = await organization();
    const foreign = await makeMonitor(other.id);
    for (const monitorId of [foreign, 999_999_999])
      expect((await own.send("POST", PATH, { ...SATURDAY, monitorId })).body).toMatchObject({
        code: "VALIDATION_FAILED",
        fields: [{ path: "/monitorId", code: "custom" }],
      });
    const { id } = (await own.send("POST", PATH, SATURDAY)).body;
    expect((await other.send("GET", `${PATH}/${id}`)).status).toBe(404);
    expect((await other.send("DELETE", `${PATH}/${id}`)).status).toBe(404);
  });

  test("needs its own scope, and a member to be written", async () => {
    const { send } = await organization();
    expect((await send("POST", PATH, SATURDAY, "viewer/*")).body.code).toBe("FORBIDDEN");
    expect((await send("POST", PATH, SATURDAY, "owner/maintenance:read")).body.code).toBe(
      "PAT_SCOPE_INSUFFICIENT",
    );
    expect((await send("GET", PATH, undefined, "viewer/maintenance:read")).status).toBe(200);
  });

  test("that was over and is made longer ends once more", async () => {
    const { send } = await organization();
    const { id } = (await send("POST", PATH, { ...SATURDAY, endsAt: "2026-03-08T00:00:00Z" })).body;
    const settle = stores.postgres`UPDATE maintenance_windows SET settled_at = now() WHERE id = ${Number(id)}`;
    await settle;
    const isSettled = async (): Promise<boolean> => {
      const [row] = await stores.postgres<{ settled: boolean }[]>`
        SELECT settled_at IS NOT NULL AS settled FROM maintenance_windows WHERE id = ${Number(id)}`;
      return row?.settled ?? false;
    };
    await send("PATCH", `${PATH}/${id}`, { title: "over" });
    expect(await isSettled()).toBe(true);
    await send("PATCH", `${PATH}/${id}`, { endsAt: SATURDAY.endsAt });
    expect(await isSettled()).toBe(false);
  });
});

describe("the windows of a stretch of time", () => {
  test("are those of the monitors and of all of them that touch it, of the organisation alone", async () => {
    const own = await organization();
    const other = await organization();
    const [first, second] = [await makeMonitor(own.id), await makeMonitor(own.id)];
    await own.send("POST", PATH, { ...SATURDAY, monitorId: first });
    await own.send("POST", PATH, { ...SATURDAY, monitorId: second });
    await own.send("POST", PATH, SATURDAY);
    await other.send("POST", PATH, SATURDAY);
    const span = { fromMs: Date.parse(SATURDAY.startsAt), toMs: Date.parse(SATURDAY.endsAt) };
    const found = (fromMs: number, toMs: number) =>
      inOrganization(stores.postgres, own.id, (tx) => readWindows(tx, own.id, [first], { fromMs, toMs }));
    expect(await found(span.fromMs, span.fromMs + 1)).toEqual([
      { monitorId: first, ...span },
      { monitorId: null, ...span },
    ]);
    expect(await found(span.toMs, span.toMs + 1)).toEqual([]);
    expect(await found(span.toMs - 1, span.toMs + 1)).toHaveLength(2);
  });
});
