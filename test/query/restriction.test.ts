import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import {
  ALL_TIME,
  type ArchivedRows,
  type CompiledQuery,
  compileKql,
  emit,
  type FileSource,
  guardPlan,
  INTERACTIVE_BUDGET,
  KEPT_ROWS,
  type KeptTable,
  NOTHING_KEPT,
  type TimeRange,
} from "../../query/index.ts";
import { ARCHIVE_COLUMNS, FILE_STRUCTURE } from "../../src/archive/columns.ts";
import { queryCaller } from "../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";
import { queryRunner } from "./query-store.ts";

const DAY_NS = 86_400_000_000_000n;
const FIRST_NS = 1_748_736_000_000_000_000n;
const NOW_NS = FIRST_NS + 10n * DAY_NS;
/** The third to the fifth day of ten. */
const RANGE: TimeRange = { from: FIRST_NS + 2n * DAY_NS, to: FIRST_NS + 5n * DAY_NS - 1n };

const OWN = 7;
const OTHERS = [6, 8];

/** Rows that are kept under the same number for all of them: nothing but the organization tells whose they are. */
const ROWS_ID = "41";
/** Other rows of each. */
const OTHER_ROWS_ID = "42";
const HOSTS: KeptTable = {
  rowsId: ROWS_ID,
  columns: [
    { name: "host", type: "string" },
    { name: "owner", type: "string" },
  ],
};
const KEPT = { ...NOTHING_KEPT, tables: new Map([["hosts", HOSTS]]) };

/** The store in which all of them have rows on every day, and one that has those of its own in the range alone. */
let shared: TestStores;
let alone: TestStores;
/** As `shared`, but the first three days of all organizations are in a file, and the fourth is in another and the table. */
let split: TestStores;
const temporary = temporaryDirectory();
let archived: ArchivedRows;

function rowsOf(organization: number, days: readonly number[]) {
  return days.flatMap((day) =>
    [0, 1, 2].map((i) => ({
      organization_id: organization,
      ts: `2025-06-${String(day).padStart(2, "0")} 0${i}:00:00.000000000`,
      id: String(1000 * day + i),
      received_at: `2025-06-${String(day).padStart(2, "0")} 0${i}:00:00.000`,
      level: "info",
      service: `s${day}`,
      host: `h${i}`,
      message: `day ${day} of ${organization}`,
      attrs: { user: `u${day}` },
    })),
  );
}

function keptRowsOf(organization: number, rowsId: string) {
  return [0, 1, 2].map((row) => ({
    [KEPT_ROWS.organizationColumn]: organization,
    [KEPT_ROWS.rowsIdColumn]: rowsId,
    row,
    [KEPT_ROWS.cellsColumn]: [`h${row}`, `owner ${row} of ${organization} in ${rowsId}`],
  }));
}

beforeAll(async () => {
  shared = await openTestStores();
  alone = await openTestStores();
  const days = Array.from({ length: 10 }, (_, i) => i + 1);
  const all = [OWN, ...OTHERS].flatMap((id) => rowsOf(id, days));
  await shared.clickhouse.insert({ table: "logs", values: all, format: "JSONEachRow" });
  await alone.clickhouse.insert({ table: "logs", values: rowsOf(OWN, [3, 4, 5]), format: "JSONEachRow" });
  const kept = [OWN, ...OTHERS].flatMap((id) =>
    [ROWS_ID, OTHER_ROWS_ID].flatMap((rowsId) => keptRowsOf(id, rowsId)),
  );
  for (const [stores, values] of [
    [shared, kept],
    [alone, keptRowsOf(OWN, ROWS_ID)],
  ] as const)
    await stores.clickhouse.insert({ table: KEPT_ROWS.table, values, format: "JSONEachRow" });
  split = await openTestStores();
  await split.clickhouse.insert({ table: "logs", values: all, format: "JSONEachRow" });
  const fileOf = async (name: string, days: readonly number[]): Promise<FileSource> => {
    const pattern = join(temporary.path, name);
    await split.clickhouse.command({
      query: `INSERT INTO FUNCTION file({pattern: String}, 'Parquet', {structure: String})
              SELECT ${ARCHIVE_COLUMNS} FROM logs WHERE toDayOfMonth(ts) IN {days: Array(UInt8)}`,
      query_params: { pattern, structure: FILE_STRUCTURE, days },
    });
    return { kind: "directory", pattern, structure: FILE_STRUCTURE };
  };
  await fileOf("gone.parquet", [1, 2, 3]);
  const moving = await fileOf("moving.parquet", [4]);
  const files = { ...moving, pattern: join(temporary.path, "{gone,moving}.parquet") };
  archived = { files, moving };
  await split.clickhouse.command({ query: "DELETE FROM logs WHERE toDayOfMonth(ts) <= 3" });
});
afterAll(async () => {
  await Promise.all([shared.close(), alone.close(), split.close()]);
  temporary[Symbol.dispose]();
});

