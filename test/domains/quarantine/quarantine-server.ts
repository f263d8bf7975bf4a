import { join } from "node:path";
import { tryParseJson } from "../../../ingest/decode/json-body.ts";
import {
  type Ingest,
  isJsonObject,
  openIngest,
  type RecordDecoder,
  type RecordWriter,
} from "../../../ingest/index.ts";
import { Quarantine } from "../../../src/domains/quarantine/quarantine.ts";
import { ReplayClaims } from "../../../src/domains/quarantine/replay/replay-claims.ts";
import { Replayer, type ReplayerOptions } from "../../../src/domains/quarantine/replay/replayer.ts";
import { createLogger } from "../../../src/log.ts";
import { createMetrics } from "../../../src/server/metrics.ts";
import { createClickHouseLogStore } from "../../../src/storage/clickhouse-log-store.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import type { TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

const log = createLogger("silent");
const NO_SIGNAL = new AbortController().signal;
const utf8 = new TextEncoder();

export const BOUNDS = { maxRecords: 10_000, maxBytes: 64 * 2 ** 20 };

/** Reads JSON objects with a `message`; once it is mended, also those that have it under `text`. */
export class MendableDecoder implements RecordDecoder {
  readonly format = "mendable";
  isMended = false;

  decode(body: Uint8Array, writer: RecordWriter): void {
    for (const [index, line] of new TextDecoder().decode(body).split("\n").entries()) {
      if (line !== "") this.#decodeLine(line, `line ${index + 1}`, writer);
    }
  }

  #decodeLine(line: string, place: string, writer: RecordWriter): void {
    const parsed = tryParseJson(line, 8);
    if (!parsed.ok || !isJsonObject(parsed.value)) {
      writer.reject({ place, reason: "is no JSON object", raw: line });
      return;
    }
    const { message, text, time, event_id: eventId, fault } = parsed.value;
    if (fault === true) throw new TypeError("the decoder has a fault");
    const said = message ?? (this.isMended ? text : undefined);
    if (typeof said !== "string") {
      writer.reject({ place, reason: "has no message", raw: line });
      return;
    }
    writer.begin();
    writer.message(said);
    if (typeof time === "string") writer.timeIso(time);
    if (typeof eventId === "string") writer.eventId(eventId);
    writer.end();
  }
}

interface ServerOptions {
  readonly stores: TestStores;
  readonly decoder: RecordDecoder;
  readonly directory?: string;
  readonly now?: () => number;
  readonly bounds?: typeof BOUNDS;
  readonly step?: ReplayerOptions["step"];
  /** The log store takes nothing before. */
  readonly flushAfter?: Promise<void>;
  /** Stands between the replayer and the pipeline. */
  readonly intercept?: (ingest: Ingest["ingest"]) => Ingest["ingest"];
}

