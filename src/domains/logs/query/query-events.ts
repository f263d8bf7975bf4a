import type { ApiError } from "../../../errors.ts";
import { errorBody, toApiError } from "../../../http/envelope.ts";
import { type EventSource, SSE_COMMENT, sseBlock } from "../../../http/sse.ts";
import type { StatementProgress } from "../../../storage/query-runner.ts";

/** Silence after which a comment keeps proxies from taking the stream for dead. */
const COMMENT_INTERVAL_MS = 5_000;

export interface QueryEventsOptions {
  readonly requestId: string;
  readonly monotonicMs: () => number;
  /** Told of what failed on our side. */
  readonly onError: (error: ApiError) => void;
}

type RunQuery = (signal: AbortSignal, onProgress: (progress: StatementProgress) => void) => Promise<string>;

/**
 * A query as events: `progress` while it runs, the newest only if the reader is slow, then `result` with the ordinary
 * answer or `error` with the ordinary envelope. A reader that goes away ends the query.
 */
export function queryEvents(
  run: RunQuery,
  { requestId, monotonicMs, onError }: QueryEventsOptions,
): EventSource {
  const startMs = monotonicMs();
  const gone = new AbortController();
  let progress: string | null = null;
  let final: string | null = null;
  let isOver = false;
  let wake: () => void = () => undefined;
  const tell = (seen: StatementProgress): void => {
    const data = JSON.stringify({ ...seen, elapsedMs: Math.round(monotonicMs() - startMs) });
    progress = sseBlock({ event: "progress", data });
    wake();
  };
  const finish = (event: "result" | "error", data: string): void => {
    final = sseBlock({ event, data });
    wake();
  };
  run(gone.signal, tell).then(
    (answer) => finish("result", answer),
    (thrown: unknown) => {
      const error = toApiError(thrown);
      onError(error);
      finish("error", JSON.stringify(errorBody(error, requestId)));
    },
  );
  return {
    read: async () => {
      if (isOver) return null;
      if (final === null && progress === null) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, COMMENT_INTERVAL_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      if (final !== null) {
        isOver = true;
        return final;
      }
      const text = progress ?? SSE_COMMENT;
      progress = null;
      return text;
    },
    cancel: () => gone.abort(),
  };
}
