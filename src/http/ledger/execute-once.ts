import { errorBody, errorHeaders, toApiError } from "../envelope.ts";
import type { AuthenticatedExchange } from "../exchange.ts";
import { MAX_BODY_BYTES } from "../limits.ts";
import { readPackedBody } from "../read-body.ts";
import type { Reply } from "../route.ts";
import { ExecutionOfKey } from "./idempotency.ts";
import { type RememberedAnswer, rememberError, rememberReply } from "./remembered-answer.ts";
import type { RequestLedger } from "./request-ledger.ts";

/**
 * Executes a request with an Idempotency-Key, or repeats the answer it had. What the server or a cap refuses is not
 * remembered, so that a repetition is executed; refusals of the request itself are.
 */
export async function executeOnce(
  ledger: RequestLedger,
  exchange: AuthenticatedExchange,
  { key, isIngest }: { key: string; isIngest: boolean },
  run: () => Promise<Reply | Response>,
): Promise<Reply | Response> {
  const { method, url } = exchange.request;
  const body = await readPackedBody(exchange.request, {
    maxBytes: MAX_BODY_BYTES,
    reserve: exchange.reserveMemory,
  });
  exchange.restoreBody(body);
  const target = url.slice(url.indexOf("/", url.indexOf("://") + 3));
  const begun = await ledger.begin(exchange.principal, key, { method, target, body, isIngest });
  if (!(begun instanceof ExecutionOfKey)) return replay(begun);
  exchange.execution = begun;
  try {
    const result = await run();
    await endQuietly(exchange, begun, result instanceof Response ? null : rememberReply(result));
    return result;
  } catch (thrown) {
    const error = toApiError(thrown);
    const isFinal = error.status < 500 && error.status !== 429;
    const answer = isFinal
      ? rememberError(error.status, errorBody(error, exchange.requestId), errorHeaders(error))
      : null;
    await endQuietly(exchange, begun, answer);
    throw thrown;
  }
}

/**
 * An answer that could not be kept is still the answer. A repetition is then executed anew once the lease is over; a
 * change kept its answer before, in its own transaction.
 */
async function endQuietly(
  exchange: AuthenticatedExchange,
  execution: ExecutionOfKey,
  answer: RememberedAnswer | null,
): Promise<void> {
  try {
    await execution.end(answer);
  } catch (error) {
    exchange.log.warn({ err: error }, "the answer to an Idempotency-Key was not kept");
  }
}

function replay({ status, body, isBytes, headers }: RememberedAnswer): Response {
  const answered = new Headers(headers);
  if (body !== null && !answered.has("content-type")) answered.set("content-type", "application/json");
  // The answer may have been one to a repetition itself.
  answered.set("idempotent-replayed", "true");
  return new Response(isBytes && body !== null ? Buffer.from(body, "base64") : body, {
    status,
    headers: answered,
  });
}
