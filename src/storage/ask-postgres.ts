import postgres from "postgres";
import { patient } from "../concurrency/patience.ts";
import { DependencyError } from "../errors.ts";

/** The server's own statements take milliseconds, also in a queue behind others; this is an outage. */
const ANSWER_TIMEOUT_MS = 5_000;

/**
 * SQLSTATE classes and codes that say something about the state of the server rather than about the statement:
 * connection, authorization, database missing, rollback that may be retried, resources, operator intervention,
 * system error, lock not available, read-only after a failover.
 */
const SERVER_STATE = /^(?:08|28|3D|40|53|57|58|55P03|25006)/;
/** What the client library and the sockets under it say when there is no connection, or none any more. */
const CONNECTION_LOST = /^(?:CONNECT|E[A-Z]+$|ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|SASL)/;

/**
 * Runs queries and waits for them no longer than `timeoutMs`, or as often that as this process is patient. Throws DependencyError when Postgres cannot answer
 * now or did not in time; in the latter case what `work` began may still take effect. Everything else that
 * `work` throws passes through, because then it is not Postgres that failed.
 */
export async function askPostgres<T>(work: () => Promise<T>, timeoutMs = ANSWER_TIMEOUT_MS): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(unanswered("no answer in time")), patient(timeoutMs));
  try {
    return await Promise.race([work(), late.promise]);
  } catch (error) {
    throw isPostgresAway(error) ? unanswered("no usable connection", error) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Whether what was thrown says that Postgres cannot answer now, and nothing about what it was asked. */
export function isPostgresAway(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return SERVER_STATE.test(error.code);
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return false;
  return CONNECTION_LOST.test(error.code);
}

function unanswered(message: string, cause?: unknown): DependencyError {
  return new DependencyError("postgres", message, { retryable: true, cause });
}
