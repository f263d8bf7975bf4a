import { openIngest } from "../../../ingest/index.ts";
import { NO_DAILY_CAPS } from "../../../src/access/principal.ts";
import { sourceReceiveRoutes } from "../../../src/domains/ingest-sources/receive-routes.ts";
import { ingestSourceRoutes } from "../../../src/domains/ingest-sources/routes.ts";
import { SourceService } from "../../../src/domains/ingest-sources/service.ts";
import { SourceActivity } from "../../../src/domains/ingest-sources/source-activity.ts";
import { SourceDirectory } from "../../../src/domains/ingest-sources/source-directory.ts";
import { Quarantine } from "../../../src/domains/quarantine/quarantine.ts";
import type { Authenticator } from "../../../src/http/authenticator.ts";
import { createLogger } from "../../../src/log.ts";
import { LogReceiver } from "../../../src/receive/receive-records.ts";
import { createMetrics } from "../../../src/server/metrics.ts";
import { createClickHouseLogStore } from "../../../src/storage/clickhouse-log-store.ts";
import { eventually } from "../../harness/eventually.ts";
import { type TestApp, testApp } from "../../harness/http-app.ts";
import { testCaps, testLedger } from "../../harness/ledger.ts";
import { NO_RULES } from "../../harness/no-rules.ts";
import type { TestStores } from "../../harness/stores.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";

const nothing = (): void => undefined;

interface StoredEntry {
  readonly message: string;
  readonly level: string;
  readonly service: string;
  readonly attrs: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  /** Parsed; null without a body. */
  readonly body: Record<string, unknown>;
  readonly headers: Headers;
}

/** What an instance knows of sources and what it counts; all instances of a suite store through one pipeline. */
export interface Instance extends Pick<TestApp, "logged"> {
  readonly activity: SourceActivity;
  readonly sources: SourceDirectory;
  /** A call with a token that names its organisation; `token` null sends none. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

interface CallOptions {
  readonly organizationId?: number;
  readonly token?: string | null;
  readonly json?: unknown;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
  readonly role?: "viewer" | "member";
}

export interface SourceSuite {
  readonly organizationId: number;
  instance(): Instance;
  makeOrganization(): Promise<number>;
  /** The entries of an organisation once there are that many, by message. */
  stored(organizationId: number, rows: number): Promise<readonly StoredEntry[]>;
  close(): Promise<void>;
}

export async function openSourceSuite(
  stores: TestStores,
  now: () => number = Date.now,
): Promise<SourceSuite> {
  const { postgres: sql, clickhouse } = stores;
  const directory = temporaryDirectory();
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
    walMaxBytes: 64 * 2 ** 20,
    maxInFlightBytes: 16 * 2 ** 20,
    dedupeWindowMs: 600_000,
    dedupeMaxKeys: 100_000,
    now,
    onFatal: (error) => {
      throw error;
    },
  });
  const quarantine = new Quarantine({
    sql,
    bounds: { maxRecords: 1000, maxBytes: 2 ** 20 },
    metrics: createMetrics().quarantine,
    now,
  });
  const receiver = new LogReceiver({ ingest, caps: testCaps(sql), quarantine, rules: NO_RULES });
  const makeOrganization = async (): Promise<number> => {
    const [row] = await sql<{ id: number }[]>`
      INSERT INTO organizations (name, created_at) VALUES ('sources', now()) RETURNING id`;
    return row?.id ?? 0;
  };
  const organizationId = await makeOrganization();
  return {
    organizationId,
    makeOrganization,
    instance: () => openInstance(stores, receiver, organizationId, now),
    stored: (organization, rows) =>
      eventually(`${rows} entries`, async () => {
        const result = await clickhouse.query({
          query: `SELECT message, level, service, attrs FROM logs
                  WHERE organization_id = {organization: UInt32} ORDER BY message`,
          query_params: { organization },
          format: "JSONEachRow",
        });
        const found = await result.json<StoredEntry>();
        if (found.length > rows) throw new Error(`${found.length} entries instead of ${rows}`);
        return found.length === rows && found;
      }),
    close: async () => {
      await ingest.close(5_000);
      directory[Symbol.dispose]();
    },
  };
}

function openInstance(
  { postgres: sql }: TestStores,
  receiver: LogReceiver,
  ownOrganization: number,
  now: () => number,
): Instance {
  const sources = new SourceDirectory({ sql, now });
  const activity = new SourceActivity({ sql, now, log: createLogger("silent") });
  const { send, logged } = testApp(
    [
      ...ingestSourceRoutes(new SourceService({ sql, sources, now })),
      ...sourceReceiveRoutes({ receiver, sources, activity, rules: NO_RULES }),
    ],
    { authenticator: byToken, ledger: testLedger(sql, now) },
  );
  return {
    sources,
    activity,
    logged,
    call: async (method, path, options = {}) => {
      const { organizationId = ownOrganization, role = "member", json, body } = options;
      const token = options.token === undefined ? `${role}-${organizationId}` : options.token;
      const headers = { ...options.headers, ...(token !== null && { authorization: `Bearer ${token}` }) };
      const response = await send(method, `/api/v1/ingest/${path}`, {
        headers,
        ...(json !== undefined && { json }),
        ...(body !== undefined && { body }),
      });
      const text = await response.text();
      return {
        status: response.status,
        body: text === "" ? {} : JSON.parse(text),
        headers: response.headers,
      };
    },
  };
}

/** Tokens say who they are: `member-17`. */
const byToken: Authenticator = {
  authenticate: (request, readCredential) => {
    const bearer = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
    const [role, organization] = (bearer ?? readCredential?.(request) ?? "").split("-");
    if (organization === undefined) return null;
    return {
      kind: "token",
      userId: 1,
      organizationId: Number(organization),
      email: "ana@example.com",
      role: role === "viewer" ? "viewer" : "member",
      scopes: ["*"],
      caps: NO_DAILY_CAPS,
      tokenId: 3,
      credentialKey: `token:${organization}`,
    };
  },
};
