import type { CallInput } from "../../api/calls.ts";
import type { ApiClient } from "../../api/client.ts";
import { refusalInStream } from "../../api/errors.ts";
import { isRecord, parseJsonOrUndefined } from "../../api/json.ts";
import { EventStreamParser, isEventStream } from "../../api/stream.ts";
import { CliError } from "../cli-error.ts";
import { decodeAnswer, type QueryAnswer } from "./answer.ts";

/** How far the server is. */
export interface QueryProgress {
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly elapsedMs: number;
}

/**
 * Runs a query. With `onProgress` the server is asked to tell how far it is; one that cannot answers as without. Throws
 * UnreachableError, ApiError with the server's words, and CliError when the answer is none.
 */
export async function sendQuery(
  api: ApiClient,
  body: CallInput<"POST /api/v1/logs/query">["body"],
  onProgress: ((progress: QueryProgress) => void) | null,
): Promise<QueryAnswer> {
  const accept = onProgress === null ? "application/json" : "text/event-stream, application/json;q=0.9";
  const answer = await api.open("POST /api/v1/logs/query", { headers: { accept }, body, expect: 200 });
  if (!isEventStream(answer)) return decodeAnswer((await answer.read()).text, api.baseUrl);
  for await (const events of answer.events(new EventStreamParser()))
    for (const { type, data } of events) {
      if (type === "result") return decodeAnswer(data, api.baseUrl);
      if (type === "error") throw refusalInStream(data, "the query failed");
      if (type === "progress") tell(data, onProgress);
    }
  throw new CliError(`${api.baseUrl} ended the stream without an answer`);
}

function tell(data: string, onProgress: ((progress: QueryProgress) => void) | null): void {
  const progress = parseJsonOrUndefined(data);
  if (!isRecord(progress)) return;
  const { rowsRead, bytesRead, elapsedMs } = progress;
  if (typeof rowsRead === "number" && typeof bytesRead === "number" && typeof elapsedMs === "number")
    onProgress?.({ rowsRead, bytesRead, elapsedMs });
}
