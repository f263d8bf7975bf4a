/** Nobody is told of what a silence holds for, nothing of it is lost, and what is still wrong when it is over is told then, once. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Unsilencing } from "../../../src/domains/incidents/unsilencing.ts";
import { silenceRoutes } from "../../../src/domains/silences/routes.ts";
import { createLogger } from "../../../src/log.ts";
import type { Problem } from "../../../src/problems/events.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import {
  type IncidentServer,
  incidentServer,
  makeMonitor,
  makeOrganization,
  makePerson,
} from "./incident-server.ts";

const PATH = "/api/v1/silences";
const NEVER = new AbortController().signal;
const HOUR_MS = 3_600_000;

let stores: TestStores;
let server: IncidentServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = incidentServer(stores.postgres, {
    clock: { nowMs: Date.now() },
    person: await makePerson(stores.postgres),
    moreRoutes: ({ sql }) => silenceRoutes({ sql }),
  });
});
afterAll(() => stores.close());

async function silence(own: number, fields: object): Promise<number> {
  const endsAt = new Date(server.clock.nowMs + HOUR_MS).toISOString();
  const response = await server.send(own, "POST", PATH, { endsAt, ...fields });
  expect(response.status).toBe(201);
  const { id } = Object(await response.json());
  return Number(id);
}

/** A rule with what the schema asks for. */
async function makeRule(own: number): Promise<number> {
  const [row] = await stores.postgres<{ id: string }[]>`
    INSERT INTO log_alerts (organization_id, name, kind, group_by, severity, threshold, window_sec, baseline_hours,
                            ratio_threshold, min_baseline_events, direction, enabled, channels, created_at, updated_at)
    VALUES (${own}, 'Disk is full', 'threshold', '{host}', 'high', 1, 60, 1, 1, 1, 'both', true, '{}', now(), now())
    RETURNING id`;
  return Number(row?.id);
}

const ofRule = (ruleId: number, host: string): Partial<Problem> => ({
  key: `rule:log:${ruleId}:["${host}"]`,
  source: { kind: "rule", id: ruleId, name: "Disk is full" },
  evidence: {
    ...{ ruleId, ruleKind: "log", groupKey: { host }, attackTechnique: null, detectionId: 1 },
    ...{ condition: "threshold", windowSec: 60, peak: 3 },
    ...{ from: new Date().toISOString(), to: new Date().toISOString() },
  },
});

async function raise(own: number, problem: Partial<Problem>): Promise<void> {
  await server.raise(own, problem);
  await server.deliver();
}

async function unsilence(): Promise<void> {
  const unsilencing = new Unsilencing({
    ...{ sql: stores.postgres, changes: server.changes, log: createLogger("silent") },
  });
  while (await unsilencing.workOnce(NEVER));
  await server.deliver();
}

/** `opened told`, `resolved quiet` and so on, of one organisation. */
function toldOf(own: number): string[] {
  return server.told
    .filter(({ organizationId }) => organizationId === own)
    .map(({ kind, notify }) => `${kind.replace("incident.", "")} ${notify ? "told" : "quiet"}`);
}

test("what it holds for opens quietly; everything else is told", async () => {
  const own = await makeOrganization(stores.postgres);
  const other = await makeOrganization(stores.postgres);
  const [rule, another] = [await makeRule(own), await makeRule(own)];
  const id = await silence(own, { ruleKind: "log", ruleId: rule, groupKey: { host: "web-1" } });
  await raise(own, ofRule(rule, "web-1"));
  expect(toldOf(own)).toEqual(["opened quiet"]);
  expect((await server.list(own)).items[0]?.silenceId).toBe(id);
  await silence(own, { ruleKind: "log", ruleId: another, groupKey: { host: "web-1", service: "shop" } });
  await raise(own, ofRule(rule, "web-2"));
  await raise(own, ofRule(another, "web-1"));
  await raise(own, {});
  expect(toldOf(own)).toEqual(["opened quiet", "opened told", "opened told", "opened told"]);
  await raise(other, ofRule(rule, "web-1"));
  expect(toldOf(other)).toEqual(["opened told"]);
});

