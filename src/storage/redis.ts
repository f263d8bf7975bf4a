import { Redis } from "ioredis";
import type { Logger } from "../log.ts";
import { CONNECT_TIMEOUT_MS, REDIS_COMMAND_TIMEOUT_MS } from "./limits.ts";

/**
 * A client that connects by itself and again after an outage, and that fails a command at once while it is not
 * connected: every caller has its own answer to that. The url may be `redis://` or `rediss://`.
 */
export function createRedis(url: string, log: Logger): Redis {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: REDIS_COMMAND_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(100 * 2 ** Math.min(attempt, 10), CONNECT_TIMEOUT_MS),
  });
  // Without a listener the first refused connection would end the process.
  redis.on("error", (error) => log.warn({ err: error }, "redis connection failed"));
  return redis;
}