function statementFor(text: string, timeRange = RANGE, more: { archived?: ArchivedRows } = {}) {
  const compiled = compileKql(text, { nowNs: NOW_NS, kept: KEPT });
  if (!compiled.ok) throw new Error(`${text}: ${compiled.diagnostics[0]?.message}`);
  const scope = { organizationId: OWN, timeRange, maxRows: 1000, budget: INTERACTIVE_BUDGET, ...more };
  return emit(guardPlan(compiled.query.relation, scope));
}

/** A chain that is cut into several SELECTs: each column mentions the one before it twice. */
function chain(first: string, length = 14): string {
  const steps = Array.from(
    { length },
    (_, i) => `| extend a${i + 1} = substring(strcat(a${i}, a${i}), 0, 3)`,
  );
  return `extend a0 = ${first} ${steps.join(" ")}`;
}

/** Every way in which a statement comes to read the table. */
const READS: [string, string][] = [
  ["the table", "logs | project message, host"],
  ["a condition", "logs | where host == 'h1' | project message"],
  ["a chain in layers", `logs | ${chain("message")} | count`],
  ["a chain in layers, grouped", `logs | ${chain("message")} | summarize count() by a14`],
  [
    "a chain in layers, grouped by another column",
    `logs | ${chain("message")} | summarize max(a14) by service`,
  ],
  [
    "a chain in layers, filtered at its end",
    `logs | ${chain("message")} | where a14 == 'day' | project message`,
  ],
  [
    "a chain in layers, sorted and cut",
    `logs | ${chain("message")} | sort by a14 asc, id asc | take 100 | project message`,
  ],
  [
    "a chain in layers on both sides of a join",
    `logs | ${chain("message")} | project id, a14 | join kind=inner (logs | ${chain("host")} | project id, b = a14) on id | project id, a14, b`,
  ],
  [
    "a chain in layers in a union",
    `union (logs | ${chain("message")} | project a14, service), (logs | project a14 = host, service)`,
  ],
  [
    "a chain in layers over elements",
    `logs | mv-expand e = pack_array(host, service) to typeof(string) | ${chain("e")} | project e, a14`,
  ],
  [
    "a chain in layers within a subquery",
    `logs | where host in ((logs | ${chain("message")} | where a14 == 'day' | project host)) | project message`,
  ],
  ["a chain in layers within a value", `print n = toscalar(logs | ${chain("message")} | summarize count())`],
  [
    "a join",
    "logs | join kind=fullouter (logs | project id, other = message) on id | project message, other",
  ],
  [
    "a join of groups",
    "logs | summarize n = count() by host | join kind=leftouter (logs | summarize m = count() by host) on host",
  ],
  ["a lookup", "logs | lookup (logs | summarize n = count() by service) on service | project message, n"],
  ["a semi-join", "logs | join kind=leftsemi (logs | where host == 'h1') on service | project message"],
  ["a union", "union withsource=T logs, (logs | summarize message = max(message) by host)"],
  [
    "names of tables",
    "let A = logs | where host == 'h1'; let B = A | summarize n = count() by service; A | join kind=inner B on service | project message, n",
  ],
  [
    "a function of tables",
    "let f = (t: (*)) { t | summarize count() }; union (f(logs)), (logs | invoke f())",
  ],
  ["values in a subquery", "logs | where service in ((logs | where host == 'h2' | project service)) | count"],
  [
    "a value of a table",
    "let newest = toscalar(logs | summarize max(ts)); logs | where ts == newest | project message",
  ],
  [
    "rows for each row",
    "logs | mv-apply e = pack_array(host, service) to typeof(string) on (summarize n = count() | extend all = toscalar(logs | count)) | project message, n, all",
  ],
  [
    "rows in an order",
    "logs | sort by id asc | extend before = prev(message), number = row_number() | project message, before, number",
  ],
  [
    "the first of each group",
    "logs | top-nested 3 of service by n = count(), top-nested 2 of host by m = max(id)",
  ],
  [
    "a series",
    "logs | make-series n = count() on ts from datetime(2025-06-01) to datetime(2025-06-11) step 1d by host",
  ],
  ["a search", "search 'day' | summarize count() by service"],
  ["different values", "logs | distinct message | count"],
  ["patterns of text", "logs | parse message with * 'of ' owner:long | summarize count() by owner"],
];

/** Every way in which a statement comes to read a table that organizations keep. */
const KEPT_READS: [string, string][] = [
  ["the table", "hosts"],
  ["a condition that is always true", "hosts | where owner has 'owner' or true"],
  ["a chain in layers", `hosts | ${chain("owner")} | project a14, owner`],
  ["groups", "hosts | summarize count(), make_set(owner) by host | project host, count_, set_owner"],
  ["a join", "logs | join kind=inner hosts on host | project message, owner"],
  ["a join of two", "hosts | join kind=fullouter hosts on host | project owner, owner1"],
  ["the other side of a join", "hosts | join kind=leftouter (logs | summarize n = count() by host) on host"],
  ["those without a partner", "hosts | join kind=leftanti (logs | where host == 'h1') on host"],
  ["a lookup", "logs | lookup hosts on host | project message, owner"],
  ["a union", "union withsource=T hosts, (logs | project host, owner = message)"],
  ["a union of names alike", "union host* | project owner"],
  ["values in a subquery", "logs | where host in ((hosts | project host)) | project message"],
  ["values of texts in a subquery", "print a = 'owner 1 of 6 in 41' | where a !in ((hosts | project owner))"],
  ["a value of a table", "print owner = toscalar(hosts | summarize max(owner))"],
  ["a search", "search in (hosts) 'owner' | project owner"],
  ["a search in tables of names alike", "search in (host*) 'owner' | project $table, owner"],
  [
    "names of tables",
    "let A = hosts | where host != 'h0'; let B = materialize(A); union A, B | project owner",
  ],
  ["a function of tables", "let f = (t: (*)) { t | distinct owner }; union (f(hosts)), (hosts | invoke f())"],
  [
    "rows for each row",
    "logs | mv-apply e = pack_array(host) to typeof(string) on (extend all = toscalar(hosts | summarize make_set(owner))) | distinct tostring(all)",
  ],
  [
    "the first of each group",
    "hosts | top-nested 2 of host by n = count(), top-nested 2 of owner by m = count()",
  ],
];

