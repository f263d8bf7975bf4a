import { afterAll, beforeAll, beforeEach } from "bun:test";
import { openIngest } from "../../../../ingest/index.ts";
import { logIngestRoutes } from "../../../../src/domains/logs/ingest-routes.ts";
import { elasticsearchRoutes } from "../../../../src/domains/logs/receive/elasticsearch/routes.ts";
import { gelfRoutes } from "../../../../src/domains/logs/receive/gelf/routes.ts";
import { journalRoutes } from "../../../../src/domains/logs/receive/journal/routes.ts";
import { lokiRoutes } from "../../../../src/domains/logs/receive/loki/routes.ts";
import { otlpRoutes } from "../../../../src/domains/logs/receive/otlp/routes.ts";
import { platformRoutes } from "../../../../src/domains/logs/receive/platforms/routes.ts";
import { splunkRoutes } from "../../../../src/domains/logs/receive/splunk/routes.ts";
import { Quarantine } from "../../../../src/domains/quarantine/quarantine.ts";
import { listen } from "../../../../src/http/server.ts";
import { Authenticator } from "../../../../src/identity/authenticator.ts";
import { createLogger, type Logger } from "../../../../src/log.ts";
import { LogReceiver } from "../../../../src/receive/receive-records.ts";
import { createMetrics } from "../../../../src/server/metrics.ts";
import { createClickHouseLogStore } from "../../../../src/storage/clickhouse-log-store.ts";
import { eventually } from "../../../harness/eventually.ts";
import { testApp } from "../../../harness/http-app.ts";
import { TEST_BOX, testCaps, testLedger } from "../../../harness/ledger.ts";
import { NO_RULES } from "../../../harness/no-rules.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { makeTenant, type Tenant } from "../tail/tail-server.ts";

/** A row of the table `logs`, as far as the suites look at it. */
interface StoredEntry {
  readonly message: string;
  readonly ts: string;
  readonly level: string;
  readonly service: string;
  readonly source: string;
  readonly host: string;
  readonly event_id: string;
  readonly attrs: Readonly<Record<string, string>>;
}

interface ReceiveServerOptions {
  readonly quarantineMaxRecords?: number;
  readonly otlpProtobuf?: boolean;
}

/** A server of the routes that take logs in, on a port of its own, over the stores of a suite. */
export interface ReceiveServer {
  readonly url: string;
  /** What an organisation has stored, in the order of the messages, once it is that many rows. */
  stored(organizationId: number, rows: number): Promise<readonly StoredEntry[]>;
  /** How many records the organisation's quarantine holds. */
  quarantined(organizationId: number): Promise<number>;
  /** For listeners beside the routes. */
  readonly receiver: LogReceiver;
  readonly authenticator: Authenticator;
  readonly log: Logger;
  /** Every line logged so far. */
  readonly logged: () => readonly string[];
  close(): Promise<void>;
}

/** What the tests of a suite share: its stores and server, and an organisation of its own for every test. */
interface ReceiveSuite {
  readonly stores: TestStores;
  readonly server: ReceiveServer;
  /** With a token that may write logs. */
  readonly tenant: Tenant;
}

/** Opens a server before the tests of the calling file and closes it after them. */
export function receiveSuite(options: ReceiveServerOptions = {}): ReceiveSuite {
  const made: { stores?: TestStores; server?: ReceiveServer; tenant?: Tenant } = {};
  const suite: ReceiveSuite = {
    get stores() {
      return required(made.stores);
    },
    get server() {
      return required(made.server);
    },
    get tenant() {
      return required(made.tenant);
    },
  };
  beforeAll(async () => {
    made.stores = await openTestStores();
    made.server = await startReceiveServer(made.stores, options);
  });
  afterAll(async () => {
    await made.server?.close();
    await made.stores?.close();
  });
  beforeEach(async () => {
    made.tenant = await makeTenant(suite.stores, ["logs:write"]);
  });
  return suite;
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("used before the tests have begun");
  return value;
}

const nothing = (): void => undefined;

export async function startReceiveServer(
  stores: TestStores,
  { quarantineMaxRecords = 1000, otlpProtobuf = true }: ReceiveServerOptions = {},
): Promise<ReceiveServer> {
  const { postgres: sql, clickhouse } = stores;
  const directory = temporaryDirectory();
  const metrics = createMetrics();
  const lines: string[] = [];
  const log = createLogger("debug", { write: (line) => lines.push(line) });
  const ingest = await openIngest({
    directory: `${directory.path}/wal`,
    store: createClickHouseLogStore(stores.clickhouseEndpoint),
    observer: {
      decoded: nothing,
      committed: nothing,
      commitFailed: nothing,
      inserted: nothing,
      insertFailed: nothing,
      releaseFailed: nothing,
    },
    instance: 1,
    walMaxBytes: 256 * 1024 * 1024,
    maxInFlightBytes: 64 * 1024 * 1024,
    dedupeWindowMs: 600_000,
    dedupeMaxKeys: 100_000,
    now: Date.now,
    onFatal: (error) => {
      throw error;
    },
  });
  const caps = testCaps(sql);
  const quarantine = new Quarantine({
    sql,
    bounds: { maxRecords: quarantineMaxRecords, maxBytes: 1024 * 1024 },
    metrics: metrics.quarantine,
    now: Date.now,
  });
  const receiver = new LogReceiver({ ingest, caps, quarantine, rules: NO_RULES });
  const authenticator = new Authenticator({ sql, now: Date.now, log });
  const { app } = testApp(
    [
      ...logIngestRoutes({ ingest, caps }),
      ...elasticsearchRoutes(receiver),
      ...gelfRoutes(receiver),
      ...journalRoutes(receiver),
      ...lokiRoutes(receiver),
      ...otlpRoutes(receiver, { protobuf: otlpProtobuf }),
      ...splunkRoutes(receiver),
      ...platformRoutes({ ingest, receiver, sql, box: TEST_BOX, now: Date.now }),
    ],
    { authenticator, ledger: testLedger(sql), log },
  );
  const listener = listen(app, { hostname: "127.0.0.1", port: 0 });
  return {
    url: listener.url,
    stored: (organizationId, rows) =>
      eventually(`${rows} rows`, async () => {
        const result = await clickhouse.query({
          query: `SELECT message, toString(ts) AS ts, level, service, source, host, event_id, attrs FROM logs
                  WHERE organization_id = {organizationId: UInt32} ORDER BY message`,
          query_params: { organizationId },
          format: "JSONEachRow",
        });
        const found = await result.json<StoredEntry>();
        if (found.length > rows) throw new Error(`${found.length} rows instead of ${rows}`);
        return found.length === rows && found;
      }),
    quarantined: async (organizationId) => {
      const [row] = await sql<{ count: number }[]>`
        SELECT count(*)::int AS count FROM quarantine_records WHERE organization_id = ${organizationId}`;
      return row?.count ?? 0;
    },
    receiver,
    authenticator,
    log,
    logged: () => lines,
    close: async () => {
      await listener.abort();
      await ingest.close(5_000);
      directory[Symbol.dispose]();
    },
  };
}
