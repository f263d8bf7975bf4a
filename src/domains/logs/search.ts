import { LOG_ID_EPOCH_MS } from "../../../ingest/index.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import type { NamesOf } from "../../kql/kept/kept-directory.ts";
import type { QueryAnswer, QueryCaller } from "../../storage/query-runner.ts";
import type { StatementCost } from "../../storage/statement-wire.ts";
import { type CursorSeal, decodeCursor, encodeCursor, type SearchCursor } from "./cursor.ts";
import { type EntryPosition, encodeEntry, positionOf } from "./entry-json.ts";
import { PAGE_DEFAULT_ENTRIES, TOTAL_MAX_ENTRIES } from "./limits.ts";
import { selectionOf } from "./selection.ts";
import type { EntrySource, LogSelection } from "./store.ts";
import type { SearchParameters } from "./types.ts";

interface SearchDependencies {
  readonly reader: EntrySource;
  /** Signs cursors; the same for every instance of the server. */
  readonly cursorKey: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly kept: NamesOf;
  readonly monotonicMs: () => number;
}

/** One page. Its entries are made while they are read, which is possible once; what follows from the last is known then. */
export interface SearchResult {
  /** The JSON text of each entry. */
  readonly entries: Iterable<string>;
  /** To be asked when the entries have been read. */
  readonly nextCursor: () => string | null;
  readonly total: number;
  readonly totalIsExact: boolean;
  readonly stats: { readonly rowsRead: number; readonly bytesRead: number; readonly elapsedMs: number };
}

/**
 * One page of the entries that match, newest first. Paging to the end shows every entry that was there at the first
 * page exactly once, whatever arrives meanwhile. Throws VALIDATION_FAILED for a cursor that was not made for these
 * filters, and what the store's reader throws.
 */
export async function searchLogs(
  deps: SearchDependencies,
  caller: QueryCaller,
  parameters: SearchParameters,
): Promise<SearchResult> {
  const startMs = deps.monotonicMs();
  const selection = await selectionOf(deps, caller.organizationId, parameters);
  const seal = sealOf(deps, caller.organizationId, parameters);
  const cursor = parameters.cursor === undefined ? null : readCursor(parameters.cursor, seal);
  const limit = parameters.limit ?? PAGE_DEFAULT_ENTRIES;

  const reading = deps.reader.readPage(caller, selection, cursor, limit + 1);
  const ahead = cursor === null && isCheapToCount(selection) ? readFacts(deps, caller, selection) : null;
  const [page, factsAhead] = await Promise.all([reading, ahead]);
  const found = page.count;
  const hasMore = found > limit;
  // A first page that holds everything has answered the count; and searches for something rare cost most.
  const facts =
    factsAhead ?? (cursor === null && hasMore ? await readFacts(deps, caller, selection) : NO_FACTS);
  const counted = cursor ?? (hasMore ? totalOf(facts, found) : { total: found, totalIsExact: true });

  let last: EntryPosition | null = null;
  function* entries(): Generator<string> {
    let count = 0;
    for (const row of page.rows) {
      if (++count === limit) last = positionOf(row);
      yield encodeEntry(row);
      if (count === limit) return;
    }
  }
  const frozen = { ...counted, newestId: cursor?.newestId ?? facts.newestId };
  const answers: StatementCost[] = [page, ...facts.answers];
  return {
    entries: entries(),
    nextCursor: () => (hasMore && last !== null ? encodeCursor({ ...frozen, position: last }, seal) : null),
    total: counted.total,
    totalIsExact: counted.totalIsExact,
    stats: {
      rowsRead: sum(answers.map(({ rowsRead }) => rowsRead)),
      bytesRead: sum(answers.map(({ bytesRead }) => bytesRead)),
      elapsedMs: Math.round((deps.monotonicMs() - startMs) * 1000) / 1000,
    },
  };
}

/** The bits of an id below its milliseconds. */
const LOG_ID_BITS_BELOW_MS = 22n;

/** What is found out at the first page of a search for all of them. */
interface SearchFacts {
  readonly newestId: bigint;
  /** Entries that match, up to one beyond the limit; null when counting them would have cost too much. */
  readonly matching: number | null;
  readonly answers: readonly QueryAnswer[];
}

const NO_FACTS: SearchFacts = { newestId: 0n, matching: null, answers: [] };

/** Without a search of messages a few bytes of each row decide: so little that counting goes on beside the page. */
function isCheapToCount({ filter }: LogSelection): boolean {
  return filter.search === null && (filter.query ?? null) === null;
}

async function readFacts(
  { reader, now }: SearchDependencies,
  caller: QueryCaller,
  selection: LogSelection,
): Promise<SearchFacts> {
  // What other instances, or a millisecond's overflow, have put beyond this clock's present has to be looked up.
  const presentId = (BigInt(now() - LOG_ID_EPOCH_MS + 1) << LOG_ID_BITS_BELOW_MS) - 1n;
  const [count, newest] = await Promise.all([
    reader.countEntries(caller, selection, TOTAL_MAX_ENTRIES + 1).catch(refusedCount),
    reader.readNewestId(caller, presentId),
  ]);
  return {
    newestId: BigInt(textCell(newest) ?? presentId),
    matching: count === null ? null : Number(textCell(count)),
    answers: count === null ? [newest] : [count, newest],
  };
}

/** The total of a search of which a page found that many entries and knows that there are no fewer. */
function totalOf({ matching }: SearchFacts, found: number): { total: number; totalIsExact: boolean } {
  const total = Math.min(Math.max(matching ?? 0, found), TOTAL_MAX_ENTRIES);
  return { total, totalIsExact: matching !== null && matching <= TOTAL_MAX_ENTRIES };
}

/** A count that would cost too much is left out; any other failure is the search's own. */
function refusedCount(error: unknown): null {
  if (error instanceof ApiError && (error.code === "QUERY_TOO_EXPENSIVE" || error.code === "QUERY_TIMEOUT"))
    return null;
  throw error;
}

/** The one value of a statement with one row and one column; null where it is null. */
function textCell({ rows }: QueryAnswer): string | null {
  const cell = rows[0]?.[0];
  return typeof cell === "string" ? cell : null;
}

function sealOf(
  { cursorKey }: SearchDependencies,
  organizationId: number,
  { q, query, service, level, from, to }: SearchParameters,
): CursorSeal {
  const filters = [q, query, service, level, from, to].map((value) => value ?? null);
  return { key: cursorKey, organizationId, filters: JSON.stringify(filters) };
}

function readCursor(text: string, seal: CursorSeal): SearchCursor {
  const cursor = decodeCursor(text, seal);
  if (cursor !== null) return cursor;
  throw validationFailed([
    { path: "/cursor", code: "invalid_string", message: "is not a cursor of a search with these filters" },
  ]);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
