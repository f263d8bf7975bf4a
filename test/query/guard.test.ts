import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  ALL_TIME,
  aggregate,
  aggregateCall,
  call,
  columnOf,
  emit,
  filter,
  filteredLogs,
  GuardedPlan,
  guardPlan,
  guardPlanOfEach,
  INTERACTIVE_BUDGET,
  keep,
  limit,
  literal,
  type QueryScope,
  type Relation,
  scan,
  sort,
} from "../../query/index.ts";

const scope: QueryScope = { organizationId: 7, timeRange: ALL_TIME, maxRows: 10, budget: INTERACTIVE_BUDGET };

describe("a plan about everybody's entries", () => {
  const { organizationId: _, ...bounds } = scope;
  const each = { ...bounds, made: { are: "in" as const, spans: [{ instance: 1, after: 0n, through: 9n }] } };
  const counts = (input: Relation) => aggregate(input, [], [aggregateCall("n", "count")]);

  test("tells the rows of each organization apart, whatever it groups them by", () => {
    const { sql, columns } = emit(guardPlanOfEach(counts(scan("logs")), each));
    expect(columns.map(({ name }) => name)).toEqual(["organization", "n"]);
    expect(sql).toMatch(/toInt64\(organization_id\) AS (\w+)[\s\S]*GROUP BY .*\b\1\b/);
  });

  test("takes the rows of the logs alone, and no others beside them", () => {
    const logs = scan("logs");
    const others: Relation[] = [scan("checks"), limit(logs, 5), counts(logs)];
    for (const input of others) expect(() => guardPlanOfEach(counts(input), each)).toThrow(TypeError);
    const inner = {
      kind: "scalarSubquery" as const,
      ...{ relation: counts(logs), type: "long" as const, isNullable: true },
    };
    const byInner = aggregate(logs, [{ name: "all", expression: inner }], []);
    expect(() => guardPlanOfEach(byInner, each)).toThrow(TypeError);
  });
});

describe("a guarded plan", () => {
  test("is bound to an organization, or is refused", () => {
    for (const organizationId of [0, -1, 1.5, Number.NaN, 2 ** 32, Number.POSITIVE_INFINITY])
      expect(() => guardPlan(scan("logs"), { ...scope, organizationId })).toThrow(RangeError);
  });

  test("is bound to a number of rows, or is refused", () => {
    for (const maxRows of [0, -1, 1.5, Number.NaN, 100_001])
      expect(() => guardPlan(scan("logs"), { ...scope, maxRows })).toThrow(RangeError);
  });

  test("is what the emitter takes, and nothing that looks like one", () => {
    const real = guardPlan(scan("logs"), scope);
    expect(emit(real).sql).toContain("organization_id = {p0:UInt32}");
    const forged: GuardedPlan = Object.create(GuardedPlan.prototype, {
      relation: { value: real.relation },
      scope: { value: scope },
    });
    expect(() => emit(forged)).toThrow(TypeError);
  });

  test("restricts every scan to its organization and time, however deep the plan", () => {
    const column = fc.constantFrom("message", "service", "level");
    const step = fc.oneof(
      column.map(
        (name) => (input: Relation) =>
          filter(input, call("contains", columnOf(input, name), literal("string", "x"))),
      ),
      fc.nat(100).map((rows) => (input: Relation) => limit(input, rows)),
      column.map(
        (name) => (input: Relation) =>
          sort(input, [{ expression: columnOf(input, name), direction: "ascending" as const }]),
      ),
      fc.constant((input: Relation) => keep(input, ["message", "service", "level"])),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.boolean(), (steps, counts) => {
        const rows = steps.reduce(
          (input, apply) => apply(input),
          filteredLogs({ search: null, service: null, level: null }),
        );
        const plan = counts ? aggregate(rows, [], [aggregateCall("n", "count")]) : rows;
        const timeRange = { from: 1n, to: 2n };
        const { sql, parameters } = emit(guardPlan(plan, { ...scope, organizationId: 4242, timeRange }));
        const scans = [...sql.matchAll(/FROM logs\b/g)];
        const guards = [
          ...sql.matchAll(
            /FROM logs\nWHERE organization_id = \{(p\d+):UInt32\} AND ts >= fromUnixTimestamp64Nano\(\{(p\d+):Int64\}, 'UTC'\) AND ts <= fromUnixTimestamp64Nano\(\{(p\d+):Int64\}, 'UTC'\)/g,
          ),
        ];
        expect(guards.length).toBe(scans.length);
        for (const [, organization = "", from = "", to = ""] of guards)
          expect([parameters[organization], parameters[from], parameters[to]]).toEqual(["4242", "1", "2"]);
        const [, last = ""] = /LIMIT \{(p\d+):UInt64\}$/.exec(sql) ?? [];
        expect(Number(parameters[last])).toBeLessThanOrEqual(10);
      }),
    );
  });

  test("keeps its budget and its number of rows in the settings it runs under", () => {
    const { settings } = emit(guardPlan(scan("logs"), scope));
    expect(settings).toMatchObject({ readonly: "1", max_result_rows: "10", max_execution_time: "15" });
  });
});

describe("a plan", () => {
  const logs = scan("logs");
  test("that does not hang together cannot be built", () => {
    expect(() => columnOf(logs, "organization_id")).toThrow(TypeError);
    expect(() => columnOf(logs, "attr_json_keys")).toThrow(TypeError);
    expect(() => filter(logs, columnOf(logs, "message"))).toThrow(TypeError);
    expect(() =>
      filter(keep(logs, ["id"]), call("equal", columnOf(logs, "level"), literal("string", "x"))),
    ).toThrow(TypeError);
    expect(() => call("equal", columnOf(logs, "message"), literal("long", 1n))).toThrow(TypeError);
    expect(() => call("and")).toThrow(TypeError);
    expect(() => keep(logs, ["id", "id"])).toThrow(TypeError);
    expect(() => limit(logs, -1)).toThrow(TypeError);
    expect(() => aggregate(logs, [{ name: "attrs", expression: columnOf(logs, "attrs") }], [])).toThrow(
      TypeError,
    );
  });
});
