import { DependencyError } from "../errors.ts";
import type { ClickHouseEndpoint } from "./clickhouse.ts";
import { basicAuthorization } from "./embedded/clickhouse-config.ts";

/** What has no answer by then is given up; the flusher asks again. */
const ANSWER_TIMEOUT_MS = 120_000;
/** Characters of a refusal kept for the log. */
const REFUSAL_MAX_CHARS = 1_000;

/**
 * One request to ClickHouse's HTTP interface, without the official client: on this runtime that copies a body through
 * streams, which costs twice as much as sending it. Throws a retryable DependencyError for a refusal.
 */
export async function askClickHouse(
  endpoint: ClickHouseEndpoint,
  settings: URLSearchParams,
  body: Blob | Uint8Array<ArrayBuffer> | FormData,
  signal: AbortSignal,
): Promise<Response> {
  const response = await fetch(`${endpoint.origin}/?${settings}`, {
    method: "POST",
    headers: { authorization: basicAuthorization(endpoint.user, endpoint.password) },
    body,
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]),
  });
  if (response.ok) return response;
  const text = await response.text();
  throw new DependencyError("clickhouse", `statement refused: ${text.slice(0, REFUSAL_MAX_CHARS)}`, {
    retryable: true,
  });
}
