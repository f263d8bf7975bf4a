import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CompiledQuery } from "../../../../query/index.ts";
import { ArchiveIndex } from "../../../../src/archive/reading/archive-index.ts";
import { DependencyError } from "../../../../src/errors.ts";
import type { QueryRunner } from "../../../../src/storage/query-runner.ts";
import {
  DAY_MS,
  hotIds,
  makeOrganization,
  NOW_MS,
  testArchiver,
  unitsOf,
} from "../../../archive/archive-setup.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { queryRunner } from "../../../query/query-store.ts";
import { idAt, insertRows } from "../stored-rows.ts";
import { archiveApp } from "./archive-app.ts";
import { fortyDays } from "./forty-days.ts";

const temporary = temporaryDirectory();
let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
beforeEach(() => stores.clickhouse.command({ query: "TRUNCATE TABLE logs" }));
afterAll(async () => {
  await stores.close();
  temporary[Symbol.dispose]();
});

const SPAN = { from: "2026-01-01T00:00:00Z", to: "2026-11-30T00:00:00Z" };
const dayOf = (daysAgo: number): string => new Date(NOW_MS - daysAgo * DAY_MS).toISOString().slice(0, 10);

async function archived(perDay = 2, days = [40, 39, 20, 5]) {
  const organization = await makeOrganization(stores);
  const rows = fortyDays(organization, perDay, days);
  await insertRows(stores.clickhouse, rows);
  const { run, files } = testArchiver(stores, temporary.path, { defaultDays: 10 });
  await run();
  return { organization, rows, files, app: archiveApp(stores, files) };
}

async function jsonOf(response: Response) {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return JSON.parse(text);
}

test("no way of reading shows entries of another organisation, even when the ledger names a file of it", async () => {
  const { organization, rows, app } = await archived();
  const stranger = await makeOrganization(stores);
  for (const state of ["done", "committed"]) {
    await stores.postgres`DELETE FROM log_archive_units WHERE organization_id = ${stranger}`;
    await stores.postgres`
      INSERT INTO log_archive_units
        (organization_id, day, state, attempt, file, rows, bytes, checksum, min_ts, max_ts, seq, retry_at, created_at)
      SELECT ${stranger}, day, ${state}, attempt, file, rows, bytes, checksum, min_ts, max_ts, seq,
             now() + interval '1 day', created_at
      FROM log_archive_units WHERE organization_id = ${organization}`;
    expect((await app.page("search", stranger)).entries).toEqual([]);
    for (const query of ["logs | count", "logs | where id in ((logs | project id)) | count"])
      expect((await jsonOf(await app.query(stranger, { query }))).rows).toEqual([[0]]);
    for (const path of ["histogram", "facets", "patterns"])
      expect((await jsonOf(await app.get(path, stranger, SPAN))).total).toBe(0);
    expect((await jsonOf(await app.get("fields", stranger))).sampledEntries).toBe(0);
    expect(await (await app.get("export", stranger)).text()).toBe("");
    expect((await app.get(rows[0]?.id.toString() ?? "", stranger)).status).toBe(404);
    expect((await app.get(`${rows[0]?.id}/context`, stranger)).status).toBe(404);
  }
});

test("an entry of the log store is passed over for an archived one of the own organisation alone", async () => {
  const { organization, app } = await archived();
  const stranger = await makeOrganization(stores);
  await insertRows(stores.clickhouse, fortyDays(stranger, 2));
  await stores.postgres`
    INSERT INTO log_archive_units
      (organization_id, day, state, attempt, file, rows, bytes, checksum, min_ts, max_ts, seq, retry_at, created_at)
    SELECT ${stranger}, day, 'committed', attempt, file, rows, bytes, checksum, min_ts, max_ts, seq,
           now() + interval '1 day', created_at
    FROM log_archive_units WHERE organization_id = ${organization}`;
  expect((await jsonOf(await app.query(stranger, { query: "logs | count" }))).rows).toEqual([[20]]);
});

/** One file with 200 000 entries of one day, five a second, whose columns are SQL over their `number`. */
async function archivedDay(columns: Readonly<Record<string, string>>) {
  const organization = await makeOrganization(stores);
  await stores.clickhouse.command({
    query: `INSERT INTO logs (organization_id, ts, id, received_at, ${Object.keys(columns)})
      SELECT {organization: UInt32}, fromUnixTimestamp64Milli(toInt64({startMs: UInt64} + number * 200), 'UTC') AS at,
             {firstId: UInt64} + number, at, ${Object.values(columns)}
      FROM numbers(200000)`,
    query_params: {
      organization,
      startMs: NOW_MS - 40 * DAY_MS - 43_000_000,
      firstId: idAt(NOW_MS - 40 * DAY_MS).toString(),
    },
  });
  const { run, files } = testArchiver(stores, temporary.path);
  await run();
  return { organization, files, app: archiveApp(stores, files) };
}

