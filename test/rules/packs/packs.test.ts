/** The rules of the packs: each counts the entry that it shows and leaves the other one, in the store as in a stream. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { reachOf } from "../../../query/reach/reach.ts";
import { GROUP_COLUMNS } from "../../../src/rules/counters/limits.ts";
import { isLogicalField } from "../../../src/rules/fields/logical-field.ts";
import { PACKS } from "../../../src/rules/packs/catalog.ts";
import type { PackRule } from "../../../src/rules/packs/pack.ts";
import { insertRows } from "../../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { conditionOf, countedBy, flatten, rowOf } from "./pack-store.ts";

const RULES = PACKS.flatMap(({ rules }) => rules);
const ORGANIZATION = 1;
/** The entry that each rule counts and the one that it leaves: as an application sends them, and as a source stores them. */
const SAMPLES = RULES.flatMap(({ counts, leaves }) => [counts, flatten(counts), leaves, flatten(leaves)]);
const COUNTED = [true, true, false, false];

let stores: TestStores;
/** The numbers of the samples that each rule counts, and of those that each pack is about. */
let counted: ReadonlySet<number>[];
let seen: ReadonlySet<number>[];

beforeAll(async () => {
  stores = await openTestStores();
  await insertRows(
    stores.clickhouse,
    SAMPLES.map((sample, number) => rowOf(sample, ORGANIZATION, number)),
  );
  const conditions = [...RULES.map(({ kql }) => kql), ...PACKS.map(({ expects }) => expects.kql)].map(
    conditionOf,
  );
  const found = await countedBy(stores, conditions, ORGANIZATION);
  counted = found.slice(0, RULES.length);
  seen = found.slice(RULES.length);
});
afterAll(() => stores.close());

describe("the rules of the packs", () => {
  test("each count the entry that they show, and leave the one that is much like it", () => {
    const wrong = RULES.filter((_, rule) =>
      COUNTED.some((isCounted, i) => counted[rule]?.has(rule * COUNTED.length + i) !== isCounted),
    );
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  test("are seen to be of use by entries that they count", () => {
    const isSeen = (pack: number, rule: PackRule) =>
      seen[pack]?.has(RULES.indexOf(rule) * COUNTED.length) === true;
    expect(PACKS.filter(({ rules }, pack) => !rules.some((rule) => isSeen(pack, rule)))).toEqual([]);
  });

  test("are narrowed by a text or a value, so that a seal asks few entries", () => {
    const broad = RULES.filter(({ kql }) => reachOf([conditionOf(kql)]) === null);
    // Its text may stand in any form of an attribute, and only agents have that attribute.
    expect(broad.map(({ id }) => id)).toEqual(["ai-secret-in-arguments"]);
  });

  test("have ids and names of their own, and fit what a rule may be", () => {
    for (const names of [RULES.map(({ id }) => id), RULES.map(({ name }) => name), PACKS.map(({ id }) => id)])
      expect(new Set(names).size).toBe(names.length);
    for (const { id, kql, attackTechnique, groupBy, description } of RULES) {
      expect(id).toMatch(/^[a-z0-9-]{3,64}$/);
      expect(kql.length).toBeLessThanOrEqual(2048);
      expect(description.length).toBeLessThanOrEqual(2048);
      if (attackTechnique !== null) expect(attackTechnique).toMatch(/^T[0-9]{4}(\.[0-9]{3})?$/);
      expect(groupBy.length).toBeLessThanOrEqual(3);
    }
  });

  test("group by what entries have, under one name for all sources", () => {
    const columns: readonly string[] = GROUP_COLUMNS;
    const own = [
      ...["event.Hostname", "event.HostnameField"],
      ...[
        "recipientAccountId",
        "resourceId",
        "deviceVendor",
        "gen_ai.agent.name",
        "SubjectUserName",
        "userId",
      ],
      ...["data.details.authenticator.phone_number", "repo", "name", "workflow_job.runner_name"],
    ];
    const unknown = RULES.flatMap(({ groupBy }) => groupBy).filter(
      (field) => !columns.includes(field) && !isLogicalField(field) && !own.includes(field),
    );
    expect(unknown).toEqual([]);
  });
});
