import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
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
import type { FoundEntry, FoundPage } from "../log-app.ts";
import { idAt, insertRows, type StoredRow } from "../stored-rows.ts";
import { archiveApp, type Page } from "./archive-app.ts";

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

const LEVELS = ["", "trace", "debug", "info", "warn", "error", "fatal"];
const MESSAGES = [
  "payment 17 declined by 192.0.2.17",
  "Größe überschritten: 12 €, 日本語, 👩‍💻, \u0000 and \u2028",
  "",
  "100% of {braces} and 'quotes' and \\ and \"double\" ones",
];

/** Entries of every kind, received on `days` days, some with a time of their own that is far from it. */
function oddEntries(organizationId: number, days: readonly number[], perDay: number): StoredRow[] {
  return days.flatMap((daysAgo, day) =>
    Array.from({ length: perDay }, (_, i): StoredRow => {
      const receivedMs = NOW_MS - daysAgo * DAY_MS + i * 1000;
      const drift = i % 5 === 0 ? BigInt(day + 1) * -3n * 86_400_000_000_000n : 0n;
      return {
        organizationId,
        ts: BigInt(receivedMs) * 1_000_000n + BigInt((i * 123_456_789) % 1_000_000) + drift,
        id: idAt(receivedMs, i),
        message: `${MESSAGES[i % MESSAGES.length]}`,
        level: LEVELS[i % LEVELS.length] ?? "",
        service: ["", "api", "web-größe"][i % 3] ?? "",
        source: i % 4 === 0 ? "drain" : "",
        host: i % 2 === 0 ? "host-1.example.com" : "",
        traceId: i % 3 === 0 ? "4bf92f3577b34da6a3ce929d0e0e4736" : "",
        spanId: i % 3 === 0 ? "00f067aa0ba902b7" : "",
        eventId: i % 7 === 0 ? `event-${daysAgo}-${i}` : "",
        attrs: [
          ["status", String(200 + (i % 4) * 100)],
          ["user.name", "Ana ☃ \\ ' \""],
          ["nested", '{"a":[1,2.50,{"b":null}],"big":12345678901234567890}'],
          ["nothing", ""],
        ],
        jsonKeys: ["status", "nested", "nothing"],
      };
    }),
  );
}

async function archived(days: readonly number[], perDay: number) {
  const organization = await makeOrganization(stores);
  const rows = oddEntries(organization, days, perDay);
  await insertRows(stores.clickhouse, rows);
  const { run, files } = testArchiver(stores, temporary.path);
  return { organization, rows, files, app: archiveApp(stores, files), archive: run };
}

test("the archive answers byte for byte what the log store answered before, whatever is asked", async () => {
  const { organization, rows, app, archive } = await archived([40, 42, 60], 28);
  const from = new Date(NOW_MS - 45 * DAY_MS).toISOString();
  const questions: Record<string, string>[] = [
    {},
    { limit: "7" },
    { level: "error" },
    { service: "web-größe" },
    { q: "payment -declined" },
    { q: '"überschritten: 12 €"' },
    { q: "braces OR 日本語", limit: "3" },
    { from },
    { to: from },
    { from, to: new Date(NOW_MS - 41 * DAY_MS).toISOString(), limit: "1000" },
    { query: "attrs.status >= 400 and service == 'api'" },
    { query: "where attrs['user.name'] has 'Ana' | where level in ('error', 'fatal')" },
    { query: "where traceId in ((logs | where level == 'fatal' | project traceId))" },
    { query: "event_id startswith 'event-4'" },
    { query: "receivedAt > datetime(2026-10-11) and nested.a[0] == 1" },
  ];
  const before: Page[] = [];
  for (const parameters of questions) before.push(await app.page("search", organization, parameters));
  await archive();
  expect(await hotIds(stores, organization)).toEqual([]);
  expect(await unitsOf(stores, organization)).toHaveLength(3);
  for (const [i, parameters] of questions.entries()) {
    const after = await app.page("archive", organization, parameters);
    const expected = before[i];
    const about = JSON.stringify(parameters);
    expect([about, after.entriesText]).toEqual([about, expected?.entriesText ?? ""]);
    expect([about, after.total, after.totalIsExact, after.partial]).toEqual([
      about,
      expected?.total ?? -1,
      true,
      false,
    ]);
    expect(after.nextCursor === null).toBe(expected?.nextCursor === null);
  }
  expect(before[0]?.total).toBe(rows.length);
});

