import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  ALL_TIME,
  attribute,
  call,
  columnOf,
  emit,
  extend,
  filter,
  filteredLogs,
  guardPlan,
  INTERACTIVE_BUDGET,
  keep,
  literal,
  type Relation,
} from "../../query/index.ts";
import { idAt, insertRows } from "../domains/logs/stored-rows.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { queryRunner, rowsOf } from "./query-store.ts";

const HOSTILE = [
  "' OR 1=1 --",
  "'; DROP TABLE logs; --",
  "\\",
  "\\'",
  "' UNION ALL SELECT * FROM logs --",
  "{p0:String}",
  "{p0:UInt32}",
  "') OR (organization_id != 0",
  "`logs`",
  "/* */",
  "%' OR '%'='",
  "%",
  "_",
  "\u0000'",
  "\t\r\n\b\f\u001a",
  "'\u2019\u02bc\uff07",
  "$$",
  "?",
  "FORMAT JSON",
  "SETTINGS readonly=0",
  "&param_p0=2",
  "#",
  "[1]",
  "NULL",
  "\\N",
];

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
  await insertRows(
    stores.clickhouse,
    HOSTILE.map((text, i) => ({
      organizationId: 1,
      ts: 0n,
      id: idAt(Date.UTC(2026, 0, 1), i),
      message: `before ${text} after`,
      service: text,
      attrs: [[text, text]] as const,
    })),
  );
  await insertRows(stores.clickhouse, [
    {
      organizationId: 2,
      ts: 0n,
      id: idAt(Date.UTC(2026, 0, 1)),
      message: "of somebody else",
      service: "other",
    },
  ]);
});
afterAll(() => stores.close());

const compile = (plan: Relation) =>
  emit(guardPlan(plan, { organizationId: 1, timeRange: ALL_TIME, maxRows: 100, budget: INTERACTIVE_BUDGET }));

const SPAN = { start: 0, end: 0 };
const plans: Readonly<Record<string, (value: string) => Relation>> = {
  search: (text) => filteredLogs({ search: { kind: "text", text, span: SPAN }, service: null, level: null }),
  service: (service) => filteredLogs({ search: null, service, level: null }),
  level: (level) => filteredLogs({ search: null, service: null, level }),
  attribute: (key) => {
    const logs = filteredLogs({ search: null, service: null, level: null });
    return filter(logs, call("equal", call("tostring", attribute("attrs", key)), literal("string", key)));
  },
};

async function messagesOf(plan: Relation): Promise<string[]> {
  const rows = await rowsOf(queryRunner(stores), keep(plan, ["message"]), 1);
  return rows.map(([message]) => String(message));
}

describe.each(Object.entries(plans))("a hostile value as %s", (name, planOf) => {
  test("never changes the statement", () => {
    const benign = compile(planOf("benign")).sql;
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "binary-ascii" })), (value) => {
        expect(compile(planOf(value)).sql).toBe(benign);
      }),
    );
  });

  test("never stands in the statement, whatever the alphabet", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (value) => {
        expect(compile(planOf(`§${value}§`)).sql).not.toContain("§");
      }),
    );
  });

  test("finds what it names and nothing of anybody else", async () => {
    for (const value of HOSTILE) {
      const found = await messagesOf(planOf(value));
      expect(found).not.toContain("of somebody else");
      if (name === "service" || name === "attribute") expect(found).toEqual([`before ${value} after`]);
      if (name === "search") expect(found).toContain(`before ${value} after`);
      if (name === "level") expect(found).toEqual([]);
    }
  });
});

test("a hostile column name never stands in the statement", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "binary", minLength: 1 })),
      (part) => {
        const name = `§${part}§`;
        const logs = filteredLogs({ search: null, service: null, level: null });
        const named = extend(logs, [{ name, expression: call("tostring", attribute("attrs", "a")) }]);
        const plan = keep(filter(named, call("contains", columnOf(named, name), literal("string", "x"))), [
          name,
        ]);
        const compiled = compile(plan);
        expect(compiled.sql).not.toContain("§");
        expect(compiled.columns[0]?.name).toBe(name);
      },
    ),
  );
});
