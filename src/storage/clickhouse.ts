import { type ClickHouseClient, ClickHouseLogLevel, createClient } from "@clickhouse/client";
import { CLICKHOUSE_MAX_CONNECTIONS, CLICKHOUSE_REQUEST_TIMEOUT_MS } from "./limits.ts";

/** A ClickHouse server's HTTP interface, taken apart from its URL. */
export interface ClickHouseEndpoint {
  /** Scheme, host and port, without credentials: fit for a log. */
  readonly origin: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** Reads `http(s)://user:password@host:port/database`. Without a user it is `default`, without a database `default`. */
export function parseClickHouseUrl(url: string): ClickHouseEndpoint {
  const parsed = new URL(url);
  const database = decodeURIComponent(parsed.pathname.replace(/^\/|\/$/g, ""));
  return {
    origin: parsed.origin,
    user: decodeURIComponent(parsed.username) || "default",
    password: decodeURIComponent(parsed.password),
    database: database || "default",
  };
}

/** The inverse of `parseClickHouseUrl`; the text holds the password. */
export function formatClickHouseUrl(endpoint: ClickHouseEndpoint): string {
  const url = new URL(endpoint.origin);
  url.username = encodeURIComponent(endpoint.user);
  url.password = encodeURIComponent(endpoint.password);
  url.pathname = `/${encodeURIComponent(endpoint.database)}`;
  return url.href;
}

/**
 * A client for `endpoint`. It connects lazily and follows a restarted server; errors surface where a query is made.
 * In JSON formats 64-bit integers arrive as strings, counts included.
 */
export function createClickHouse(endpoint: ClickHouseEndpoint): ClickHouseClient {
  return createClient({
    url: endpoint.origin,
    username: endpoint.user,
    password: endpoint.password,
    database: endpoint.database,
    application: "obs",
    max_open_connections: CLICKHOUSE_MAX_CONNECTIONS,
    request_timeout: CLICKHOUSE_REQUEST_TIMEOUT_MS,
    // Every failure is thrown to the caller, who knows what to say about it.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      async_insert: 0,
      // Ids are 64 bits wide, a JSON number is not.
      output_format_json_quote_64bit_integers: 1,
    },
  });
}

/** ClickHouse's name for a database or table in a statement. */
export function quoteClickHouseIdentifier(name: string): string {
  return `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;
}

/** Error code of a statement the user may not run. */
const ACCESS_DENIED = "497";

/**
 * Creates the endpoint's database when there is none. A user who may not create databases is fine as long as the
 * database exists, which the first statement in it will tell.
 */
export async function ensureClickHouseDatabase(endpoint: ClickHouseEndpoint): Promise<void> {
  const client = createClickHouse({ ...endpoint, database: "system" });
  try {
    await client.command({
      query: `CREATE DATABASE IF NOT EXISTS ${quoteClickHouseIdentifier(endpoint.database)}`,
    });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === ACCESS_DENIED)) throw error;
  } finally {
    await client.close();
  }
}