test("paging to the end shows every entry once, in the order of a search, over many files", async () => {
  const { organization, rows, app, archive } = await archived([35, 36, 38, 44, 55], 13);
  const whole = await app.page("search", organization, { limit: "1000" });
  await archive();
  const paged: FoundEntry[] = [];
  let cursor: string | null = null;
  do {
    const parameters: Record<string, string> = { limit: "8", ...(cursor !== null && { cursor }) };
    const page = await app.page("archive", organization, parameters);
    expect([page.total, page.totalIsExact]).toEqual([rows.length, true]);
    paged.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== null);
  expect(paged).toEqual(whole.entries);
});

test("what is archived between two pages is not on later ones", async () => {
  const { organization, app, archive } = await archived([40], 12);
  await archive();
  const first = await app.page("archive", organization, { limit: "5" });
  await insertRows(stores.clickhouse, oddEntries(organization, [70], 4));
  await archive();
  const rest = await app.page("archive", organization, { limit: "100", cursor: first.nextCursor ?? "" });
  expect(rest.entries).toHaveLength(7);
  expect((await app.page("archive", organization, { limit: "100" })).entries).toHaveLength(16);
});

test("a cursor of one search is none of the other", async () => {
  const { organization, app, archive } = await archived([40], 12);
  const hot = await app.page("search", organization, { limit: "5" });
  await archive();
  const cold = await app.page("archive", organization, { limit: "5" });
  expect((await app.get("archive", organization, { limit: "5", cursor: hot.nextCursor ?? "" })).status).toBe(
    400,
  );
  expect((await app.get("search", organization, { limit: "5", cursor: cold.nextCursor ?? "" })).status).toBe(
    400,
  );
});

describe("another organisation's archive", () => {
  test("is out of reach, whatever is asked", async () => {
    const { organization, app, archive } = await archived([40, 41], 9);
    const stranger = await makeOrganization(stores);
    await insertRows(stores.clickhouse, oddEntries(stranger, [43], 2));
    await archive();
    const [unit] = await unitsOf(stores, organization);
    const file = unit?.file ?? "";
    const questions: Record<string, string>[] = [
      {},
      { query: `organization_id == ${organization}` },
      { query: "where true or true" },
      { query: "union logs, (logs | where true) | where true" },
      { query: "where traceId in ((logs | project traceId))" },
      { query: `where message == "') OR organization_id = ${organization} --"` },
      { q: `"${file}" OR payment OR braces` },
      { service: `api' OR organization_id = ${organization} OR '1'='1` },
    ];
    for (const parameters of questions) {
      const response = await app.get("archive", stranger, { ...parameters, limit: "1000" });
      if (response.status === 400) continue;
      expect(response.status).toBe(200);
      const found: FoundPage = JSON.parse(await response.text());
      expect(found.entries.length).toBeLessThanOrEqual(2);
      expect(found.total).toBeLessThanOrEqual(2);
    }
    expect((await app.page("archive", stranger)).entries).toHaveLength(2);
  });

  test("stays out of reach even when the ledger names a file of it", async () => {
    const { organization, app, archive } = await archived([40], 9);
    const stranger = await makeOrganization(stores);
    await archive();
    await stores.postgres`
      INSERT INTO log_archive_units
        (organization_id, day, state, attempt, file, rows, bytes, checksum, min_ts, max_ts, seq, retry_at, created_at)
      SELECT ${stranger}, day, state, attempt, file, rows, bytes, checksum, min_ts, max_ts, seq, retry_at, created_at
      FROM log_archive_units WHERE organization_id = ${organization}`;
    expect((await app.page("archive", stranger)).entries).toEqual([]);
  });
});

test("a file that is missing makes the answer partial, and what is there is found", async () => {
  const { organization, app, archive } = await archived([40, 41], 6);
  await archive();
  const [unit] = await unitsOf(stores, organization);
  rmSync(join(temporary.path, "archive", unit?.file ?? ""));
  const page = await app.page("archive", organization);
  expect([page.entries.length, page.partial]).toEqual([6, true]);
  expect(app.logged().some(({ msg }) => msg === "archived files are missing")).toBe(true);
});

test("without a place for the archive nothing is found, and the answer says that it is partial", async () => {
  const { organization, archive } = await archived([40], 6);
  await archive();
  const page = await archiveApp(stores, null).page("archive", organization);
  expect([page.entries.length, page.partial]).toEqual([0, true]);
  const empty = await makeOrganization(stores);
  expect((await archiveApp(stores, null).page("archive", empty)).partial).toBe(false);
});
