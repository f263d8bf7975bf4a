import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { ArchiveStep } from "../../../../src/archive/steps.ts";
import type { QueryRunner } from "../../../../src/storage/query-runner.ts";
import { hotIds, makeOrganization, testArchiver, unitsOf } from "../../../archive/archive-setup.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { queryRunner } from "../../../query/query-store.ts";
import { insertRows, type StoredRow } from "../stored-rows.ts";
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

type App = ReturnType<typeof archiveApp>;

async function forty(
  perDay: number,
  days?: readonly number[],
): Promise<{ organization: number; rows: StoredRow[] }> {
  const organization = await makeOrganization(stores);
  const rows = fortyDays(organization, perDay, days);
  await insertRows(stores.clickhouse, rows);
  return { organization, rows };
}

async function jsonOf(response: Response) {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return JSON.parse(text);
}

/** What several ways of reading say of all entries: each has to be every id, once, and nothing missing. */
async function readEverything(app: App, organization: number): Promise<{ name: string; ids: string[] }[]> {
  const search = await app.page("search", organization, { limit: "1000" });
  expect(search.partial).toBe(false);
  const query = await jsonOf(await app.query(organization, { query: "logs | project tostring(id)" }));
  expect(query.partial).toBe(false);
  const histogram = await jsonOf(await app.get("histogram", organization, { groupBy: "service" }));
  expect(histogram.partial).toBe(false);
  expect(histogram.total).toBe(search.entries.length);
  const exported = await (await app.get("export", organization)).text();
  return [
    { name: "search", ids: search.entries.map(({ id }) => id) },
    { name: "query", ids: query.rows.map(([id]: [unknown]) => String(id)) },
    {
      name: "export",
      ids: exported.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).id])),
    },
  ];
}

const sorted = (ids: readonly string[]): string[] => [...ids].sort();

test("every entry is read once while the mover is at work", async () => {
  const { organization, rows } = await forty(6);
  const expected = sorted(rows.map(({ id }) => id.toString()));
  const { files } = testArchiver(stores, temporary.path);
  const app = archiveApp(stores, files);
  let isMoving = true;
  const moving = (async () => {
    for (const days of [30, 15, 3]) await testArchiver(stores, temporary.path, { defaultDays: days }).run();
  })().finally(() => {
    isMoving = false;
  });
  let rounds = 0;
  for (; isMoving || rounds === 0; rounds += 1)
    for (const { name, ids } of await readEverything(app, organization))
      expect({ name, ids: sorted(ids) }).toEqual({ name, ids: expected });
  await moving;
  for (const { name, ids } of await readEverything(app, organization))
    expect({ name, ids: sorted(ids) }).toEqual({ name, ids: expected });
  expect((await hotIds(stores, organization)).length).toBeLessThan(rows.length);
});

describe("where the mover stops", () => {
  const steps: readonly ArchiveStep[] = ["written", "verified", "committed", "deleted", "finished"];
  test.each(steps)("after `%s` every entry is read once", async (stopAt) => {
    const { organization, rows } = await forty(2, [40, 20, 5]);
    const stop = testArchiver(stores, temporary.path, {
      defaultDays: 10,
      onStep: (step, unit) => {
        if (step === stopAt && unit.organizationId === organization) throw new Error("stopped");
      },
    });
    await stop.run();
    const app = archiveApp(stores, stop.files);
    const expected = sorted(rows.map(({ id }) => id.toString()));
    for (const { name, ids } of await readEverything(app, organization))
      expect({ name, ids: sorted(ids) }).toEqual({ name, ids: expected });
    const counted = await jsonOf(await app.query(organization, { query: "logs | count" }));
    expect(counted.rows).toEqual([[rows.length]]);
  });
});

/** A runner that lets something happen before a statement goes out, once for each name. */
function interrupted(
  before: Readonly<Record<string, () => Promise<void>>>,
): Pick<QueryRunner, "run" | "read"> {
  const runner = queryRunner(stores);
  const waiting = new Map(Object.entries(before));
  const interrupt = async (operation: string): Promise<void> => {
    const act = waiting.get(operation);
    waiting.delete(operation);
    await act?.();
  };
  return {
    run: async (operation, ...rest) => {
      await interrupt(operation);
      return runner.run(operation, ...rest);
    },
    read: async (operation, ...rest) => {
      await interrupt(operation);
      return runner.read(operation, ...rest);
    },
  };
}

test("entries that leave the log store between the list of files and the statement are not missed", async () => {
  for (const [operation, path] of [
    ["search", "search"],
    ["histogram", "histogram"],
    ["facets", "facets"],
    ["patterns", "patterns"],
    ["export", "export"],
    ["entry", "entry"],
    ["query", "query"],
  ] as const) {
    const { organization, rows } = await forty(1, [40, 20, 5]);
    const { run, files } = testArchiver(stores, temporary.path, { defaultDays: 10 });
    const runner = interrupted({ [operation]: run });
    const app = archiveApp(stores, files, { runner });
    const span = { from: "2026-01-01T00:00:00Z", to: "2026-11-30T00:00:00Z" };
    const oldest = rows[0]?.id.toString() ?? "";
    const response =
      path === "query"
        ? app.query(organization, { query: "logs | count" })
        : path === "entry"
          ? app.get(oldest, organization)
          : app.get(path, organization, path === "facets" ? { ...span, fields: "level" } : span);
    const text = await (await response).text();
    if (path === "export") expect(text.trimEnd().split("\n")).toHaveLength(rows.length);
    else if (path === "entry") expect(JSON.parse(text).id).toBe(oldest);
    else if (path === "query") expect(JSON.parse(text).rows).toEqual([[rows.length]]);
    else expect([path, JSON.parse(text).total, JSON.parse(text).partial]).toEqual([path, rows.length, false]);
    expect((await unitsOf(stores, organization)).length).toBeGreaterThan(1);
  }
});

test("an answer says that it may lack entries when they moved at every try", async () => {
  const { organization } = await forty(1, [40, 20, 5]);
  const { run, files } = testArchiver(stores, temporary.path, { defaultDays: 10 });
  await run();
  const runner = queryRunner(stores);
  const move = async (): Promise<void> => {
    await stores.postgres`
      UPDATE log_archive_versions SET version = version + 1 WHERE organization_id = ${organization}`;
  };
  const app = archiveApp(stores, files, {
    runner: {
      run: (...statement) => move().then(() => runner.run(...statement)),
      read: (...statement) => move().then(() => runner.read(...statement)),
    },
  });
  const page = await app.page("search", organization, { limit: "10" });
  expect(page).toMatchObject({ partial: true, warnings: [{ code: "ENTRIES_MOVING", day: null }] });
});

test("a page behind a cursor goes on where the first one ended when entries have moved in between", async () => {
  const { organization, rows } = await forty(4, [40, 20, 8, 5]);
  const { run, files } = testArchiver(stores, temporary.path, { defaultDays: 6 });
  const app = archiveApp(stores, files);
  const whole = await app.page("search", organization, { limit: "1000" });
  const first = await app.page("search", organization, { limit: "9" });
  await run();
  const rest = await app.page("search", organization, { limit: "1000", cursor: first.nextCursor ?? "" });
  expect([...first.entries, ...rest.entries]).toEqual(whole.entries);
  expect(whole.entries).toHaveLength(rows.length);
});
