/** Where many incidents of a rule open at once, the first are told, the others in one message, and none is lost. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { STORM_TOLD_MAX } from "../../../src/domains/incidents/limits.ts";
import { Digests } from "../../../src/domains/incidents/storms.ts";
import { createLogger } from "../../../src/log.ts";
import type { Problem } from "../../../src/problems/events.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type IncidentServer, incidentServer, makeOrganization } from "./incident-server.ts";

const NEVER = new AbortController().signal;
const MINUTE_MS = 60_000;
let stores: TestStores;
let server: IncidentServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = incidentServer(stores.postgres, { clock: { nowMs: Date.now() } });
});
afterAll(() => stores.close());

const ofRule = (ruleId: number, group: number, peak = group): Partial<Problem> => ({
  key: `rule:log:${ruleId}:["web-${group}"]`,
  source: { kind: "rule", id: ruleId, name: "Disk is full" },
  title: `Disk is full (web-${group})`,
  evidence: {
    ...{ ruleId, ruleKind: "log", groupKey: { host: `web-${group}` }, attackTechnique: null, detectionId: 1 },
    ...{ condition: "threshold", windowSec: 60, peak },
    ...{ from: new Date().toISOString(), to: new Date().toISOString() },
  },
});

async function raise(own: number, problem: Partial<Problem>): Promise<void> {
  await server.raise(own, problem);
  await server.deliver();
}

async function digest(): Promise<void> {
  const { postgres: sql } = stores;
  const { changes, clock } = server;
  const work = new Digests({ sql, changes, log: createLogger("silent"), now: () => clock.nowMs });
  await work.workOnce(NEVER);
  await server.deliver();
}

function toldOf(own: number) {
  return server.told.filter(({ organizationId, notify }) => organizationId === own && notify);
}

test("the first are told, the others in one message with the largest, and all are incidents", async () => {
  const own = await makeOrganization(stores.postgres);
  const other = await makeOrganization(stores.postgres);
  for (let group = 1; group <= STORM_TOLD_MAX + 15; group++) await raise(own, ofRule(1, group));
  await raise(own, ofRule(2, 1));
  await raise(own, { key: "monitor:17" });
  await raise(other, ofRule(1, 1));
  expect(toldOf(own)).toHaveLength(STORM_TOLD_MAX + 2);
  expect(toldOf(other)).toHaveLength(1);
  expect((await server.list(own)).total).toBe(STORM_TOLD_MAX + 17);
  await digest();
  expect(toldOf(own)).toHaveLength(STORM_TOLD_MAX + 2);
  // One of them is over by then: it was not told, and so is its end.
  await server.clear(own, { key: ofRule(1, STORM_TOLD_MAX + 3).key ?? "" });
  await server.deliver();
  server.clock.nowMs += 6 * MINUTE_MS;
  await digest();
  await digest();
  const [, ...digests] = toldOf(own).slice(STORM_TOLD_MAX + 1);
  expect(digests).toHaveLength(1);
  expect(digests[0]?.incident.title).toBe(`Disk is full (web-${STORM_TOLD_MAX + 15})`);
  expect(digests[0]?.update?.body).toMatch(
    /^14 more incidents of this rule opened without a message \(1 of them are over\): Disk is full \(web-34\), .* and 4 others\./,
  );
});

test("of any number that open at once, on several instances, the first are told and no more", async () => {
  const own = await makeOrganization(stores.postgres);
  const others = [1, 2].map(() => incidentServer(stores.postgres, { clock: server.clock }));
  const groups = 2 * STORM_TOLD_MAX + 10;
  for (let group = 1; group <= groups; group++) {
    await server.raise(own, ofRule(1, group));
    if (group % 3 === 0) await server.raise(own, ofRule(2, group));
  }
  await Promise.all([server, ...others].map((instance) => instance.deliver()));
  // What one instance had in hand when another looked.
  await server.deliver();
  const told = [server, ...others].flatMap((instance) => instance.told);
  const opened = told.filter(({ organizationId, notify }) => organizationId === own && notify);
  const ofOne = opened.filter(({ incident }) => incident.source?.id === 1);
  expect([ofOne.length, opened.length]).toEqual([STORM_TOLD_MAX, STORM_TOLD_MAX + Math.floor(groups / 3)]);
  expect((await server.list(own)).total).toBe(groups + Math.floor(groups / 3));
});

test("when there are fewer again, each is told, and the end of what a message told of is", async () => {
  const own = await makeOrganization(stores.postgres);
  for (let group = 1; group <= STORM_TOLD_MAX + 2; group++) await raise(own, ofRule(1, group));
  server.clock.nowMs += 6 * MINUTE_MS;
  await digest();
  const before = toldOf(own).length;
  expect(before).toBe(STORM_TOLD_MAX + 1);
  await raise(own, ofRule(1, 99));
  expect(toldOf(own)).toHaveLength(before + 1);
  await server.clear(own, { key: ofRule(1, STORM_TOLD_MAX + 1).key ?? "" });
  await server.deliver();
  expect(toldOf(own)).toHaveLength(before + 1);
  await server.clear(own, { key: ofRule(1, STORM_TOLD_MAX + 2).key ?? "" });
  await server.deliver();
  expect(toldOf(own)).toHaveLength(before + 2);
});

test("a storm that is over before it is told is told to nobody, and leaves its incidents", async () => {
  const own = await makeOrganization(stores.postgres);
  for (let group = 1; group <= STORM_TOLD_MAX + 2; group++) {
    await raise(own, ofRule(1, group));
    await server.clear(own, { key: ofRule(1, group).key ?? "" });
    await server.deliver();
  }
  const before = toldOf(own).length;
  expect(before).toBe(2 * STORM_TOLD_MAX);
  server.clock.nowMs += 6 * MINUTE_MS;
  await digest();
  expect(toldOf(own)).toHaveLength(before);
  expect((await server.list(own)).total).toBe(STORM_TOLD_MAX + 2);
});
