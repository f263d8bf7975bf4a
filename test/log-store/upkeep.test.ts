/** Columns of attributes from the first dear query to the last, on several servers, with and without an archive. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { compileKql, INTERACTIVE_BUDGET } from "../../query/index.ts";
import { createLogger } from "../../src/log.ts";
import { AttributeAccess } from "../../src/log-store/attribute-access.ts";
import { ATTRIBUTE_COLUMNS_MAX } from "../../src/log-store/limits.ts";
import { TableStatements } from "../../src/log-store/table-statements.ts";
import { LogStoreUpkeep } from "../../src/log-store/upkeep.ts";
import { DAY_MS, makeOrganization, NOW_MS, testArchiver } from "../archive/archive-setup.ts";
import { idAt, insertRows } from "../domains/logs/stored-rows.ts";
import { eventually } from "../harness/eventually.ts";
import { logRanges } from "../harness/log-ranges.ts";
import { queryCaller } from "../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

const DEAR = { durationMs: 400, bytesRead: 1_000_000_000 };
const signal = new AbortController().signal;
let stores: TestStores;
let temporary: TemporaryDirectory;
let statements: TableStatements;

beforeAll(async () => {
  stores = await openTestStores();
  temporary = temporaryDirectory();
  statements = new TableStatements(stores.clickhouse);
});
afterAll(async () => {
  await stores.close();
  temporary[Symbol.dispose]();
});

/** One server's part of it. */
function openServer() {
  const access = new AttributeAccess(stores.postgres, () => performance.now());
  const upkeep = new LogStoreUpkeep({
    ...{ sql: stores.postgres, statements, access },
    log: createLogger("silent"),
  });
  return { access, run: () => upkeep.runOnce(signal) };
}

type Server = ReturnType<typeof openServer>;

function askDearly({ access }: Server, key: string, times = 3): void {
  for (let i = 0; i < times; i++) access.used([key], DEAR);
}

async function keptKeys(): Promise<Record<string, string>> {
  const rows = await stores.postgres<{ key: string; state: string }[]>`
    SELECT key, state FROM log_attribute_columns ORDER BY key`;
  return Object.fromEntries(rows.map(({ key, state }) => [key, state]));
}

async function answer(
  server: Server,
  organizationId: number,
  kql: string,
  files: Parameters<typeof logRanges>[1] = {},
) {
  const compiled = compileKql(kql, { nowNs: BigInt(NOW_MS) * 1_000_000n });
  if (!compiled.ok) throw new Error(compiled.diagnostics[0]?.message);
  const { relation: plan } = compiled.query;
  const ranges = logRanges(stores, { ...files, attributes: server.access });
  const statement = { operation: "test", plan, timeRange: { from: null, to: null }, maxRows: 100 };
  const caller = { ...queryCaller(), organizationId };
  const read = await ranges.read(caller, (logs) => logs.run({ ...statement, budget: INTERACTIVE_BUDGET }));
  return read.value.rows;
}

async function insertAttributes(
  organizationId: number,
  count: number,
  atMs = NOW_MS - DAY_MS,
): Promise<void> {
  await insertRows(
    stores.clickhouse,
    Array.from({ length: count }, (_, i) => ({
      organizationId,
      ts: BigInt(atMs + i) * 1_000_000n,
      id: idAt(atMs, i),
      message: `entry ${i}`,
      attrs: [
        ["host", `h${i % 3}`],
        ["trace", `t${i}`],
        ["n", String(i)],
      ] as const,
      jsonKeys: ["n"],
    })),
  );
}

const BY_HOST =
  "logs | summarize n = count(), s = sum(toint(attrs.n)) by host = tostring(attrs.host) | sort by host asc";
const HOSTS = [
  ["h0", "3", "9"],
  ["h1", "2", "5"],
  ["h2", "2", "7"],
];

test("a dear attribute gets a column once, which every server reads and every part has", async () => {
  const organization = await makeOrganization(stores);
  await insertAttributes(organization, 7);
  const servers = [openServer(), openServer()] as const;
  const [first, second] = servers;
  askDearly(first, "host", 2);
  await first.run();
  expect(await keptKeys()).toEqual({});
  askDearly(second, "host", 1);
  askDearly(second, "n");
  await eventually("both servers read the columns", async () => {
    await Promise.all(servers.map((server) => server.run()));
    return servers.every(({ access }) => access.columns().size === 2);
  });
  expect(await keptKeys()).toEqual({ host: "ready", n: "ready" });
  for (const key of ["host", "n"]) expect(await statements.unfilledPartition(key, signal)).toBeNull();
  for (const server of servers) expect(await answer(server, organization, BY_HOST)).toEqual(HOSTS);
});

