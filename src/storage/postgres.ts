import postgres, { type Sql } from "postgres";
import { CONNECT_TIMEOUT_MS, POSTGRES_MAX_CONNECTIONS } from "./limits.ts";

const RECONNECT_MIN_SECONDS = 0.05;
const RECONNECT_MAX_SECONDS = 0.5;

/**
 * A pool of connections to the database of `url`. It connects lazily and connects again after an outage. A bigint
 * column arrives as a string, a numeric one too: their ranges exceed that of a number.
 */
export function createPostgres(url: string, options: { maxConnections?: number } = {}): Sql {
  return postgres(url, {
    // Connections stay once they are open: with an idle_timeout, queries that come while one closes may wait for ever.
    max: options.maxConnections ?? POSTGRES_MAX_CONNECTIONS,
    connect_timeout: CONNECT_TIMEOUT_MS / 1000,
    // Seconds. The driver's own waits grow so long that callers run into their time limits after a short outage.
    backoff: (retries: number) => Math.min(RECONNECT_MAX_SECONDS, RECONNECT_MIN_SECONDS * 2 ** retries),
    // Notices tell a person at a prompt what happened; here nobody reads them.
    onnotice: () => undefined,
    connection: { application_name: "obs", timezone: "UTC" },
  });
}
