import type { Redis } from "ioredis";
import { type Ingest, type IngestOptions, NativeFormat, openIngest } from "../../../../ingest/index.ts";
import { INTERACTIVE_BUDGET } from "../../../../query/index.ts";
import { hashToken, mintPersonalAccessToken } from "../../../../src/access/secret-token.ts";
import { logIngestRoutes } from "../../../../src/domains/logs/ingest-routes.ts";
import { logSearchRoutes } from "../../../../src/domains/logs/search-routes.ts";
import { tailDomain } from "../../../../src/domains/logs/tail/domain.ts";
import { TailHub } from "../../../../src/domains/logs/tail/tail-hub.ts";
import type { TailService, TailServiceOptions } from "../../../../src/domains/logs/tail/tail-service.ts";
import type { App } from "../../../../src/http/app.ts";
import { type Listener, listen } from "../../../../src/http/server.ts";
import { Authenticator } from "../../../../src/identity/authenticator.ts";
import { createLogger } from "../../../../src/log.ts";
import { createMetrics, type Metrics } from "../../../../src/server/metrics.ts";
import { createClickHouseLogStore } from "../../../../src/storage/clickhouse-log-store.ts";
import { testApp } from "../../../harness/http-app.ts";
import { testCaps } from "../../../harness/ledger.ts";
import { logRanges } from "../../../harness/log-ranges.ts";
import { KEEPS_NOTHING } from "../../../harness/nothing-kept.ts";
import type { TestStores } from "../../../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { EventReader } from "./event-reader.ts";

interface TailServerOptions {
  /** Number of the server, for its ids. */
  readonly instance?: number;
  readonly ingest?: Partial<IngestOptions>;
  readonly tails?: Partial<TailServiceOptions>;
  /** Of silent connections, other than that of the server. */
  readonly idleTimeoutSec?: number;
  readonly directory?: TemporaryDirectory;
  readonly redis?: Redis;
}

/** A server of logs and tails on a port of its own, over the stores of a suite. */
export interface TailServer {
  readonly url: string;
  readonly ingest: Ingest;
  readonly tails: TailService;
  readonly metrics: Metrics;
  /** Every line logged so far. */
  readonly logged: () => string[];
  close(): Promise<void>;
}

let instances = 0;

export async function startTailServer(
  stores: TestStores,
  options: TailServerOptions = {},
): Promise<TailServer> {
  const directory = options.directory ?? temporaryDirectory();
  const metrics = createMetrics();
  const lines: string[] = [];
  const log = createLogger("debug", { write: (line) => lines.push(line) });
  const hub = new TailHub({ log, metrics: metrics.tail });
  const ingest = await openIngest({
    directory: `${directory.path}/wal`,
    store: createClickHouseLogStore(stores.clickhouseEndpoint),
    observer: silent,
    instance: options.instance ?? ++instances,
    walMaxBytes: 256 * 1024 * 1024,
    maxInFlightBytes: 64 * 1024 * 1024,
    dedupeWindowMs: 600_000,
    dedupeMaxKeys: 100_000,
    now: Date.now,
    committed: hub,
    onFatal: (error) => {
      throw error;
    },
    ...options.ingest,
  });
  const authenticator = new Authenticator({ sql: stores.postgres, now: Date.now, log });
  const { routes, tails } = tailDomain(
    { stores: { ...stores, redis: options.redis ?? null }, ingest, hub, authenticator, metrics, log },
    options.tails,
  );
  const { app } = testApp(
    [
      ...logIngestRoutes({ ingest, caps: testCaps(stores.postgres) }),
      ...logSearchRoutes({
        ranges: logRanges(stores),
        budget: INTERACTIVE_BUDGET,
        cursorKey: new Uint8Array(32),
        now: Date.now,
        ...KEEPS_NOTHING,
      }),
      ...routes,
    ],
    { authenticator, log },
  );
  const listener =
    options.idleTimeoutSec === undefined ? listen(app, LOOPBACK) : impatient(app, options.idleTimeoutSec);
  return {
    url: listener.url,
    ingest,
    tails,
    metrics,
    logged: () => lines,
    close: async () => {
      await tails.close();
      await listener.abort();
      await ingest.close(5_000);
      if (options.directory === undefined) directory[Symbol.dispose]();
    },
  };
}

const LOOPBACK = { hostname: "127.0.0.1", port: 0 };

