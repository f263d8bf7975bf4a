import { describe, expect, test } from "bun:test";
import { CommittedBlock } from "../../../ingest/committed-block.ts";
import { NativeFormat } from "../../../ingest/decode/native.ts";
import { LogBatch } from "../../../ingest/log-batch.ts";
import { MaskableRows } from "../../../ingest/masking/maskable-rows.ts";
import { takeBlock } from "../../../ingest/take-block.ts";
import { compileRules, readRule } from "../../../src/domains/ingest-rules/compile-rule.ts";
import type { RuleTerms } from "../../../src/domains/ingest-rules/types.ts";

const ENTRIES = [
  { message: "payment of Ann failed", service: "shop", level: "error", attrs: { status: 502 } },
  { message: "healthcheck ok", service: "shop", level: "debug", attrs: { status: 200 } },
  { message: "payment of Bob", service: "web", level: "info", attrs: { user: { id: 7 } } },
];
const TERMS: RuleTerms = { action: "drop", query: null, keepOneIn: null, fields: null, patterns: null };

function block(entries: readonly object[]): CommittedBlock {
  const batch = new LogBatch();
  batch.beginRequest(1, 1_790_000_000_000);
  new NativeFormat().decode(new TextEncoder().encode(JSON.stringify(entries)), batch, new Set());
  return new CommittedBlock(takeBlock(batch));
}

/** Where terms begin in messages, found together with what a mask hides. */
function placesOf(terms: ConstructorParameters<typeof MaskableRows>[1], entries: CommittedBlock) {
  const looks = new MaskableRows([{ fields: [], patterns: ["token"] }], terms).of(entries);
  let step = looks.next();
  while (step.done !== true) step = looks.next();
  return step.value.termPlaces;
}

/**
 * The entries that a rule with such a predicate is for, each query by itself and all of them together: the same whether its
 * terms were looked for before or not.
 */
function rowsFor(
  queries: readonly (string | null)[],
  action: RuleTerms["action"],
  entries: readonly object[],
) {
  const { rules, terms } = compileRules(queries.map((query) => readRule({ ...TERMS, action, query })));
  const [found, alone] = [block(entries), block(entries)];
  const places = placesOf(terms, found);
  expect(places).toHaveLength(terms?.length ?? 0);
  return rules.map(({ rowsOf }) => {
    const rowsBy = ({ candidates, isFor }: ReturnType<typeof rowsOf>): number[] => {
      const rows = entries.map((_, row) => row).filter(isFor);
      // Of others nobody asks.
      if (candidates !== null) expect(candidates).toEqual(expect.arrayContaining(rows));
      return rows;
    };
    const rows = rowsBy(rowsOf(found, places));
    expect(rowsBy(rowsOf(alone, null))).toEqual(rows);
    return rows;
  });
}

describe("a rule is for the entries that its predicate is true of", () => {
  const CASES: [string | null, number[]][] = [
    [null, [0, 1, 2]],
    ["  ", [0, 1, 2]],
    ['service == "shop"', [0, 1]],
    ['message contains "PAYMENT"', [0, 2]],
    ['message contains "payment" and level == "error"', [0]],
    ['message !contains "payment"', [1]],
    ['message contains "nowhere"', []],
    ['message has "ann" or service == "web"', [0, 2]],
    ["status >= 500", [0]],
    ["logs | where toint(attrs.status) == 502", [0]],
    ['where message startswith "pay" | where service == "web"', [2]],
  ];
  test.each(CASES)("%p", (query, expected) => {
    expect(rowsFor([query], "drop", ENTRIES)).toEqual([expected]);
    expect(rowsFor([query], "mask", ENTRIES)).toEqual([expected]);
  });

  test("beside others as alone", () => {
    expect(
      rowsFor(
        CASES.map(([query]) => query),
        "mask",
        ENTRIES,
      ),
    ).toEqual(CASES.map(([, rows]) => rows));
  });
});

test("a term is one at either end of a message, and none over its end", () => {
  const entries = ["ping", "x pi", "ng", "a ping", "pin", "g ping b"].map((message) => ({ message }));
  expect(rowsFor(['message contains "ping"'], "drop", entries)).toEqual([[0, 3, 5]]);
});

test("what cannot be decided of an entry is masked, and neither dropped nor sampled", () => {
  // How the store reads this number is its own affair.
  const entries = [
    { message: "a", attrs: { n: "1e400" } },
    { message: "b", attrs: { n: "2" } },
  ];
  const query = "todouble(attrs.n) > 1";
  const byAction = (["mask", "drop", "sample"] as const).map(
    (action) => rowsFor([query], action, entries)[0],
  );
  expect(byAction).toEqual([[0, 1], [1], [1]]);
});
