import { CliError } from "../cli-error.ts";
import { type ApiClient, jsonBody } from "../http/api-client.ts";
import { EventStreamParser, isEventStream } from "../http/event-stream.ts";
import { refusal, refusalInStream } from "../http/failures.ts";
import { isRecord, parseJsonOrUndefined } from "../http/json.ts";
import { readEvents, readText } from "../http/read-body.ts";
import { QUERY_TIMEOUT_MS } from "../limits.ts";
import { decodeAnswer, type QueryAnswer } from "./answer.ts";

/** How far the server is. */
export interface QueryProgress {
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly elapsedMs: number;
}

export interface QueryRequest {
  readonly query: string;
  /** ISO date-times. */
  readonly from?: string;
  readonly to?: string;
}

/**
 * Runs a query. With `onProgress` the server is asked to tell how far it is; one that cannot answers as without. Throws
 * UnreachableError, RefusedError with the server's words, and CliError when the answer is none.
 */
export async function sendQuery(
  api: ApiClient,
  request: QueryRequest,
  onProgress: ((progress: QueryProgress) => void) | null,
): Promise<QueryAnswer> {
  const { headers, body } = jsonBody(request);
  const accept = onProgress === null ? "application/json" : "text/event-stream, application/json;q=0.9";
  const answer = await api.open({
    method: "POST",
    path: "/api/v1/logs/query",
    headers: { ...headers, accept },
    body,
  });
  const reading = { baseUrl: api.baseUrl, silenceMs: QUERY_TIMEOUT_MS };
  if (answer.status !== 200) throw refusal(await readText(answer, reading), api.baseUrl);
  if (!isEventStream(answer)) return decodeAnswer((await readText(answer, reading)).text, api.baseUrl);
  const stream = readEvents(answer, new EventStreamParser(), reading);
  for await (const events of stream)
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
