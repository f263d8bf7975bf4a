/** A rule takes the same entries as the KQL that it becomes, wherever sources put their fields. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { convertSigma } from "../../../src/rules/sigma/convert.ts";
import { insertRows } from "../../domains/logs/stored-rows.ts";
import { proofRounds } from "../../harness/proof.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { conditionOf, countedBy, rowOf } from "../packs/pack-store.ts";
import { entry, rule, type SigmaEntry, type SigmaRule, takes } from "./sigma-oracle.ts";

let stores: TestStores;
let organizations = 0;
let taken = 0;
let left = 0;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** Fields at the top, or where one shipper of Windows events puts them. */
function attrsOf(fields: SigmaEntry, isNested: boolean): Record<string, unknown> {
  const { EventID, ...others } = fields;
  if (!isNested) return fields;
  const named = Object.entries(others).map(([name, value]) => [`winlog.event_data.${name}`, value] as const);
  return { ...Object.fromEntries(named), "winlog.event_id": String(EventID) };
}

async function tryAll(rules: readonly SigmaRule[], entries: readonly SigmaEntry[]): Promise<void> {
  const organizationId = ++organizations;
  // Every entry is there twice: as one source has it, and as another.
  const placed = entries.flatMap((fields) => [
    { fields, isNested: false },
    { fields, isNested: true },
  ]);
  await insertRows(
    stores.clickhouse,
    placed.map(({ fields, isNested }, i) =>
      rowOf({ message: "x", attrs: attrsOf(fields, isNested) }, organizationId, i),
    ),
  );
  const text = rules.map((each) => JSON.stringify(each)).join("\n---\n");
  const kql = (await convertSigma(text)).map((converted) => {
    if (!("made" in converted) || converted.made === "part" || converted.made.kind !== "log")
      throw new Error(JSON.stringify(converted));
    return converted.made.kql;
  });
  const found = await countedBy(stores, kql.map(conditionOf), organizationId);
  for (const [i, each] of rules.entries())
    for (const [at, { fields, isNested }] of placed.entries()) {
      if (isNested && each.logsource.product !== "windows") continue;
      const isTaken = found[i]?.has(at) === true;
      const shown = { rule: each, kql: kql[i], fields, isNested };
      expect({ ...shown, isTaken }).toEqual({ ...shown, isTaken: takes(each, fields) });
      if (isTaken) taken++;
      else left++;
    }
}

test("whatever the rule and the entries", async () => {
  const rules = fc.array(rule, { minLength: 20, maxLength: 20 });
  const entries = fc.array(entry, { minLength: 15, maxLength: 15 });
  const numRuns = proofRounds({ sample: 12, whole: 400 });
  await fc.assert(fc.asyncProperty(rules, entries, tryAll), { numRuns });
  expect(taken).toBeGreaterThan(numRuns * 20);
  expect(left).toBeGreaterThan(numRuns * 20);
}, 900_000);
