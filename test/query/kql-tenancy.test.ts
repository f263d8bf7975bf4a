import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compileKql, emit, guardPlan, INTERACTIVE_BUDGET } from "../../query/index.ts";
import type { QueryRunner } from "../../src/storage/query-runner.ts";
import { queryCaller } from "../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { queryRunner } from "./query-store.ts";

const NOW_NS = 1_750_000_000_000_000_000n;
const OWN = 7;
const FOREIGN = 8;
/** In every text of a foreign row, and in no query. */
const FOREIGN_MARK = "belongs-to-somebody-else";

let stores: TestStores;
let runner: QueryRunner;

beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
  const rowsOf = (organization: number, text: string) =>
    Array.from({ length: 5 }, (_, i) => ({
      organization_id: organization,
      ts: `2025-06-0${i + 1} 00:00:00.000000000`,
      id: String(organization * 100 + i),
      received_at: `2025-06-0${i + 1} 00:00:00.000`,
      level: "info",
      service: text,
      source: text,
      host: `h${i % 2}`,
      message: text,
      trace_id: text,
      attrs: { user: text },
    }));
  await stores.clickhouse.insert({
    table: "logs",
    values: [...rowsOf(OWN, "own"), ...rowsOf(FOREIGN, FOREIGN_MARK)],
    format: "JSONEachRow",
  });
});
afterAll(() => stores.close());

function statementFor(text: string) {
  const compiled = compileKql(text, { nowNs: NOW_NS });
  if (!compiled.ok) return null;
  const timeRange = { from: 1_748_700_000_000_000_000n, to: 1_750_000_000_000_000_000n };
  const scope = { organizationId: OWN, timeRange, maxRows: 1000, budget: INTERACTIVE_BUDGET };
  return emit(guardPlan(compiled.query.relation, scope));
}

/** Tables of the columns `host: string` and `n: long`, wherever in a query a table can be named. */
const tables = fc.letrec<{ table: string }>((tie) => ({
  table: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      "(logs | project host, n = 1)",
      'table("logs") | project host, n = 2',
      "(logs | summarize n = count() by host)",
      "(search in (logs) 'own' | project host, n = 3)",
      '(datatable(host: string, n: long)["h0", 5])',
      "(union logs, logs | project host, n = 1)",
    ),
    fc
      .tuple(
        tie("table"),
        fc.constantFrom(
          "inner",
          "innerunique",
          "leftouter",
          "fullouter",
          "rightouter",
          "leftsemi",
          "rightanti",
        ),
        tie("table"),
      )
      .map(([left, kind, right]) => `(${left} | join kind=${kind} (${right}) on host | project host, n)`),
    fc
      .tuple(tie("table"), tie("table"))
      .map(([left, right]) => `(${left} | lookup (${right}) on host | project host, n)`),
    fc.tuple(tie("table"), tie("table")).map(([left, right]) => `(union (${left}), (${right}))`),
    fc
      .tuple(tie("table"), tie("table"))
      .map(([left, right]) => `(${left} | where host in ((${right} | project host)))`),
    fc
      .tuple(tie("table"), tie("table"))
      .map(([left, right]) => `(${left} | extend n = toscalar(${right} | count))`),
    tie("table").map((inner) => `(${inner} | as X | union X)`),
    tie("table").map((inner) => `(materialize(${inner}) | order by n asc | extend n = row_number())`),
    tie("table").map(
      (inner) =>
        `(${inner} | mv-apply e = pack_array(n, 2) to typeof(long) on (top 1 by e) | project host, n)`,
    ),
  ),
})).table;

const programs = fc.oneof(
  tables.map((table) => `${table} | take 50`),
  tables.map((table) => `let T = ${table}; T | join kind=inner T on host`),
  tables.map(
    (table) => `let f = (t: (host: string, n: long)) { t | summarize n = sum(n) by host }; f((${table}))`,
  ),
  tables.map((table) => `${table} | summarize make_list(host), count()`),
);

