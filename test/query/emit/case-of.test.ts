/** What cases of several conditions look like in SQL: nothing that they have in common is written or computed for each of them. */
import { expect, test } from "bun:test";
import {
  ALL_TIME,
  aggregate,
  aggregateCall,
  allOf,
  caseOf,
  compileKql,
  emit,
  guardPlanOfEach,
  INTERACTIVE_BUDGET,
  type OrganizationCase,
  scan,
} from "../../../query/index.ts";
import { whereOnly } from "../../../query/reach/where-only.ts";

const caseOfText = (organizationId: number, text: string): OrganizationCase => {
  const compiled = compileKql(text, { nowNs: 0n });
  const conditions = compiled.ok ? whereOnly(compiled.query.relation) : null;
  if (conditions === null) throw new Error(`${text} is more than where`);
  return { organizationId, condition: allOf(conditions) };
};

function sqlOf(first: OrganizationCase, ...others: readonly OrganizationCase[]): string {
  const counter = { name: "counter", expression: caseOf([first, ...others]) };
  const plan = aggregate(scan("logs"), [counter], [aggregateCall("n", "count")]);
  const made = { are: "in", spans: [{ instance: 0, after: 0n, through: null }] } as const;
  return emit(guardPlanOfEach(plan, { timeRange: ALL_TIME, made, maxRows: 10, budget: INTERACTIVE_BUDGET }))
    .sql;
}

const times = (text: string, part: string): number => text.split(part).length - 1;

test("what several cases ask is computed once, in a SELECT below", () => {
  const asked = (i: number) => caseOfText(1 + (i % 2), `message has 'order' and attrs.n == ${i}`);
  const sql = sqlOf(asked(20), asked(30), asked(40), asked(50));
  expect(times(sql, "LIKE")).toBe(1);
  const [above = "", below = ""] = sql.split("FROM (\n");
  expect(times(above, "message")).toBe(0);
  expect(times(above, "attrs")).toBe(0);
  expect(times(below, "LIKE")).toBe(1);
  expect(times(below, " AS e1,")).toBe(1);
});

test("one case has no SELECT below", () => {
  expect(sqlOf(caseOfText(1, "message has 'order' and attrs.n == 20"))).not.toContain("FROM (");
});
