import type { Redis } from "ioredis";
import { patient } from "../concurrency/patience.ts";
import type { Logger } from "../log.ts";
import { CONNECT_TIMEOUT_MS, REDIS_COMMAND_TIMEOUT_MS } from "./limits.ts";

/**
 * A client that connects by itself and again after an outage, and that fails a command at once while it is not
 * connected: every caller has its own answer to that. The url may be `redis://` or `rediss://`.
 * The library is loaded only now: it takes 5 MiB, and a server may do without Redis.
 */
export async function createRedis(url: string, log: Logger): Promise<Redis> {
  const { Redis } = await import("ioredis");
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    connectTimeout: patient(CONNECT_TIMEOUT_MS),
    commandTimeout: patient(REDIS_COMMAND_TIMEOUT_MS),
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(100 * 2 ** Math.min(attempt, 10), CONNECT_TIMEOUT_MS),
  });
  // Without a listener the first refused connection would end the process.
  redis.on("error", (error) => log.warn({ err: error }, "redis connection failed"));
  return redis;
}
