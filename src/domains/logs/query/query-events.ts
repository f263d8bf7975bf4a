import { piecesOf } from "../../../concurrency/thread-turns.ts";
import type { ApiError } from "../../../errors.ts";
import { errorBody, toApiError } from "../../../http/envelope.ts";
import { ANSWER_PIECE_BYTES } from "../../../http/limits.ts";
import { SSE_COMMENT, sseBlock } from "../../../http/sse.ts";
import type { StatementProgress } from "../../../storage/query-runner.ts";

/** Silence after which a comment keeps proxies from taking the stream for dead. */
const COMMENT_INTERVAL_MS = 5_000;

interface QueryEventsOptions {
  readonly requestId: string;
  readonly monotonicMs: () => number;
  /** Told of what failed on our side. */
  readonly onError: (error: ApiError) => void;
}

type RunQuery = (onProgress: (progress: StatementProgress) => void) => Promise<Iterable<string>>;

/**
 * A query as the text of an event stream: `progress` while it runs, the newest only if the reader is slow, then `result`
 * with the ordinary answer or `error` with the ordinary envelope.
 */
export async function* queryEvents(
  run: RunQuery,
  { requestId, monotonicMs, onError }: QueryEventsOptions,
): AsyncGenerator<string, undefined> {
  const startMs = monotonicMs();
  let progress: string | null = null;
  let answer: Iterable<string> | string | null = null;
  let wake: () => void = () => undefined;
  const tell = (seen: StatementProgress): void => {
    const data = JSON.stringify({ ...seen, elapsedMs: Math.round(monotonicMs() - startMs) });
    progress = sseBlock({ event: "progress", data });
    wake();
  };
  const finish = (found: Iterable<string> | string): void => {
    answer = found;
    wake();
  };
  run(tell).then(finish, (thrown: unknown) => {
    const error = toApiError(thrown);
    onError(error);
    finish(sseBlock({ event: "error", data: JSON.stringify(errorBody(error, requestId)) }));
  });
  for (;;) {
    if (answer === null && progress === null)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, COMMENT_INTERVAL_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    const found: Iterable<string> | string | null = answer;
    if (typeof found === "string") yield found;
    else if (found !== null) yield* piecesOf(resultBlock(found), ANSWER_PIECE_BYTES);
    if (found !== null) return;
    yield progress ?? SSE_COMMENT;
    progress = null;
  }
}

/** A line break in JSON is only ever between its parts, where a blank means the same. */
function* resultBlock(texts: Iterable<string>): Generator<string> {
  yield "event: result\ndata: ";
  for (const text of texts) yield text.replace(/[\r\n]/g, " ");
  yield "\n\n";
}
