import { Type } from "typebox";
import type { QueryBudget } from "../../../query/index.ts";
import type { Coverage, ReadWarning } from "../../archive/reading/coverage.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import type { RangeReading } from "../../archive/reading/range-reading.ts";
import { piecesOf } from "../../concurrency/thread-turns.ts";
import { ApiError } from "../../errors.ts";
import { answerWith } from "../../http/answer-stream.ts";
import { route } from "../../http/define-route.ts";
import { ANSWER_PIECE_BYTES } from "../../http/limits.ts";
import { callerOf } from "../../http/query-caller.ts";
import type { RequestContext } from "../../http/route.ts";
import { bareNamesIn } from "../../kql/issues.ts";
import type { NamesOf } from "../../kql/kept/kept-directory.ts";
import { readEntry } from "./entry.ts";
import { encodeEntry } from "./entry-json.ts";
import { NameWarnings } from "./query/name-warnings.ts";
import { unreadable } from "./read-logs.ts";
import { type SearchResult, searchLogs } from "./search.ts";
import { readSelection } from "./selection.ts";
import { LogReader } from "./store.ts";
import { Entry, SearchAnswer, SearchParameters } from "./types.ts";

export interface LogSearchOptions {
  readonly ranges: LogRanges;
  /** What one statement may cost. */
  readonly budget: QueryBudget;
  /** Signs cursors; the same for every instance of the server. */
  readonly cursorKey: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** What an organisation keeps for its queries. */
  readonly kept: NamesOf;
}

const EntryParams = Type.Object({ id: Type.String({ pattern: "^(?:0|[1-9][0-9]{0,19})$" }) });

/** Routes that read stored logs. */
export function logSearchRoutes({ ranges, budget, cursorKey, now, kept }: LogSearchOptions) {
  const monotonicMs = () => performance.now();
  const nameWarnings = new NameWarnings(now);
  const warningsFor = async (logs: RangeReading, parameters: SearchParameters): Promise<ReadWarning[]> => {
    const names = await kept.namesOf(logs.caller.organizationId);
    const { query: _query, q: _q, ...range } = parameters;
    const { timeRange } = readSelection(range);
    return nameWarnings.lookFor(logs, bareNamesIn(parameters.query ?? "", now(), names), timeRange)();
  };
  return [
    route({
      method: "GET",
      path: "/api/v1/logs/search",
      tag: "Logs",
      summary: "Find log entries, newest first",
      access: { role: "viewer", scope: "logs:read" },
      query: SearchParameters,
      responses: { 200: { description: "One page of the entries that match", schema: SearchAnswer } },
      errors: ["KQL_INVALID", "QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
      handler: async (context, { query }) => {
        const caller = callerOf(context);
        const { value, coverage } = await ranges.read(caller, async (logs) => {
          const reader = new LogReader({ logs, budget });
          const found = await searchLogs({ reader, cursorKey, now, kept, monotonicMs }, caller, query);
          // Where something is found, nobody asks why there is nothing.
          const isAsked = found.total === 0 && query.query !== undefined;
          return { found, ofNames: isAsked ? await warningsFor(logs, query) : [] };
        });
        const warnings = [...coverage.warnings, ...value.ofNames];
        return answerSearch(context, value.found, { ...coverage, warnings });
      },
    }),
    route({
      method: "GET",
      path: "/api/v1/logs/:id",
      tag: "Logs",
      summary: "Read one log entry",
      access: { role: "viewer", scope: "logs:read" },
      params: EntryParams,
      responses: { 200: { description: "The entry", schema: Entry } },
      errors: ["QUERY_TOO_EXPENSIVE", "QUERY_TIMEOUT"],
      handler: async (context, { params }) => {
        const id = BigInt(params.id);
        const found = await ranges.read(callerOf(context), (logs) => readEntry(logs, budget, id));
        return answerInTexts(context, [encodeEntry(entryOf(found))]);
      },
    }),
  ];
}

/** What was found of an entry. Throws NOT_FOUND, or that the store does not answer where the entry may be in a part of it. */
export function entryOf<T>({ value, coverage }: { value: T | null; coverage: Coverage }): T {
  if (value !== null) return value;
  if (coverage.partial) throw unreadable();
  throw new ApiError("NOT_FOUND", "No such log entry.");
}

/** Entries are JSON text already; the answer is put together around them. */
export function answerSearch(
  context: Pick<RequestContext, "answerMemory">,
  { entries, nextCursor, stats, ...rest }: SearchResult,
  { partial, warnings, archive }: Coverage,
): Promise<Response> {
  function* texts(): Generator<string> {
    let separator = '{"entries":[';
    for (const entry of entries) {
      yield separator + entry;
      separator = ",";
    }
    const opening = separator === "," ? "" : separator;
    yield `${opening}],${JSON.stringify({
      nextCursor: nextCursor(),
      ...rest,
      partial,
      warnings,
      stats: { ...stats, archive },
    }).slice(1)}`;
  }
  return answerInTexts(context, texts());
}

/** JSON that is put together from texts while the client takes it. */
export function answerInTexts(
  { answerMemory }: Pick<RequestContext, "answerMemory">,
  texts: Iterable<string>,
): Promise<Response> {
  return answerWith({
    pieces: piecesOf(texts, ANSWER_PIECE_BYTES),
    memory: answerMemory,
    headers: { "content-type": "application/json" },
  });
}
