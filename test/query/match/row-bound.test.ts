import { expect, test } from "bun:test";
import { rowBound } from "../../../query/match/row-bound.ts";
import { compileEntryQuery } from "../../../src/kql/issues.ts";
import { conditionsOf } from "../../../src/kql/relation-conditions.ts";

test("what a condition remembers of names is true of each of them, however many there were", () => {
  const bound = rowBound(conditionsOf(compileEntryQuery('service endswith "7"', 0)) ?? []);
  const column = bound?.kind === "all" ? bound.operands[0] : null;
  if (column?.kind !== "column") throw new Error("a condition of a column");
  const names = Array.from({ length: 2_500 }, (_, i) => `service-${i}`);
  for (const name of [...names, ...names.toReversed(), "service-7", "service-8"])
    expect(column.holds(name)).toBe(name.endsWith("7"));
});