async function answerOf(stores: TestStores, statement: CompiledQuery): Promise<string[]> {
  const { rows } = await queryRunner(stores).run("test", statement, queryCaller());
  return rows.map((row) => JSON.stringify(row)).toSorted();
}

describe("rows of other organizations and other times are read by no statement", () => {
  test.each([...READS, ...KEPT_READS])("with %s", async (_, text) => {
    const own = await answerOf(shared, statementFor(text, RANGE));
    expect(own).toEqual(await answerOf(alone, statementFor(text, ALL_TIME)));
    expect(own.length).toBeGreaterThan(0);
  });

  test.each(READS)("with %s, also where a part of the rows is in files", async (_, text) => {
    const own = await answerOf(split, statementFor(text, RANGE, { archived }));
    expect(own).toEqual(await answerOf(alone, statementFor(text, ALL_TIME)));
    expect(own.length).toBeGreaterThan(0);
  });

  test("although chains are long enough to be cut into layers", () => {
    for (const [name, text] of READS)
      expect([name, statementFor(text).sql.includes("SELECT *,")]).toEqual([name, name.includes("layers")]);
  });
});

/** Steps that take rows with the columns `host`, `service` and `n` and give such rows. */
const COLUMNS = "host, service, n";
const steps = fc.letrec<{ table: string; step: string }>((tie) => ({
  table: fc
    .tuple(
      fc.constantFrom("logs | extend n = strlen(message)", "logs | where host has 'h' | extend n = 1"),
      fc.array(tie("step"), { maxLength: 3 }),
    )
    .map(([source, rest]) => [`${source} | project ${COLUMNS}`, ...rest].join(" | ")),
  step: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      "where n > 0",
      "sort by n asc | extend n = row_number()",
      "summarize n = count() by host, service",
      "mv-expand e = pack_array(host, 'x') to typeof(string) | project host = e, service, n",
      "top 5 by n",
      ...["host", "service"].map((name) => `${chain(name)} | project host = a14, service, n`),
      `${chain("host", 30)} | summarize n = sum(n) by host = a30, service`,
    ),
    tie("table").map((table) => `union (${table})`),
    tie("table").map((table) => `where host in ((${table} | project host))`),
    tie("table").map((table) => `extend n = n + toscalar(${table} | summarize sum(n))`),
    tie("table").map(
      (table) => `lookup (${table} | summarize m = sum(n) by host) on host | project ${COLUMNS}`,
    ),
    fc
      .tuple(fc.constantFrom("inner", "innerunique", "leftouter", "fullouter", "rightanti"), tie("table"))
      .map(([kind, table]) => `join kind=${kind} (${table}) on host | project ${COLUMNS}`),
    tie("table").map(
      (table) => `mv-apply e = pack_array(n, 2) to typeof(long) on (where e > toscalar(${table} | count))`,
    ),
  ),
}));

test("a statement has as many restrictions as it reads tables, each of them right behind its table", () => {
  fc.assert(
    fc.property(steps.table, fc.constantFrom("count", `project ${COLUMNS}`), (table, end) => {
      const compiled = compileKql(`let T = ${table}; T | ${end}`, { nowNs: NOW_NS });
      // Tables within tables may be more than a query may read.
      if (!compiled.ok) return;
      const { sql, parameters } = statementFor(`let T = ${table}; T | ${end}`);
      const restricted = [
        ...sql.matchAll(
          /\bFROM logs\nWHERE organization_id = \{(\w+):UInt32\} AND ts >= fromUnixTimestamp64Nano\(\{(\w+):Int64\}, 'UTC'\) AND ts <= fromUnixTimestamp64Nano\(\{(\w+):Int64\}, 'UTC'\)/g,
        ),
      ];
      expect(restricted.length).toBe([...sql.matchAll(/\blogs\b/g)].length);
      expect(restricted.length).toBeGreaterThan(0);
      for (const [, organization = "", from = "", to = ""] of restricted)
        expect([organization, from, to].map((place) => parameters[place])).toEqual(
          [OWN, RANGE.from, RANGE.to].map(String),
        );
    }),
    { numRuns: 200 },
  );
});