describe("what is read", () => {
  test("are the files of the time that is asked for, whoever says so", async () => {
    const { organization, app } = await archived();
    const [from, to] = [40, 38].map((days) => new Date(NOW_MS - days * DAY_MS).toISOString());
    const whole = await jsonOf(await app.query(organization, { query: "logs | count" }));
    expect(whole.stats.archive.files).toBe(3);
    for (const asked of [
      { query: "logs | summarize count() by service", from, to },
      { query: `logs | where ts between (datetime(${from}) .. datetime(${to})) | count` },
      {
        query: `logs | extend a = 1 | where a == 1 and datetime(${to}) > TimeGenerated and ts >= datetime(${from})`,
      },
    ]) {
      const { stats } = await jsonOf(await app.query(organization, asked));
      expect([asked.query, stats.archive.files]).toEqual([asked.query, 2]);
      expect(stats.archive.rows).toBe(4);
    }
    const recent = await jsonOf(
      await app.query(organization, { query: `logs | where ts > datetime(${dayOf(1)}) | count` }),
    );
    expect(recent.stats.archive).toEqual({ files: 0, rows: 0, bytes: 0 });
  });

  test("is nothing of the archive where the log store has a page that is newer", async () => {
    const { organization, app } = await archived(6);
    const first = await app.page("search", organization, { limit: "2" });
    // Without a count, which the first page has.
    const second = await app.page("search", organization, { limit: "2", cursor: first.nextCursor ?? "" });
    expect([second.entries.length, second.stats.archive.files]).toEqual([2, 0]);
    const third = await app.page("search", organization, { limit: "9", cursor: second.nextCursor ?? "" });
    expect([third.entries.length, third.stats.archive.files]).toEqual([9, 3]);
  });

  test("are the parts of a file that can have what is asked for, and the columns that are asked for", async () => {
    const { organization, app } = await archivedDay({
      level: "'info'",
      message: "concat('request ', toString(cityHash64(number)), repeat(' and more', 10))",
      trace_id: "lower(hex(sipHash128(number)))",
    });
    const [unit] = await unitsOf(stores, organization);
    expect(unit?.rows).toBe(200_000);
    const [{ trace } = { trace: "" }] = await (
      await stores.clickhouse.query({
        query: "SELECT lower(hex(sipHash128(toUInt64(150000)))) AS trace",
        format: "JSONEachRow",
      })
    ).json<{ trace: string }>();
    const statsOf = async (query: string, range = {}) =>
      (await jsonOf(await app.query(organization, { query, ...range }))).stats;
    const all = await statsOf("logs | summarize max(message)");
    const narrow = await statsOf("logs | summarize max(message)", {
      from: new Date(NOW_MS - 40 * DAY_MS - 43_000_000).toISOString(),
      to: new Date(NOW_MS - 40 * DAY_MS - 42_990_000).toISOString(),
    });
    expect(narrow.rowsRead).toBeLessThanOrEqual(32_768);
    expect(narrow.bytesRead).toBeLessThan(all.bytesRead);
    const one = await statsOf(`logs | where traceId == '${trace}' | project message`);
    expect(one.rowsRead).toBeLessThanOrEqual(32_768);
    expect((await statsOf("logs | where traceId == 'ffff' | project message")).rowsRead).toBe(0);
    expect((await statsOf("logs | count")).bytesRead).toBeLessThan(all.bytesRead);
    // Neither the times of the whole file nor what else its entries have: both are in less than one reading of it all.
    const page = await app.page("search", organization, { limit: "100", query: "where level == 'info'" });
    expect(page.entries.map(({ id }) => BigInt(id) - idAt(NOW_MS - 40 * DAY_MS))).toEqual(
      Array.from({ length: 100 }, (_, i) => BigInt(199_999 - i)),
    );
    expect(page.stats.rowsRead).toBeLessThan(all.rowsRead);
  });

  test("are those of the page, whether it is where it was looked for first or far from there", async () => {
    const { organization, app } = await archivedDay({
      level: "if(number = 70000, 'error', 'info')",
      message: "toString(number)",
    });
    const page = await app.page("search", organization, { limit: "100", query: "where level == 'info'" });
    expect(page.entries.map(({ id }) => BigInt(id) - idAt(NOW_MS - 40 * DAY_MS))).toEqual(
      Array.from({ length: 100 }, (_, i) => BigInt(199_999 - i)),
    );
    const far = await app.page("search", organization, { limit: "100", query: "where level == 'error'" });
    expect(far.entries.map(({ id }) => BigInt(id) - idAt(NOW_MS - 40 * DAY_MS))).toEqual([70_000n]);
  });
});

