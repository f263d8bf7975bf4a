import postgres, { type Sql } from "postgres";
import { patient } from "../concurrency/patience.ts";
import { CONNECT_TIMEOUT_MS, POSTGRES_IDLE_SECONDS, POSTGRES_MAX_CONNECTIONS } from "./limits.ts";

const RECONNECT_MIN_SECONDS = 0.05;
const RECONNECT_MAX_SECONDS = 0.5;

interface PoolOptions {
  readonly maxConnections?: number;
  readonly idleSeconds?: number;
}

/**
 * A pool of connections to the database of `url`. It connects lazily and connects again after an outage. A bigint
 * column arrives as a string, a numeric one too: their ranges exceed that of a number.
 */
export function createPostgres(url: string, options: PoolOptions = {}): Sql {
  return postgres(url, {
    max: options.maxConnections ?? POSTGRES_MAX_CONNECTIONS,
    idle_timeout: options.idleSeconds ?? POSTGRES_IDLE_SECONDS,
    // A connection that is in use all the time stays: the driver would end it under whoever asks next.
    max_lifetime: null,
    connect_timeout: patient(CONNECT_TIMEOUT_MS) / 1000,
    // Seconds. The driver's own waits grow so long that callers run into their time limits after a short outage.
    backoff: (retries: number) => Math.min(RECONNECT_MAX_SECONDS, RECONNECT_MIN_SECONDS * 2 ** retries),
    // Notices tell a person at a prompt what happened; here nobody reads them.
    onnotice: () => undefined,
    connection: { application_name: "obs", timezone: "UTC" },
  });
}