/** As `listen`, with another bound on silence. */
function impatient(app: App, idleTimeout: number): Pick<Listener, "url" | "abort"> {
  const server = Bun.serve({
    ...LOOPBACK,
    idleTimeout,
    fetch: (request, listener) =>
      app.handle(request, { setIdleTimeout: (seconds) => listener.timeout(request, seconds) }),
  });
  return { url: `http://127.0.0.1:${server.port}`, abort: () => server.stop(true) };
}

const nothing = (): void => undefined;
const silent = {
  decoded: nothing,
  committed: nothing,
  commitFailed: nothing,
  inserted: nothing,
  insertFailed: nothing,
  releaseFailed: nothing,
};

/** An organization with one member and a token, past the routes of identity. */
export interface Tenant {
  readonly organizationId: number;
  readonly userId: number;
  readonly token: string;
}

export async function makeTenant(
  { postgres: sql }: TestStores,
  scopes: readonly string[] = ["*"],
): Promise<Tenant> {
  const [organization] = await sql<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('Example', now()) RETURNING id`;
  return addMemberTo(sql, organization?.id ?? 0, scopes);
}

/** One more person of the organization. */
export function addMember(
  { postgres: sql }: TestStores,
  { organizationId }: Pick<Tenant, "organizationId">,
): Promise<Tenant> {
  return addMemberTo(sql, organizationId, ["*"]);
}

async function addMemberTo(
  sql: TestStores["postgres"],
  organizationId: number,
  scopes: readonly string[],
): Promise<Tenant> {
  const [user] = await sql<{ id: string }[]>`
    INSERT INTO users (email, created_at) VALUES (${`${crypto.randomUUID()}@example.com`}, now()) RETURNING id`;
  const userId = Number(user?.id);
  await sql`INSERT INTO memberships (organization_id, user_id, role, created_at)
            VALUES (${organizationId}, ${userId}, 'member', now())`;
  const token = await mintToken({ organizationId, userId }, sql, scopes);
  return { organizationId, userId, token };
}

async function mintToken(
  { organizationId, userId }: Omit<Tenant, "token">,
  sql: TestStores["postgres"],
  scopes: readonly string[],
): Promise<string> {
  const token = mintPersonalAccessToken();
  await sql`
    INSERT INTO personal_access_tokens (organization_id, user_id, token_hash, name, prefix, scopes, created_at)
    VALUES (${organizationId}, ${userId}, ${hashToken(token)}, 'test', ${token.slice(0, 12)}, ${[...scopes]}, now())`;
  return token;
}

/** Sends entries and fails unless they are acknowledged. */
export async function send(
  server: Pick<TailServer, "url">,
  { token }: Tenant,
  entries: readonly object[],
): Promise<void> {
  const response = await fetch(`${server.url}/api/v1/logs/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(entries),
  });
  if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}

const native = new NativeFormat();

/** Takes in entries of several organizations as one batch, which requests become that arrive while another is synced. */
export async function sendTogether(
  { ingest }: Pick<TailServer, "ingest">,
  requests: readonly (readonly [Tenant, readonly object[]])[],
): Promise<void> {
  await Promise.all(
    requests.map(([{ organizationId }, entries]) => {
      const body = new TextEncoder().encode(JSON.stringify(entries));
      return ingest.ingest({
        organizationId,
        format: "native",
        bytes: body.length,
        keys: null,
        decode: (batch, skip) => native.decode(body, batch, skip),
      });
    }),
  );
}

/** Makes a session and answers its token. */
export async function makeSession(
  server: Pick<TailServer, "url">,
  { token }: Tenant,
  filter: object = {},
): Promise<string> {
  const response = await postSession(server, token, filter);
  const body: unknown = await response.json();
  if (response.status === 201 && typeof body === "object" && body !== null && "token" in body)
    return String(body.token);
  throw new Error(`${response.status}: ${JSON.stringify(body)}`);
}

export function postSession(
  server: Pick<TailServer, "url">,
  token: string,
  filter: object,
): Promise<Response> {
  return fetch(`${server.url}/api/v1/logs/tail/session`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(filter),
  });
}

export function openTail(
  server: Pick<TailServer, "url">,
  session: string,
  lastEventId?: string,
): Promise<EventReader> {
  const headers: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  return EventReader.open(`${server.url}/api/v1/logs/tail?token=${session}`, headers);
}