/** Statements in the order in which they are asked; `before` may hold one up. */
function watchedRunner(
  before: (statement: { operation: string; readsFiles: boolean }) => Promise<void> | void,
) {
  const runner = queryRunner(stores);
  const seen = async (operation: string, { sql }: CompiledQuery): Promise<void> =>
    before({ operation, readsFiles: sql.includes("file(") });
  return {
    run: async (...[operation, compiled, ...rest]: Parameters<QueryRunner["run"]>) => {
      await seen(operation, compiled);
      return runner.run(operation, compiled, ...rest);
    },
    read: async (...[operation, compiled, ...rest]: Parameters<QueryRunner["read"]>) => {
      await seen(operation, compiled);
      return runner.read(operation, compiled, ...rest);
    },
  };
}

describe("a page of an archived time", () => {
  const range = {
    from: new Date(NOW_MS - 41 * DAY_MS).toISOString(),
    to: new Date(NOW_MS - 40 * DAY_MS - 20_000_000).toISOString(),
  };

  test("is looked for in files while the log store is asked", async () => {
    const { organization, files } = await archivedDay({ message: "toString(number)" });
    const filesAreAsked = Promise.withResolvers<void>();
    // What waits for the log store's answer would wait for ever.
    const runner = watchedRunner(({ operation, readsFiles }) => {
      if (operation !== "search") return undefined;
      if (readsFiles) filesAreAsked.resolve();
      return filesAreAsked.promise;
    });
    const page = await archiveApp(stores, files, { runner }).page("search", organization, {
      ...range,
      limit: "3",
    });
    expect(page.entries.length).toBe(3);
    const alone = await archiveApp(stores, files).page("archive", organization, { ...range, limit: "3" });
    expect(page.entriesText).toBe(alone.entriesText);
  });

  test("has its total from the ledger where whole files are meant", async () => {
    const { organization, files } = await archivedDay({
      message: "toString(number)",
      level: "if(number % 2 = 0, 'error', 'info')",
    });
    const counted: boolean[] = [];
    const runner = watchedRunner(({ operation, readsFiles }) => {
      if (operation === "count") counted.push(readsFiles);
    });
    const app = archiveApp(stores, files, { runner });
    const whole = await app.page("search", organization, { limit: "3" });
    expect([whole.total, whole.totalIsExact, counted.splice(0)]).toEqual([10_000, false, [false]]);
    // Of a filter and of a part of a file it says nothing.
    const filtered = await app.page("search", organization, { limit: "3", level: "error" });
    expect([filtered.total, counted.splice(0)]).toEqual([10_000, [false, true]]);
    const hour = { from: range.to, to: new Date(Date.parse(range.to) + 60_000).toISOString() };
    const part = await app.page("search", organization, { ...hour, limit: "3" });
    expect([part.total, part.totalIsExact, counted]).toEqual([301, true, [false, true]]);
  });
});

describe("at the border", () => {
  test("entries of one time are in the order of their ids, wherever they lie", async () => {
    const organization = await makeOrganization(stores);
    const ts = BigInt(NOW_MS - 12 * DAY_MS) * 1_000_000n;
    const entry = (receivedMs: number, i: number, level: string) => {
      return { organizationId: organization, ts, id: idAt(receivedMs, i), message: "m", level };
    };
    await insertRows(stores.clickhouse, [
      ...[0, 1, 2].map((i) => entry(NOW_MS - 12 * DAY_MS, i, "info")),
      // Received later and archived all the same.
      ...[0, 1, 2].map((i) => entry(NOW_MS - 10 * DAY_MS, i, "debug")),
    ]);
    await stores.postgres`
      INSERT INTO log_retention (organization_id, rules, updated_at)
      VALUES (${organization}, ${stores.postgres.json([{ service: null, level: "debug", days: 3 }])}, now())`;
    const { run, files } = testArchiver(stores, temporary.path);
    const app = archiveApp(stores, files);
    const idsOf = async (limit: number): Promise<string[]> => {
      const { entries } = await app.page("search", organization, { limit: String(limit) });
      return entries.map(({ id }) => id);
    };
    const all = await idsOf(6);
    expect(all).toHaveLength(6);
    await run();
    expect((await hotIds(stores, organization)).length).toBe(3);
    for (const limit of [1, 2, 3, 4, 5, 6]) expect(await idsOf(limit)).toEqual(all.slice(0, limit));
  });

  test("the first and the last entry of a file are within a range that ends with them", async () => {
    const { organization, rows, app } = await archived(3, [40]);
    const times = rows.map(({ ts }) => ts).toSorted((a, b) => (a < b ? -1 : 1));
    for (const ns of [times[0] ?? 0n, times.at(-1) ?? 0n]) {
      const moment = new Date(Number(ns / 1_000_000n)).toISOString();
      const { rows: counted } = await jsonOf(
        await app.query(organization, { query: "logs | count", from: moment, to: moment }),
      );
      expect(counted).toEqual([[rows.filter(({ ts }) => ts === ns).length]]);
      const text = `logs | where ts between (datetime(${moment}) .. datetime(${moment})) | count`;
      expect((await jsonOf(await app.query(organization, { query: text }))).rows).toEqual(counted);
    }
  });
});

