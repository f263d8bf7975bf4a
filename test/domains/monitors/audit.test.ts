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

interface AuditRow {
  action: string;
  resource: string;
  meta: { changedFields: string[]; diff: Record<string, unknown>; snapshot?: Record<string, unknown> };
}

function rowsOf(organizationId: number): Promise<AuditRow[]> {
  return stores.postgres<AuditRow[]>`
    SELECT action, resource, meta FROM audit_log WHERE organization_id = ${organizationId} ORDER BY seq`;
}

const SECRETS = {
  alertWebhookUrl: "https://hooks.example.com/secret",
  alertChatDBotToken: "secret-token",
  headers: { Authorization: "secret" },
  body: "secret",
};

describe("the audit log of monitors", () => {
  test("tells what was set, of secrets only that they were", async () => {
    const { id: organizationId, make, send } = await app.organization();
    const { id } = await make({ ...SECRETS, tags: ["shop"] });
    await send("PATCH", `${MONITORS}/${id}`, {
      name: "The shop",
      headers: null,
      alertWebhookUrl: "https://secret.example.com",
    });
    await send("GET", `${MONITORS}/${id}/secrets`, undefined, "owner");
    await send("POST", `${MONITORS}/${id}/rotate-heartbeat-token`);
    await send("POST", `${MONITORS}/${id}/test-alert`, undefined, "viewer");
    await send("DELETE", `${MONITORS}/${id}`);
    const rows = await rowsOf(organizationId);
    expect(rows.map(({ action }) => action)).toEqual([
      "CREATE_MONITOR",
      "UPDATE_MONITOR",
      "READ_MONITOR_SECRETS",
      "ROTATE_HEARTBEAT_TOKEN",
      "DELETE_MONITOR",
    ]);
    expect(new Set(rows.map(({ resource }) => resource))).toEqual(new Set([`monitor:${id}`]));
    expect(JSON.stringify(rows)).not.toContain("secret");
    const [created, updated, read, rotated, deleted] = rows;
    expect(created?.meta.diff).toMatchObject({
      name: { from: null, to: LEAST.name },
      tags: { from: null, to: ["shop"] },
      headers: { redacted: true },
      body: { redacted: true },
      alertChatDBotToken: { redacted: true },
    });
    // What was not set is no change.
    expect(created?.meta.changedFields).not.toContain("alertSmsNumber");
    expect(updated?.meta.changedFields.toSorted()).toEqual(["alertWebhookUrl", "headers", "name"]);
    expect(updated?.meta.diff).toEqual({
      name: { from: LEAST.name, to: "The shop" },
      headers: { redacted: true },
      alertWebhookUrl: { redacted: true },
    });
    expect(read?.meta.changedFields).toEqual([]);
    expect(rotated?.meta.diff).toEqual({ heartbeatToken: { redacted: true } });
    expect(deleted?.meta.snapshot).toMatchObject({
      name: "The shop",
      url: LEAST.url,
      body: { redacted: true },
    });
  });

  test("has a row for each monitor of a bulk call, and none of one that did nothing", async () => {
    const { id: organizationId, answer } = await app.organization();
    await answer("POST", `${MONITORS}/bulk`, { monitors: [LEAST, { ...LEAST, type: "tcp" }] });
    expect(await rowsOf(organizationId)).toEqual([]);
    await answer("POST", `${MONITORS}/bulk`, { monitors: [LEAST, LEAST, LEAST] });
    expect((await rowsOf(organizationId)).map(({ action }) => action)).toEqual(
      Array(3).fill("CREATE_MONITOR"),
    );
  });
});