/** What one instance of the server has of the quarantine, with a write-ahead log of its own. */
export async function openQuarantineServer(options: ServerOptions) {
  const { stores, decoder, now = Date.now } = options;
  const directory = options.directory === undefined ? temporaryDirectory() : null;
  const sql = createPostgres(stores.postgresUrl, { maxConnections: 4 });
  const metrics = createMetrics();
  const store = createClickHouseLogStore(stores.clickhouseEndpoint);
  const ingest = await openIngest({
    directory: join(options.directory ?? directory?.path ?? "", "wal"),
    store: {
      ...store,
      insert: async (...insert) => {
        await options.flushAfter;
        await store.insert(...insert);
      },
    },
    observer: SILENT_OBSERVER,
    instance: 1,
    walMaxBytes: 64 * 2 ** 20,
    maxInFlightBytes: 16 * 2 ** 20,
    dedupeWindowMs: 600_000,
    dedupeMaxKeys: 100_000,
    now,
    onFatal: (error) => {
      throw error;
    },
  });
  const { clickhouse } = stores;
  const claims = new ReplayClaims({
    sql,
    clickhouse,
    wal: ingest.wal,
    metrics: metrics.quarantine,
    log,
  });
  const replayer = new Replayer({
    sql,
    ingest: { ingest: options.intercept?.(ingest.ingest) ?? ingest.ingest },
    claims,
    decoders: {
      decoderOf: async (_organizationId, { format }) => (format === decoder.format ? decoder : null),
    },
    metrics: metrics.quarantine,
    log,
    ...(options.step !== undefined && { step: options.step }),
  });
  return {
    sql,
    ingest,
    metrics,
    claims,
    replayer,
    quarantine: new Quarantine({ sql, bounds: options.bounds ?? BOUNDS, metrics: metrics.quarantine, now }),
    replay: (organizationId: number, filter: Parameters<Replayer["replay"]>[1] = {}) =>
      replayer.replay(organizationId, filter, NO_SIGNAL),
    dryRun: (organizationId: number, filter: Parameters<Replayer["replay"]>[1] = {}) =>
      replayer.dryRun(organizationId, filter, NO_SIGNAL),
    recover: () => claims.recoverOnce(NO_SIGNAL),
    close: async () => {
      await ingest.close(5_000);
      await sql.end({ timeout: 1 });
      directory?.[Symbol.dispose]();
    },
  };
}
export type QuarantineServer = Awaited<ReturnType<typeof openQuarantineServer>>;

const SILENT_OBSERVER = {
  decoded: () => undefined,
  committed: () => undefined,
  commitFailed: () => undefined,
  inserted: () => undefined,
  insertFailed: () => undefined,
  releaseFailed: () => undefined,
};

/** A new organisation's id. */
export async function newOrganization(stores: TestStores): Promise<number> {
  const [row] = await stores.postgres<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('quarantined', now()) RETURNING id`;
  return row?.id ?? 0;
}

/** One request's records as a receiver hands them over; each text is one. */
export function batchOf(
  organizationId: number,
  texts: readonly (string | Uint8Array)[],
  more: { requestIdentity?: string; sourceKey?: string; format?: string; reason?: string } = {},
) {
  return {
    organizationId,
    format: more.format ?? "mendable",
    sourceKey: more.sourceKey ?? null,
    requestIdentity: more.requestIdentity ?? null,
    records: texts.map((text, index) => ({
      place: `line ${index + 1}`,
      reason: more.reason ?? "has no message",
      raw: typeof text === "string" ? utf8.encode(text) : text,
    })),
  };
}

/** The organisation's records by state. */
export async function states(stores: TestStores, organizationId: number): Promise<Record<string, number>> {
  const rows = await stores.postgres<{ state: string; records: number }[]>`
    SELECT state, count(*)::integer AS records FROM quarantine_records
    WHERE organization_id = ${organizationId} GROUP BY state`;
  return Object.fromEntries(rows.map(({ state, records }) => [state, records]));
}

/** What the organisation's usage says, and what it should say. */
export async function usage(stores: TestStores, organizationId: number) {
  const [told] = await stores.postgres<{ records: number; bytes: number }[]>`
    SELECT records::integer, bytes::integer FROM quarantine_usage WHERE organization_id = ${organizationId}`;
  const [counted] = await stores.postgres<{ records: number; bytes: number }[]>`
    SELECT count(*)::integer AS records, coalesce(sum(length(raw)), 0)::integer AS bytes FROM quarantine_records
    WHERE organization_id = ${organizationId} AND state <> 'replayed'`;
  return { told, counted };
}

interface StoredEntry {
  readonly message: string;
  readonly ts: string;
  readonly event_id: string;
  readonly attrs: Record<string, string>;
}

/** The organisation's entries in the log store, by message. */
export async function storedEntries(stores: TestStores, organizationId: number): Promise<StoredEntry[]> {
  const result = await stores.clickhouse.query({
    query: `SELECT message, toString(ts) AS ts, event_id, attrs FROM logs
            WHERE organization_id = {organizationId: UInt32} ORDER BY message`,
    query_params: { organizationId },
    format: "JSONEachRow",
  });
  return result.json<StoredEntry>();
}