test("when it is over, what is still open is told once, and what is not is not", async () => {
  const own = await makeOrganization(stores.postgres);
  const id = await silence(own, { source: "rule" });
  await raise(own, ofRule(1, "a"));
  await raise(own, ofRule(2, "b"));
  await server.clear(own, { key: 'rule:log:2:["b"]' });
  await server.deliver();
  await unsilence();
  expect(toldOf(own)).toEqual(["opened quiet", "opened quiet", "resolved told"]);
  await stores.postgres`
    UPDATE silences SET starts_at = now() - interval '2 hours', ends_at = now() - interval '1 hour' WHERE id = ${id}`;
  await unsilence();
  await unsilence();
  expect(toldOf(own).slice(3)).toEqual(["opened told"]);
  expect((await server.list(own)).items.map(({ silenceId }) => silenceId)).toEqual([id, null]);
});

test("one that is deleted is over, another that holds goes on, and who answers for it is not told", async () => {
  const own = await makeOrganization(stores.postgres);
  const rule = await makeRule(own);
  const first = await silence(own, { monitorId: await makeMonitor(stores.postgres, own) });
  const second = await silence(own, { source: "rule", ruleKind: "log" });
  await raise(own, ofRule(rule, "a"));
  await silence(own, { ruleKind: "log", ruleId: rule });
  expect((await server.send(own, "DELETE", `${PATH}/${second}`)).status).toBe(204);
  await unsilence();
  expect(toldOf(own)).toEqual(["opened quiet"]);
  const [incident] = (await server.list(own)).items;
  const acknowledged = await server.send(own, "POST", `/api/v1/incidents/${incident?.id}/acknowledge`);
  expect(acknowledged.status).toBe(200);
  for (const { id } of Object(await (await server.send(own, "GET", PATH)).json()))
    if (id !== first) await server.send(own, "DELETE", `${PATH}/${id}`);
  await unsilence();
  expect(toldOf(own).filter((told) => told.startsWith("opened"))).toEqual(["opened quiet"]);
});

test.each([
  [{}, ""],
  [{ ruleId: 5, source: "rule" }, "/ruleKind"],
  [{ source: "rule", startsAt: "2030-01-01T00:00:00Z", endsAt: "2029-01-01T00:00:00Z" }, "/endsAt"],
  [{ source: "rule", endsAt: "2020-01-01T00:00:00Z", startsAt: "2019-12-01T00:00:00Z" }, "/endsAt"],
  [{ source: "rule", endsAt: "2090-01-01T00:00:00Z" }, "/endsAt"],
  [{ source: "nobody" }, "/source"],
  [{ groupKey: {} }, "/groupKey"],
])("%j is refused with its place and changes nothing", async (fields, path) => {
  const own = await makeOrganization(stores.postgres);
  const endsAt = new Date(server.clock.nowMs + HOUR_MS).toISOString();
  const response = await server.send(own, "POST", PATH, { endsAt, ...fields });
  expect(response.status).toBe(400);
  expect(Object(await response.json()).fields[0].path).toStartWith(path);
  expect(await (await server.send(own, "GET", PATH)).json()).toEqual([]);
});

test("one of a rule or a monitor that is gone can still be changed, but not to name another that is not there", async () => {
  const own = await makeOrganization(stores.postgres);
  const [rule, monitorId] = [await makeRule(own), await makeMonitor(stores.postgres, own)];
  const id = await silence(own, { ruleKind: "log", ruleId: rule, monitorId });
  await stores.postgres`DELETE FROM log_alerts WHERE id = ${rule}`;
  await stores.postgres`DELETE FROM monitors WHERE id = ${monitorId}`;
  const change = async (fields: object): Promise<number> =>
    (await server.send(own, "PATCH", `${PATH}/${id}`, fields)).status;
  expect(await change({ reason: "moved", ruleId: rule, monitorId })).toBe(200);
  expect(await change({ ruleKind: "metric" })).toBe(400);
  expect(await change({ monitorId: monitorId + 1 })).toBe(400);
  expect(await change({ ruleId: null, ruleKind: null, monitorId: null, source: "rule" })).toBe(200);
});