describe("every statement of KQL", () => {
  test("restricts each mention of the stored table in the SELECT that reads it", () => {
    fc.assert(
      fc.property(programs, (text) => {
        const statement = statementFor(text);
        // Tables within tables may be more than a query may read.
        fc.pre(statement !== null);
        const { sql, parameters } = statement;
        const reads = [...sql.matchAll(/FROM logs\b/g)].length;
        const restricted = [
          ...sql.matchAll(/FROM logs\nWHERE organization_id = \{(\w+):UInt32\} AND ts >= .+? AND ts <= /g),
        ];
        expect(restricted.length).toBe(reads);
        for (const [, place = ""] of restricted) expect(parameters[place]).toBe(String(OWN));
      }),
      { numRuns: 300 },
    );
  });

  test("answers with rows of its organization only", async () => {
    await fc.assert(
      fc.asyncProperty(programs, async (text) => {
        const statement = statementFor(text);
        fc.pre(statement !== null);
        const { rows } = await runner.run("test", statement, queryCaller());
        expect(JSON.stringify(rows)).not.toContain(FOREIGN_MARK);
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    "logs | count",
    "search 'somebody' | count",
    "logs | where * has 'somebody' | count",
    "logs | where organization_id == 8 | count",
    "logs | where ['organization_id'] > 0 | count",
    "logs | where message == 'x' or 1 == 1 or organization_id == 8 | summarize Count = countif(service has 'somebody')",
  ])("counts no foreign row: %s", async (text) => {
    const statement = statementFor(text);
    if (statement === null) return;
    const { rows } = await runner.run("test", statement, queryCaller());
    expect(Number(rows[0]?.[0])).toBeLessThanOrEqual(5);
  });

  test.each([
    "system.tables | take 1",
    "cluster('x').database('y').logs | take 1",
    "database('other').logs",
    "externaldata(x: string)['http://127.0.0.1/'] | take 1",
    "['logs` WHERE 1=1 --'] | take 1",
    "table('system.users')",
    "logs; logs",
    "union * | take 1",
  ])("names no table but its own: %s", (text) => {
    const statement = statementFor(text);
    if (statement !== null) expect(statement.sql).toMatch(/FROM logs\nWHERE organization_id = /);
    else expect(compileKql(text, { nowNs: NOW_NS }).ok).toBe(false);
  });
});

describe("hostile text", () => {
  const hostile = fc.oneof(
    fc.constantFrom(
      "' OR 1=1 --",
      "`",
      "\\",
      "'); DROP TABLE logs; --",
      "{p0:String}",
      "\0",
      "a\nb",
      "$$",
      "/*",
      "e0",
      "c0",
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 12 }),
  );
  const marked = hostile.map((text) => `zq${text}qz`);
  const quoted = (text: string) => JSON.stringify(text).replace(/\\u([0-9a-f]{4})/g, "\\u$1");

  test.each<[string, (text: string) => string]>([
    ["a literal", (text) => `logs | where message == ${quoted(text)}`],
    ["a term", (text) => `logs | where message has ${quoted(text)} and service contains ${quoted(text)}`],
    [
      "an attribute",
      (text) => `logs | where attrs[${quoted(text)}] == 1 | project x = attrs[${quoted(text)}]`,
    ],
    ["a name", (text) => `logs | extend [${quoted(text)}] = 1 | where [${quoted(text)}] == 1`],
    [
      "an element of a list",
      (text) => `logs | where message in (${quoted(text)}, "a") or host has_any (${quoted(text)}, "b")`,
    ],
    [
      "a dynamic literal",
      (text) => `print d = dynamic({${quoted(text)}: ${quoted(text)}}) | extend x = d[${quoted(text)}]`,
    ],
    ["a pattern of parse", (text) => `logs | parse message with * ${quoted(text)} rest`],
    ["a delimiter", (text) => `logs | extend p = split(message, ${quoted(text)})`],
    ["a value of datatable", (text) => `datatable([${quoted(text)}]: string)[${quoted(text)}] | count`],
  ])("as %s never stands in the statement, which runs", async (_, queryOf) => {
    await fc.assert(
      fc.asyncProperty(marked, async (text) => {
        const statement = statementFor(queryOf(text));
        if (statement === null) return;
        expect(statement.sql).not.toContain("zq");
        await runner.run("test", statement, queryCaller());
      }),
      { numRuns: 40 },
    );
  });
});

describe("hostile size", () => {
  test.each([
    [
      "tables that double",
      `let a = logs; ${Array.from({ length: 30 }, (_, i) => `let ${"b".repeat(i + 1)} = ${i === 0 ? "a" : "b".repeat(i)} | join kind=inner (${i === 0 ? "a" : "b".repeat(i)}) on host;`).join(" ")} ${"b".repeat(30)} | count`,
    ],
    ["a function that calls itself", "let f = (x: long) { f(x) }; print f(1)"],
    ["brackets", `print ${"(".repeat(5000)}1${")".repeat(5000)}`],
    ["a range without end", "range x from 1 to 1000000000000 step 1"],
  ])("of %s is refused", (_, text) => {
    expect(compileKql(text, { nowNs: NOW_NS }).ok).toBe(false);
  });

  test("of chains that use what is before them twice makes a statement that grows with the text", async () => {
    const chain = (length: number) =>
      `print a0 = 'x' ${Array.from({ length }, (_, i) => `| extend a${i + 1} = substring(strcat(a${i}, a${i}), 0, 3)`).join(" ")} | project a${length}`;
    const [short, long] = [statementFor(chain(15)), statementFor(chain(30))];
    if (short === null || long === null) throw new Error("not compiled");
    expect(long.sql.length).toBeLessThan(short.sql.length * 4);
    const { rows } = await runner.run("test", long, queryCaller());
    expect(rows).toEqual([["xxx"]]);
  });
});