test("a table without the columns that the servers agreed on is asked without them, and gets them again", async () => {
  const organization = await makeOrganization(stores);
  await insertAttributes(organization, 7);
  const server = openServer();
  await server.access.exchange();
  expect(server.access.columns().size).toBe(2);
  await eventually("nothing rewrites the table", async () => !(await statements.isChanging(signal)));
  for (const key of ["host", "n"]) await statements.dropColumns(key, signal);
  expect(await answer(server, organization, BY_HOST)).toEqual(HOSTS);
  expect(server.access.columns().size).toBe(0);
  await eventually("the columns are back", async () => {
    await server.run();
    return server.access.columns().size === 2;
  });
  expect(await answer(server, organization, BY_HOST)).toEqual(HOSTS);
});

test("entries that moved to the archive, which has no such columns, count as before", async () => {
  const organization = await makeOrganization(stores);
  await insertAttributes(organization, 4, NOW_MS - 40 * DAY_MS);
  const { run, files } = testArchiver(stores, temporary.path);
  await run();
  const late = idAt(NOW_MS - DAY_MS);
  await insertRows(stores.clickhouse, [
    {
      organizationId: organization,
      ts: BigInt(NOW_MS) * 1_000_000n,
      id: late,
      message: "late",
      attrs: [
        ["host", "h0"],
        ["n", "5"],
      ],
      jsonKeys: ["n"],
    },
  ]);
  const server = openServer();
  await server.access.exchange();
  expect(server.access.columns().size).toBe(2);
  const whole = [
    ["h0", "3", "8"],
    ["h1", "1", "1"],
    ["h2", "1", "2"],
  ];
  expect(await answer(server, organization, BY_HOST, { files })).toEqual(whole);
  server.access.distrust();
  expect(await answer(server, organization, BY_HOST, { files })).toEqual(whole);
});

test("columns are bounded in number; what is asked for much more takes the place of what was", async () => {
  const server = openServer();
  for (let i = 0; i < 2 * ATTRIBUTE_COLUMNS_MAX; i++) askDearly(server, `key ${i}`);
  await server.run();
  expect(Object.keys(await keptKeys())).toHaveLength(ATTRIBUTE_COLUMNS_MAX);
  await eventually("all are filled", async () => {
    await server.run();
    return server.access.columns().size === ATTRIBUTE_COLUMNS_MAX;
  });
  askDearly(server, "much dearer", 100);
  await server.run();
  expect(Object.values(await keptKeys())).not.toContain("leaving");
  await stores.postgres`UPDATE log_attribute_columns SET since = since - interval '2 hours'`;
  await server.run();
  expect(Object.values(await keptKeys()).filter((state) => state === "leaving")).toHaveLength(1);
  // Until no statement can read it any more it stays in the table, and in nobody's list.
  expect(server.access.columns().size).toBe(ATTRIBUTE_COLUMNS_MAX - 1);
  await stores.postgres`UPDATE log_attribute_columns SET since = since - interval '1 hour' WHERE state = 'leaving'`;
  await eventually("the other has its place", async () => {
    await server.run();
    return (await keptKeys())["much dearer"] === "ready";
  });
});

test("a column that nobody asks for goes, and the next that asks has the same answer", async () => {
  const organization = await makeOrganization(stores);
  await insertAttributes(organization, 7);
  const server = openServer();
  await stores.postgres`UPDATE log_attribute_usage SET last_asked_at = last_asked_at - interval '8 days'`;
  await server.run();
  await stores.postgres`UPDATE log_attribute_columns SET since = since - interval '1 hour'`;
  await eventually("all columns are gone", async () => {
    await server.run();
    return Object.keys(await keptKeys()).length === 0;
  });
  expect(await statements.existing(["host", "n", "much dearer"], signal)).toEqual(new Set());
  expect(await answer(server, organization, BY_HOST)).toEqual(HOSTS);
});

test("what cannot be a key in Postgres, or is too long, or was cheap, gets no column", async () => {
  const server = openServer();
  for (const key of ["a\0b", "x".repeat(201), "\ud800"]) askDearly(server, key);
  for (let i = 0; i < 50; i++) server.access.used(["cheap"], { durationMs: 5, bytesRead: 1000 });
  await server.run();
  expect(await keptKeys()).toEqual({});
});

test("parts that were written without indexes get them while few entries come in", async () => {
  const organization = await makeOrganization(stores);
  const server = openServer();
  const atMs = NOW_MS - 2 * DAY_MS;
  for (let part = 0; part < 3; part++)
    await stores.clickhouse.insert({
      table: "logs",
      format: "JSONEachRow",
      values: [
        {
          organization_id: organization,
          id: idAt(atMs, part).toString(),
          received_at: new Date(atMs).toISOString().slice(0, 10),
          message: `part ${part}`,
        },
      ],
      clickhouse_settings: { insert_deduplicate: 0, materialize_skip_indexes_on_insert: 0 },
    });
  await eventually("they wait", async () => (await statements.unindexedParts(signal)) > 0);
  await eventually("all parts have indexes", async () => {
    await server.run();
    return (await statements.unindexedParts(signal)) === 0;
  });
});
