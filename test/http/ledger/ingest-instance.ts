import { join } from "node:path";
import { type Ingest, type LogStore, openIngest } from "../../../ingest/index.ts";
import { Changes } from "../../../src/changes/changes.ts";
import { logIngestRoutes } from "../../../src/domains/logs/ingest-routes.ts";
import { elasticsearchRoutes } from "../../../src/domains/logs/receive/elasticsearch/routes.ts";
import { lokiRoutes } from "../../../src/domains/logs/receive/loki/routes.ts";
import { otlpRoutes } from "../../../src/domains/logs/receive/otlp/routes.ts";
import { platformRoutes } from "../../../src/domains/logs/receive/platforms/routes.ts";
import { splunkRoutes } from "../../../src/domains/logs/receive/splunk/routes.ts";
import { DependencyError } from "../../../src/errors.ts";
import { PostgresLedger } from "../../../src/http/ledger/request-ledger.ts";
import { StoredRequests } from "../../../src/http/ledger/stored-requests.ts";
import { createLogger } from "../../../src/log.ts";
import { LogReceiver } from "../../../src/receive/receive-records.ts";
import { createClickHouseLogStore } from "../../../src/storage/clickhouse-log-store.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { principalOf } from "../../audit/audited-organization.ts";
import { eventually } from "../../harness/eventually.ts";
import { testApp } from "../../harness/http-app.ts";
import { TEST_BOX, testCaps } from "../../harness/ledger.ts";
import { NO_RULES } from "../../harness/no-rules.ts";
import type { TestStores } from "../../harness/stores.ts";

export interface IngestInstanceOptions {
  /** Where its write-ahead log is; of one instance at a time. */
  readonly directory: string;
  readonly organizationId: number;
  readonly instance: number;
  readonly holdMs?: number;
  /** Of this instance alone. */
  readonly now?: () => number;
  /** Nothing gets into the log store: what is taken in stays in the write-ahead log. */
  readonly isStoreAway?: boolean;
}

/** One instance of a server that takes logs in; several share the stores. */
export interface IngestInstance {
  /** Sends entries with these messages under a key. */
  post(key: string, messages: readonly string[]): Promise<Response>;
  send(path: string, key: string, body: string): Promise<Response>;
  /** Answers what other instances have asked. */
  settle(): Promise<unknown>;
  /** Where requests from now on get stuck: before their entries are stored, or after. */
  stuck: "before" | "after" | null;
  /** Requests that are stuck. */
  readonly stuckRequests: number;
  /** What storing throws instead of storing anything. */
  refusal: Error | null;
  /** What storing throws after the entries are stored. */
  failure: Error | null;
  /** Whether the log store has everything. */
  isFlushed(): boolean;
  /** Leaves Postgres and the log as a process that is killed does: what is stuck says nothing any more. */
  die(): Promise<void>;
}

/** How often the log store has each of these messages. */
export async function timesStored(stores: TestStores, messages: readonly string[]): Promise<number[]> {
  const result = await stores.clickhouse.query({
    query:
      "SELECT message, count() AS times FROM logs WHERE message IN {messages: Array(String)} GROUP BY message",
    query_params: { messages },
    format: "JSONEachRow",
  });
  const times = new Map<string, number>();
  for (const row of await result.json<{ message: string; times: string }>())
    times.set(row.message, Number(row.times));
  return messages.map((message) => times.get(message) ?? 0);
}

const nothing = (): void => undefined;
const HOUR_MS = 3_600_000;
/** Few, because many instances share an engine that lets fifty in, those that just died among them. */
const CONNECTIONS = 4;

/** False to try again; throws what is something else. */
function isUnanswered(error: unknown): false {
  if (error instanceof DependencyError) return false;
  throw error;
}

const away = (): Promise<never> => Promise.reject(new Error("the log store is away"));
const AWAY: LogStore = { insert: away, find: away };

export async function startIngestInstance(
  stores: TestStores,
  options: IngestInstanceOptions,
): Promise<IngestInstance> {
  const { directory, organizationId, instance, holdMs = HOUR_MS, now = Date.now, isStoreAway } = options;
  const sql = createPostgres(stores.postgresUrl, { maxConnections: CONNECTIONS });
  const log = createLogger("silent");
  let known: StoredRequests | undefined;
  const requestsOf = ({ wal, events }: Pick<Ingest, "wal" | "events">): StoredRequests => {
    known ??= new StoredRequests({ sql, wal, events, holdMs, log });
    return known;
  };
  const ingest = await openIngest({
    directory: join(directory, "wal"),
    store: isStoreAway ? AWAY : createClickHouseLogStore(stores.clickhouseEndpoint),
    observer: {
      decoded: nothing,
      committed: nothing,
      commitFailed: nothing,
      inserted: nothing,
      insertFailed: nothing,
      releaseFailed: nothing,
    },
    instance,
    walMaxBytes: 256 * 1024 * 1024,
    maxInFlightBytes: 64 * 1024 * 1024,
    dedupeWindowMs: 24 * HOUR_MS,
    dedupeMaxKeys: 100_000,
    now,
    takenOver: (opened) => requestsOf(opened).takenOver(),
    onFatal: (error) => {
      throw error;
    },
  });
  const storedRequests = requestsOf(ingest);
  let stuckRequests = 0;
  const wait = (): Promise<never> => {
    stuckRequests += 1;
    return Promise.withResolvers<never>().promise;
  };
  const store: Ingest["ingest"] = async (request) => {
    if (made.stuck === "before") await wait();
    if (made.refusal !== null) throw made.refusal;
    const result = await ingest.ingest(request);
    if (made.stuck === "after") await wait();
    if (made.failure !== null) throw made.failure;
    return result;
  };
  const caps = testCaps(sql, now);
  const receiver = new LogReceiver({
    rules: NO_RULES,
    ingest: { ingest: store },
    caps,
    quarantine: { keep: async () => 0 },
  });
  const { send } = testApp(
    [
      ...logIngestRoutes({ ingest: { ingest: store }, caps }),
      ...elasticsearchRoutes(receiver),
      ...lokiRoutes(receiver),
      ...otlpRoutes(receiver, { protobuf: true }),
      ...splunkRoutes(receiver),
      ...platformRoutes({ ingest, receiver, sql, box: TEST_BOX, now }),
    ],
    {
      authenticator: { authenticate: () => principalOf(organizationId, { tokenId: 3 }) },
      ledger: new PostgresLedger({ sql, box: TEST_BOX, changes: new Changes({ sql, now }), storedRequests }),
      log,
    },
  );
  const made: IngestInstance = {
    stuck: null,
    refusal: null,
    failure: null,
    get stuckRequests() {
      return stuckRequests;
    },
    send: (path, key, body) =>
      send("POST", path, { body, headers: { "content-type": "application/json", "idempotency-key": key } }),
    post: (key, messages) =>
      made.send("/api/v1/logs/ingest", key, JSON.stringify(messages.map((message) => ({ message })))),
    // As its loop does where Postgres does not answer in time.
    settle: () =>
      eventually("Postgres answers", () => storedRequests.settleOnce().then(() => true, isUnanswered)),
    isFlushed: () => ingest.wal.ledger.flushedThrough >= ingest.wal.durableEnd,
    die: async () => {
      await sql.end({ timeout: 0 });
      await ingest.close(isStoreAway ? 0 : 10_000);
    },
  };
  return made;
}