describe("a file that cannot be read", () => {
  const DAMAGES: readonly [string, (path: string) => void][] = [
    ["is missing", (path) => rmSync(path)],
    ["is damaged", (path) => writeFileSync(path, Buffer.alloc(5000, 7))],
    ["is empty", (path) => writeFileSync(path, "")],
  ];
  test.each(DAMAGES)("because it %s makes answers partial, which name its day", async (_name, damage) => {
    const { organization, rows, app } = await archived();
    const unit = (await unitsOf(stores, organization)).find(({ day }) => day === dayOf(39));
    damage(join(temporary.path, "archive", unit?.file ?? ""));
    const warning = {
      code: "ARCHIVED_DAY_UNREADABLE",
      day: dayOf(39),
      message: `Archived entries received on ${dayOf(39)} cannot be read.`,
    };
    const page = await app.page("search", organization, { limit: "1000" });
    expect([page.entries.length, page.partial, page.warnings]).toEqual([rows.length - 2, true, [warning]]);
    const query = await jsonOf(
      await app.query(organization, { query: "logs | summarize max(message), count()" }),
    );
    expect([query.rows[0][1], query.partial, query.warnings]).toEqual([rows.length - 2, true, [warning]]);
    for (const path of ["histogram", "facets", "patterns"]) {
      const { total, partial, warnings } = await jsonOf(
        await app.get(path, organization, { ...SPAN, q: "e" }),
      );
      expect([path, partial, warnings]).toEqual([path, true, [warning]]);
      expect(total).toBeLessThan(rows.length);
    }
    const recent = await app.page("search", organization, {
      from: new Date(NOW_MS - 9 * DAY_MS).toISOString(),
    });
    expect([recent.partial, recent.warnings]).toEqual([false, []]);
    expect((await app.get("export", organization, SPAN)).status).toBe(503);
    const lost = rows.find(({ id }) => id === idAt(NOW_MS - 39 * DAY_MS));
    expect((await app.get(lost?.id.toString() ?? "", organization)).status).toBe(503);
  });
});

test("while the ledger does not answer the log store is read, and answers say what may be missing", async () => {
  const { organization, files } = await archived();
  const away = new DependencyError("postgres", "no answer in time", { retryable: true });
  class SilentIndex extends ArchiveIndex {
    override extent(): never {
      throw away;
    }
  }
  const app = archiveApp(stores, files, { index: new SilentIndex(stores.postgres, 0) });
  const page = await app.page("search", organization, { limit: "1000" });
  expect(page.entries).toHaveLength(2);
  expect([page.partial, page.warnings.map(({ code }) => code)]).toEqual([true, ["ARCHIVE_NOT_ASKED"]]);
});

test("an answer from the log store alone waits for the ledger only when it was asked too long ago", async () => {
  const organization = await makeOrganization(stores);
  for (const [trustedMs, questions] of [
    [Number.POSITIVE_INFINITY, 0],
    [0, 1],
  ] as const) {
    let asked = 0;
    class CountingIndex extends ArchiveIndex {
      override isCurrent(...version: Parameters<ArchiveIndex["isCurrent"]>): Promise<boolean> {
        asked += 1;
        return super.isCurrent(...version);
      }
    }
    const app = archiveApp(stores, null, { index: new CountingIndex(stores.postgres, trustedMs) });
    expect((await app.page("search", organization, { limit: "10" })).partial).toBe(false);
    expect([trustedMs, asked]).toEqual([trustedMs, questions]);
  }
});

test("more files than a statement may open are refused with advice", async () => {
  const organization = await makeOrganization(stores);
  await stores.postgres`
    INSERT INTO log_archive_units
      (organization_id, day, state, attempt, file, rows, bytes, checksum, min_ts, max_ts, seq, retry_at, created_at)
    SELECT ${organization}, date '2020-01-01' + n, 'done', n, '1/2020-01-01/' || n || '-0123456789abcdef.parquet', 1, 1, '0',
           n::bigint * 1000000000, n::bigint * 1000000000 + 1, n, now(), now() FROM generate_series(1, 1001) n`;
  const app = archiveApp(stores, null);
  const response = await app.query(organization, { query: "logs | count" });
  expect(response.status).toBe(400);
  const refused: { code: string; error: string } = JSON.parse(await response.text());
  expect([refused.code, refused.error]).toEqual([
    "QUERY_TOO_EXPENSIVE",
    "The query reads more than 1000 archived files; narrow the time range.",
  ]);
});
