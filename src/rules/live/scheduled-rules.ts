import type { Sql } from "postgres";
import { INTERACTIVE_BUDGET, LOG_TABLES, NO_LIBRARY, type QueryBudget } from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import { FairShare } from "../../concurrency/fair-share.ts";
import { MemoryShare } from "../../concurrency/memory-share.ts";
import { ApiError } from "../../errors.ts";
import { compileQueryText } from "../../kql/issues.ts";
import { FileProblem } from "../../kql/kept/delimited-rows.ts";
import { namesWithin } from "../../kql/kept/kept-directory.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import { groupName } from "../counters/groups.ts";
import type { Stretch } from "../evaluation/stretches.ts";
import { COUNTING_MEMORY_BYTES } from "../seal/limits.ts";
import { SCHEDULED_MAX_JUDGED, SCHEDULED_MAX_ROWS, SCHEDULED_SAID_MAX_CHARS } from "./limits.ts";
import type { LiveRule } from "./live-store.ts";
import type { Findings, GroupFinding, Moment, RuleFinder } from "./rule-finder.ts";

const NANOS_PER_MILLI = 1_000_000n;
const SERVER_USER_ID = 0;

/** A query that is asked again and again, each time of the entries of one window. Milliseconds. */
interface ScheduledQuery {
  readonly kql: string;
  readonly windowMs: number;
  readonly everyMs: number;
  /** Rows of an answer, of a group where there are groups, from which on it is told. */
  readonly threshold: number;
  readonly groupBy: readonly string[];
}

interface ScheduledDependencies {
  readonly sql: Sql;
  readonly ranges: Pick<LogRanges, "read">;
  readonly budget?: QueryBudget;
}

/** When the query found enough, by the names of groups, and what it found then. */
type ScheduledStretches = ReadonlyMap<string, readonly (Stretch & { readonly because: string })[]>;

/**
 * Rules that ask a whole query, whatever it makes of entries: of each window when it is over, as far as everything is known. Functions
 * and tables that the organisation keeps are those of that moment.
 */
export class ScheduledRules implements RuleFinder {
  readonly #deps: ScheduledDependencies;
  readonly #memory = new FairShare(COUNTING_MEMORY_BYTES);

  constructor(deps: ScheduledDependencies) {
    this.#deps = deps;
  }

  readonly find = async (rule: LiveRule, at: Moment, signal: AbortSignal): Promise<Findings | null> => {
    const { definition, organizationId } = rule;
    const { condition, windowMs, groupBy } = definition;
    if (condition.kind !== "scheduled") return null;
    const { everyMs, sinceMs } = condition;
    const judgedMs = at.kept.get("")?.judgedMs ?? sinceMs;
    const endMs = Math.max(judgedMs, Math.floor(at.throughMs / everyMs) * everyMs);
    const toMs = Math.min(endMs, judgedMs + SCHEDULED_MAX_JUDGED * everyMs);
    const ends = endsBetween(judgedMs, toMs, everyMs);
    const memory = new MemoryShare(this.#memory, [organizationId]);
    try {
      const caller = { organizationId, userId: SERVER_USER_ID, signal, memory };
      const found = await askWindows(this.#deps, caller, { ...condition, windowMs, groupBy }, ends);
      const groups = new Map<string, GroupFinding>(
        [...found].map(([group, stretches]) => [
          group,
          { ...findingOf(stretches), judgedMs: null, nextMs: null },
        ]),
      );
      const nextMs = toMs < endMs ? toMs : toMs + everyMs;
      groups.set("", { ...findingOf(found.get("") ?? []), judgedMs: toMs, nextMs });
      return { groups, note: null };
    } finally {
      memory.close();
    }
  };
}

function findingOf(stretches: readonly (Stretch & { readonly because: string })[]) {
  const reasons = new Map(stretches.map(({ fromMs, because }) => [fromMs, because]));
  const because = (fromMs: number): string => reasons.get(fromMs) ?? "The query has rows.";
  return { stretches, because, wholeFromMs: null };
}

/** When windows end after a moment, up to another; both are ends themselves. */
export function endsBetween(afterMs: number, toMs: number, everyMs: number): number[] {
  const count = Math.max(0, Math.floor((toMs - afterMs) / everyMs));
  return Array.from({ length: count }, (_, i) => afterMs + (i + 1) * everyMs);
}

/** What the query says of each of the windows. Throws KQL_INVALID and what reading logs throws. */
export async function askWindows(
  { sql, ranges, budget = INTERACTIVE_BUDGET }: ScheduledDependencies,
  caller: QueryCaller,
  query: ScheduledQuery,
  ends: readonly number[],
): Promise<ScheduledStretches> {
  const found = new Map<string, (Stretch & { readonly because: string })[]>();
  const { organizationId } = caller;
  for (const endMs of ends) {
    const kept = await askPostgres(() =>
      inOrganization(sql, organizationId, (tx) => namesWithin(tx, organizationId)),
    );
    const timeRange = {
      from: BigInt(endMs - query.windowMs) * NANOS_PER_MILLI,
      to: BigInt(endMs) * NANOS_PER_MILLI - 1n,
    };
    const { value } = await ranges.read(caller, async (logs) => {
      const statement = { operation: "scheduled_rule", timeRange, maxRows: SCHEDULED_MAX_ROWS, budget };
      const { relation } = await compileQueryText(query.kql, {
        ...{ nowMs: endMs, tables: LOG_TABLES, kept, library: NO_LIBRARY },
        look: async (plan) => (await logs.run({ ...statement, plan })).rows,
        readExternal: () =>
          Promise.reject(new FileProblem("A rule reads nothing from elsewhere: keep it as a table.")),
      });
      const names = relation.columns.map(({ name }) => name);
      return { names, rows: (await logs.run({ ...statement, plan: relation })).rows };
    });
    const byGroup = Map.groupBy(value.rows, (row) => groupName(cellsOf(value.names, row, query.groupBy)));
    for (const [group, rows] of byGroup) {
      if (rows.length < query.threshold) continue;
      const stretches = found.get(group) ?? [];
      const times = { fromMs: endMs, toMs: endMs, untilMs: endMs + query.everyMs };
      stretches.push({ ...times, peak: rows.length, because: explain(query, value.names, rows) });
      found.set(group, stretches);
    }
  }
  return found;
}

/** Throws KQL_INVALID where the answer has no such column. */
function cellsOf(
  names: readonly string[],
  row: readonly unknown[],
  groupBy: readonly string[],
): readonly unknown[] {
  return groupBy.map((field) => {
    const at = names.indexOf(field);
    if (at === -1)
      throw new ApiError("KQL_INVALID", `The answer has no column ${field}, by which the rule groups.`);
    return row[at];
  });
}

function explain(
  { windowMs, threshold }: ScheduledQuery,
  names: readonly string[],
  rows: readonly (readonly unknown[])[],
): string {
  const [first = []] = rows;
  const cells = names.map((name, i) => `${name}=${String(first[i] ?? "")}`).join(", ");
  const said = `${rows.length} ${rows.length === 1 ? "row" : "rows"} of ${windowMs / 1000} s; the rule tells of ${threshold} or more. The first: ${cells}`;
  return said.length > SCHEDULED_SAID_MAX_CHARS
    ? `${said.slice(0, SCHEDULED_SAID_MAX_CHARS).toWellFormed()}…`
    : said;
}
