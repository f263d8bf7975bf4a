/** Which rules are looked at, what of them is written by whom, and that none reads what is another's. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { makeCounter, notePast, plainCounter } from "../../../src/rules/counters/counter-store.ts";
import { dueRules, noteLooked } from "../../../src/rules/live/due-rules.ts";
import {
  beginEvaluated,
  episodesSince,
  insertEpisode,
  readRule,
} from "../../../src/rules/live/live-store.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

const NOW_MS = Date.now();
const DEFINITION = {
  ...{ name: "r", severity: "high", attackTechnique: null, escalationPolicyId: null, groupBy: ["host"] },
  ...{ windowMs: 60_000, forMs: 0, keepFiringMs: 0, condition: { kind: "threshold", threshold: 1 } },
};

let stores: TestStores;
let sql: TestStores["postgres"];
let organizationId: number;
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  const [made] = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('acme', now()) RETURNING id`;
  organizationId = made?.id ?? 0;
});
afterAll(() => stores.close());

/** A rule that counts by a counter of its own. */
async function makeRule(ruleId: number): Promise<{ id: number; counterId: number }> {
  const filter = plainCounter({ query: "x", service: null, level: null }, 60);
  const counterId = await sql.begin((tx) => makeCounter(tx, organizationId, filter, NOW_MS));
  const [rule] = await sql<{ id: number }[]>`
    INSERT INTO live_rules (organization_id, kind, rule_id, definition)
    VALUES (${organizationId}, 'log', ${ruleId}, ${JSON.stringify(DEFINITION)}::text::jsonb) RETURNING id::integer`;
  const id = rule?.id ?? 0;
  await sql`
    INSERT INTO live_rule_counters (live_rule_id, counter_id, organization_id, place)
    VALUES (${id}, ${counterId}, ${organizationId}, 0)`;
  return { id, counterId };
}

async function changed(counterId: number, fromMs: number): Promise<void> {
  await sql`
    INSERT INTO counter_changes (organization_id, counter_id, from_ms, to_ms)
    VALUES (${organizationId}, ${counterId}, ${fromMs}, ${fromMs + 60_000})`;
}

async function due(id: number) {
  const rules = await dueRules(sql, { throughMs: NOW_MS, after: 0, max: 100 });
  return rules.find((rule) => rule.id === id);
}

test("a rule is looked at when what was before it is counted, or it would be judged by a part of its entries", async () => {
  const { id, counterId } = await makeRule(1);
  await changed(counterId, 0);
  expect(await due(id)).toBeUndefined();
  await notePast(sql, counterId, "failed");
  expect(await due(id)).toBeUndefined();
  await notePast(sql, counterId, "counted");
  expect(await due(id)).toMatchObject({ id, ruleId: 1, counterIds: [counterId] });
});

test("what changed while a rule was looked at stays to be looked at, and of two who look one writes", async () => {
  const { id, counterId } = await makeRule(2);
  await notePast(sql, counterId, "counted");
  await changed(counterId, 0);
  const stored = await due(id);
  if (stored === undefined) throw new Error("the rule is not due");
  const rule = readRule(stored);
  expect(stored.spans).toEqual([{ fromMs: 0, toMs: 60_000 }]);
  await changed(counterId, 60_000);
  const evaluated = (): Promise<boolean> =>
    sql.begin((tx) => beginEvaluated(tx, rule, stored.last, { nowMs: NOW_MS, throughMs: 0, note: null }));
  expect(await evaluated()).toBe(true);
  expect((await due(id))?.spans).toEqual([{ fromMs: 60_000, toMs: 120_000 }]);
  expect(await evaluated()).toBe(false);
});

test("what nothing follows of is looked at no more, but of a rule that is another by now it is", async () => {
  const [same, other] = [await makeRule(5), await makeRule(6)];
  for (const { counterId } of [same, other]) {
    await notePast(sql, counterId, "counted");
    await changed(counterId, 0);
  }
  const looked = [await due(same.id), await due(other.id)].filter((rule) => rule !== undefined);
  expect(looked).toHaveLength(2);
  await changed(same.counterId, 60_000);
  await sql`UPDATE live_rules SET version = version + 1 WHERE id = ${other.id}`;
  await noteLooked(sql, looked, NOW_MS);
  expect((await due(same.id))?.spans).toEqual([{ fromMs: 60_000, toMs: 120_000 }]);
  expect((await due(other.id))?.spans).toEqual([{ fromMs: 0, toMs: 60_000 }]);
});

test("a rule that somebody writes of holds up none of those of which nothing follows", async () => {
  const [held, free] = [await makeRule(7), await makeRule(8)];
  for (const { counterId } of [held, free]) {
    await notePast(sql, counterId, "counted");
    await changed(counterId, 0);
  }
  const looked = [await due(held.id), await due(free.id)].filter((rule) => rule !== undefined);
  const [stored] = looked;
  if (stored === undefined) throw new Error("the rule is not due");
  await sql.begin(async (tx) => {
    await beginEvaluated(tx, readRule(stored), stored.last, { nowMs: NOW_MS, throughMs: 0, note: null });
    await noteLooked(sql, looked, NOW_MS);
    expect(await due(free.id)).toBeUndefined();
  });
  expect(await due(held.id)).toBeUndefined();
});

test("a rule goes on with its own episodes, and with none of a rule of the same groups", async () => {
  const rules = [];
  for (const ruleId of [3, 4]) {
    const { id, counterId } = await makeRule(ruleId);
    await notePast(sql, counterId, "counted");
    await changed(counterId, 0);
    const stored = await due(id);
    if (stored === undefined) throw new Error("the rule is not due");
    rules.push(readRule(stored));
  }
  const [one, two] = rules;
  if (one === undefined || two === undefined) throw new Error("there are two rules");
  const times = { fromMs: NOW_MS, toMs: NOW_MS + 1, untilMs: NOW_MS + 60_000, peak: 3 };
  const id = await sql.begin((tx) => insertEpisode(tx, one, '["a"]', times, NOW_MS));
  const found = (rule: typeof one) => sql.begin((tx) => episodesSince(tx, rule, ['["a"]'], NOW_MS));
  expect(await found(one)).toMatchObject([{ id, group: '["a"]', peak: 3, isReported: false }]);
  expect(await found(two)).toEqual([]);
});
