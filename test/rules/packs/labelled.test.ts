/**
 * The rules of the packs against events of which others said whether something should be told of them: each event as the
 * preset of its product stores it, each rule on the labels that it is about.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { PACKS } from "../../../src/rules/packs/catalog.ts";
import { insertRows } from "../../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { LABELLED_EVENTS, readLabelledEvents } from "./labelled-events.ts";
import { LABELS_OF_RULES } from "./labels.ts";
import { conditionOf, countedBy, rowOf } from "./pack-store.ts";

const RULES = PACKS.flatMap(({ rules }) => rules);
const ORGANIZATION = 1;

/** What has to be found of the true events of the labels, what may be of the false ones, and how much labels are declared. */
const TRUE_MIN_SHARE = 0.95;
const FALSE_MAX_SHARE = 0.02;
const DECLARED_MIN_SHARE = 0.6;

test("labels are of rules that there are", () => {
  const ids = new Set(RULES.map(({ id }) => id));
  expect(Object.keys(LABELS_OF_RULES).filter((id) => !ids.has(id))).toEqual([]);
});

describe.skipIf(!existsSync(LABELLED_EVENTS))("labelled events", () => {
  let stores: TestStores;
  /** Of each event that has a declared label whether a rule of the label counts it. */
  let judged: { readonly label: string; readonly isTrue: boolean; readonly isFound: boolean }[];
  let trueEvents = 0;

  beforeAll(async () => {
    stores = await openTestStores();
    const events = readLabelledEvents();
    trueEvents = events.filter(({ isTrue }) => isTrue).length;
    await insertRows(
      stores.clickhouse,
      events.flatMap(({ entry }, number) => (entry === null ? [] : [rowOf(entry, ORGANIZATION, number)])),
    );
    const rules = RULES.filter(({ id }) => LABELS_OF_RULES[id] !== undefined);
    const counted = await countedBy(
      stores,
      rules.map(({ kql }) => conditionOf(kql)),
      ORGANIZATION,
    );
    const declared = new Set(Object.values(LABELS_OF_RULES).flat());
    judged = events.flatMap(({ label, isTrue }, number) => {
      if (!declared.has(label)) return [];
      const isFound = rules.some(
        ({ id }, rule) =>
          LABELS_OF_RULES[id]?.includes(label) === true && counted[rule]?.has(number) === true,
      );
      return [{ label, isTrue, isFound }];
    });
  });
  afterAll(() => stores.close());

  const labelsOf = (wanted: boolean, found: boolean) =>
    judged.filter(({ isTrue, isFound }) => isTrue === wanted && isFound === found).map(({ label }) => label);

  test("that are true are counted by a rule of their label, nearly all", () => {
    const missed = labelsOf(true, false);
    const all = missed.length + labelsOf(true, true).length;
    expect(1 - missed.length / all, missed.join()).toBeGreaterThanOrEqual(TRUE_MIN_SHARE);
  });

  test("that are false are left by the rules of their label, nearly all", () => {
    const wrong = labelsOf(false, true);
    const all = wrong.length + labelsOf(false, false).length;
    expect(wrong.length / all, wrong.join()).toBeLessThanOrEqual(FALSE_MAX_SHARE);
  });

  test("are declared, most of those that are true", () => {
    const all = judged.filter(({ isTrue }) => isTrue).length;
    expect(all / trueEvents).toBeGreaterThanOrEqual(DECLARED_MIN_SHARE);
  });
});
