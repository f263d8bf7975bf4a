/** Columns of attributes from the first dear query to the last, on several servers, with and without an archive. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { compileKql, INTERACTIVE_BUDGET } from "../../query/index.ts";
import { createLogger } from "../../src/log.ts";
import { AttributeAccess } from "../../src/log-store/attribute-access.ts";
import { ATTRIBUTE_COLUMNS_MAX, UNINDEXED_WORDS_MAX_ROWS } from "../../src/log-store/limits.ts";
import { TableStatements } from "../../src/log-store/table-statements.ts";
import { LogStoreUpkeep } from "../../src/log-store/upkeep.ts";
import { WordIndex } from "../../src/log-store/word-index.ts";
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
  const words = new WordIndex(statements, () => performance.now());
  const upkeep = new LogStoreUpkeep({
    ...{ sql: stores.postgres, statements, access, words },
    log: createLogger("silent"),
  });
  return { access, words, run: () => upkeep.runOnce(signal) };
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
  const ranges = logRanges(stores, { ...files, attributes: server.access, words: server.words });
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

/** A part of one entry that an insert left without these indexes. */
async function insertUnindexed(
  organization: number,
  atMs: number,
  settings: Readonly<Record<string, string | number>>,
  number = 0,
): Promise<void> {
  await stores.clickhouse.insert({
    table: "logs",
    format: "JSONEachRow",
    values: [
      {
        organization_id: organization,
        id: idAt(atMs, number).toString(),
        received_at: new Date(atMs).toISOString().slice(0, 10),
        message: `part ${number}`,
      },
    ],
    clickhouse_settings: { insert_deduplicate: 0, ...settings },
  });
}

const WITHOUT_MESSAGES = { exclude_materialize_skip_indexes_on_insert: "message_ngrams,message_words" };
/** As older servers insert. */
const WITHOUT_ANY = { materialize_skip_indexes_on_insert: 0 };

test("parts that were written without indexes of messages get them while few entries come in", async () => {
  const organization = await makeOrganization(stores);
  const server = openServer();
  for (const [part, settings] of [WITHOUT_MESSAGES, WITHOUT_MESSAGES, WITHOUT_ANY].entries())
    await insertUnindexed(organization, NOW_MS - 2 * DAY_MS, settings, part);
  await eventually("they wait", async () => (await statements.unindexedParts(signal)) > 0);
  await eventually("all parts have indexes", async () => {
    await server.run();
    return (await statements.unindexedParts(signal)) === 0;
  });
});

const BY_WORD = "logs | where message has 'entry' | summarize n = count()";

/** ClickHouse drops no index that it is writing. */
async function dropWordIndex(): Promise<void> {
  await eventually("nothing rewrites the table", async () => !(await statements.isChanging(signal)));
  await stores.clickhouse.command({ query: "ALTER TABLE logs DROP INDEX IF EXISTS message_words" });
}

test("words of entries that were there before the index are indexed, and every server counts on it then", async () => {
  const organization = await makeOrganization(stores);
  await insertAttributes(organization, UNINDEXED_WORDS_MAX_ROWS + 7, NOW_MS - 3 * DAY_MS);
  await dropWordIndex();
  const count = [[String(UNINDEXED_WORDS_MAX_ROWS + 7)]];
  const servers = [openServer(), openServer()] as const;
  const [first, second] = servers;
  await second.words.look(signal);
  expect(second.words.isComplete()).toBe(false);
  expect(await answer(second, organization, BY_WORD)).toEqual(count);
  await eventually("both servers count on the index", async () => {
    await Promise.all(servers.map((server) => server.run()));
    return servers.every(({ words }) => words.isComplete());
  });
  expect(await statements.rowsWithoutWords(signal)).toBe(0);
  for (const server of servers) expect(await answer(server, organization, BY_WORD)).toEqual(count);

  // An index that goes while it is counted on, as with a table that was restored from elsewhere.
  await dropWordIndex();
  expect(first.words.isComplete()).toBe(true);
  expect(await answer(first, organization, BY_WORD)).toEqual(count);
  await first.words.look(signal);
  expect(first.words.isComplete()).toBe(false);
  await eventually("the index is back", async () => {
    await first.run();
    return first.words.isComplete();
  });
  expect(await answer(first, organization, BY_WORD)).toEqual(count);
});

test("a part alone of its day, which nothing is merged with, keeps no other day from getting its words", async () => {
  const organization = await makeOrganization(stores);
  const server = openServer();
  await dropWordIndex();
  await insertUnindexed(organization, NOW_MS - 6 * DAY_MS, WITHOUT_ANY);
  await insertAttributes(organization, UNINDEXED_WORDS_MAX_ROWS + 7, NOW_MS - 5 * DAY_MS);
  await eventually("it waits", async () => (await statements.unindexedParts(signal)) > 0);
  await eventually("all words are indexed", async () => {
    await server.run();
    return server.words.isComplete();
  });
});

test("entries with a word that moved to the archive, where nothing has an index, count as before", async () => {
  const organization = await makeOrganization(stores);
  await insertAttributes(organization, 4, NOW_MS - 40 * DAY_MS);
  const { run, files } = testArchiver(stores, temporary.path);
  await run();
  await insertAttributes(organization, 3);
  const server = openServer();
  await eventually("the index is counted on", async () => {
    await server.run();
    return server.words.isComplete();
  });
  expect(await answer(server, organization, BY_WORD, { files })).toEqual([["7"]]);
  server.words.distrust();
  expect(await answer(server, organization, BY_WORD, { files })).toEqual([["7"]]);
});

test("an insert without indexes while somebody looks leaves the index out of use until the next look", async () => {
  const rows = Promise.withResolvers<number>();
  const words = new WordIndex({ rowsWithoutWords: () => rows.promise }, () => 0);
  const looking = words.look(signal);
  words.distrust();
  rows.resolve(0);
  await looking;
  expect(words.isComplete()).toBe(false);
  await words.look(signal);
  expect(words.isComplete()).toBe(true);
});
