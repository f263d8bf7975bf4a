/** Error groups over real stores without a server around them: entries are stored and sealed when a test says so. */
import { Registry } from "prom-client";
import { firstLogIdAt, LOG_ID_STEP } from "../../../ingest/index.ts";
import { INTERACTIVE_BUDGET } from "../../../query/index.ts";
import { Changes } from "../../../src/changes/changes.ts";
import { logErrorDomain } from "../../../src/domains/log-errors/domain.ts";
import { ErrorFinder } from "../../../src/domains/log-errors/finding/error-finder.ts";
import type { GroupBounds } from "../../../src/domains/log-errors/finding/note-errors.ts";
import { readLogEntry } from "../../../src/domains/logs/entry.ts";
import { logSearchRoutes } from "../../../src/domains/logs/search-routes.ts";
import { PostgresLedger } from "../../../src/http/ledger/request-ledger.ts";
import { createLogger } from "../../../src/log.ts";
import type { SealFinder } from "../../../src/rules/seal/finder.ts";
import { sealMetrics } from "../../../src/rules/seal/seal-metrics.ts";
import { Sealer } from "../../../src/rules/seal/sealer.ts";
import { StoredMarks } from "../../../src/rules/seal/stored-marks.ts";
import { takeNumber } from "../../../src/storage/instance/instance-store.ts";
import { testApp } from "../../harness/http-app.ts";
import { TEST_BOX } from "../../harness/ledger.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import { KEEPS_NOTHING } from "../../harness/nothing-kept.ts";
import type { TestStores } from "../../harness/stores.ts";
import { insertRows, type StoredRow } from "../logs/stored-rows.ts";

export const PATH = "/api/v1/log-errors";
export const HOUR_MS = 3_600_000;
export const NEVER = new AbortController().signal;

export interface Entry extends Partial<Omit<StoredRow, "id" | "ts" | "organizationId">> {
  /** When it says it was, in milliseconds since 1970; now when absent. */
  readonly atMs?: number;
}

/** Where a seal ends before it is done. */
type Death = "no" | "before the insert" | "behind the insert";

export type ErrorServer = Awaited<ReturnType<typeof errorServer>>;

export async function errorServer(stores: TestStores, bounds?: GroupBounds) {
  const sql = stores.postgres;
  const clock = { nowMs: Math.floor(Date.now() / HOUR_MS) * HOUR_MS };
  const now = () => clock.nowMs;
  const death: { at: Death } = { at: "no" };
  const signals = {
    endpoint: stores.clickhouseEndpoint,
    settle: async () => {
      if (death.at === "behind the insert") throw new Error("died behind the insert");
    },
  };
  const ranges = logRanges(stores);
  const cursorKey = new Uint8Array(32);
  const budget = INTERACTIVE_BUDGET;
  const { routes, housekeeping } = logErrorDomain({
    ...{ sql, signals, cursorKey, now },
    readEntry: (caller, id) => readLogEntry({ ranges, budget }, caller, id),
  });
  const search = logSearchRoutes({ ranges, budget, cursorKey, now, kept: KEEPS_NOTHING.kept });
  const changes = new Changes({ sql, now, subscriptions: [] });
  const app = testApp([...routes, ...search], {
    ledger: new PostgresLedger({ sql, box: TEST_BOX, changes }),
  });
  const holder = { id: crypto.randomUUID(), place: crypto.randomUUID() };
  const instance = (await takeNumber(sql, holder, clock.nowMs)) ?? 0;
  const marks = new StoredMarks();
  let nextId = 0n;
  const finder = new ErrorFinder(stores.clickhouseEndpoint, bounds);
  const mortal: SealFinder = {
    ...finder,
    find: async (range, signal) => {
      const found = await finder.find(range, signal);
      if (death.at === "before the insert") throw new Error("died before the insert");
      return found;
    },
  };
  const sealer = new Sealer({
    ...{ sql, signals, marks, now, log: createLogger("silent") },
    finders: [mortal],
    sealing: { holder: holder.id, place: holder.place },
    isRecovered: () => true,
    isDrained: () => true,
    metrics: sealMetrics(new Registry()),
  });

  /** The ids of the entries, which are stored and not yet looked at. */
  const store = async (organizationId: number, ...entries: readonly Entry[]): Promise<string[]> => {
    const floor = firstLogIdAt(clock.nowMs, instance);
    if (nextId < floor) nextId = floor;
    const rows = entries.map(({ atMs = clock.nowMs, ...entry }): StoredRow => {
      const id = nextId;
      nextId += BigInt(LOG_ID_STEP);
      const ts = BigInt(atMs) * 1_000_000n;
      return { message: "failed", level: "error", service: "checkout", ...entry, organizationId, id, ts };
    });
    await insertRows(stores.clickhouse, rows);
    for (const { id } of rows) marks.stored(id);
    return rows.map(({ id }) => String(id));
  };
  const seal = async (): Promise<void> => {
    while (await sealer.workOnce(NEVER));
  };
  const send = async (
    organizationId: number,
    method: string,
    path: string,
    json?: unknown,
    as = "member/*",
  ) => {
    const response = await app.send(method, path, {
      as: `${as}/1/${organizationId}`,
      ...(json !== undefined && { json }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  };
  return {
    ...{ sql, clock, store, seal, sealer, send, death, housekeeping },
    /** Stores the entries and looks at them. */
    take: async (organizationId: number, ...entries: readonly Entry[]): Promise<string[]> => {
      const ids = await store(organizationId, ...entries);
      await seal();
      return ids;
    },
    list: async (organizationId: number, query = "status=all") =>
      (await send(organizationId, "GET", `${PATH}?${query}`)).body,
    /** The one group that there is. */
    single: async (organizationId: number) => {
      const { body } = await send(organizationId, "GET", `${PATH}?status=all`);
      if (body.items.length !== 1) throw new Error(`there are ${body.items.length} groups`);
      return (await send(organizationId, "GET", `${PATH}/${body.items[0].id}`)).body;
    },
  };
}

export async function makeOrganization({ postgres }: TestStores): Promise<number> {
  const [row] = await postgres<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('acme', now()) RETURNING id`;
  return row?.id ?? 0;
}
