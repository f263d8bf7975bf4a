import {
  DISCOVERY_MAX_ROWS,
  type Library,
  type MissingTable,
  type NamedTables,
  type Relation,
} from "../../../../query/index.ts";
import type { ReadWarning } from "../../../archive/reading/coverage.ts";
import type { LogAnswer, LogStatement } from "../../../archive/reading/range-reading.ts";
import { compileQueryText, withPlace } from "../../../kql/issues.ts";
import type { ExternalFiles } from "../../../kql/kept/external-files.ts";
import type { QueryCaller, StatementProgress } from "../../../storage/query-runner.ts";
import { QUERY_MAX_ANSWER_CHARS, QUERY_MAX_ROWS } from "../limits.ts";
import type { RangeDependencies } from "../read-logs.ts";
import { readSelection } from "../selection.ts";
import type { NameWarnings } from "./name-warnings.ts";
import { encodeTable } from "./table-json.ts";
import type { QueryBody } from "./types.ts";

export interface QueryDependencies extends RangeDependencies {
  readonly monotonicMs: () => number;
  readonly externals: Pick<ExternalFiles, "tableOf">;
  readonly nameWarnings: NameWarnings;
  /** What computes the functions that no store does. */
  readonly library: Library;
}

/**
 * The answer to a query over these tables as JSON text, made while it is read, which is possible once. Throws KQL_INVALID,
 * PAT_SCOPE_INSUFFICIENT for another table,
 * VALIDATION_FAILED for a range that ends before it begins, and what `QueryRunner.read` throws.
 */
export async function runQuery(
  { ranges, budget, now, kept, externals, library, nameWarnings, monotonicMs }: QueryDependencies,
  caller: QueryCaller,
  { query, from, to }: QueryBody,
  tables: NamedTables,
  onProgress: ((progress: StatementProgress) => void) | null,
): Promise<Generator<string>> {
  const startMs = monotonicMs();
  const { timeRange } = readSelection({
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  });
  const nowMs = now();
  const names = await kept.namesOf(caller.organizationId);
  const placed = (error: unknown): never => {
    throw withPlace(error, query);
  };
  const { value, coverage } = await ranges.read(caller, async (logs) => {
    const statement = (plan: Relation, maxRows: number): LogStatement => {
      return { operation: "query", plan, timeRange, maxRows, budget };
    };
    const look = async (relation: Relation) =>
      (await logs.run(statement(relation, DISCOVERY_MAX_ROWS), onProgress).catch(placed)).rows;
    const { relation, others, render, bareNames, missingTables } = await compileQueryText(query, {
      ...{ nowMs, look, tables, kept: names, library },
      readExternal: (source) => externals.tableOf(source, caller),
    });
    const answers: LogAnswer[] = [];
    let warned: ReturnType<NameWarnings["lookFor"]> | null = null;
    for (const table of [relation, ...others]) {
      const answer = logs.read(statement(table, QUERY_MAX_ROWS + 1), { onProgress }).catch(placed);
      // Behind the query, which it must not hold up.
      warned ??= nameWarnings.lookFor(logs, bareNames, timeRange);
      answers.push(await answer);
    }
    const ofNames = (await warned?.()) ?? [];
    return {
      answers,
      render,
      ofNames: [...missingTables.map((table) => missingWarning(table, query)), ...ofNames],
    };
  });
  const { answers, render, ofNames } = value;
  const { partial, archive } = coverage;
  const warnings = [...coverage.warnings, ...ofNames];
  const stats = {
    rowsRead: sum(answers.map(({ rowsRead }) => rowsRead)),
    bytesRead: sum(answers.map(({ bytesRead }) => bytesRead)),
    elapsedMs: Math.round((monotonicMs() - startMs) * 1000) / 1000,
    archive,
  };
  return answerTexts(answers, { partial, warnings, stats, ...(render !== null && { render }) });
}

function missingWarning({ message, span }: MissingTable, query: string): ReadWarning {
  const place = span === null ? {} : { name: query.slice(span.start, span.end), ...span };
  return { code: "NO_SUCH_TABLE", day: null, message: `${message} The union goes on without it.`, ...place };
}

function* answerTexts([first, ...more]: readonly LogAnswer[], rest: object): Generator<string> {
  let truncated = false;
  yield "{";
  if (first !== undefined) truncated = yield* tableTexts(first);
  for (const [i, table] of more.entries()) {
    yield i === 0 ? ',"tables":[{' : ",{";
    truncated = (yield* tableTexts(table)) || truncated;
    yield i === more.length - 1 ? "}]" : "}";
  }
  yield `,${JSON.stringify({ truncated, ...rest }).slice(1)}`;
}

/** Returns whether rows are missing. */
function* tableTexts({ columns, rows }: LogAnswer): Generator<string, boolean> {
  yield `"columns":${JSON.stringify(columns.map(({ name, type }) => ({ name, type })))},"rows":`;
  const bounds = { maxRows: QUERY_MAX_ROWS, maxChars: QUERY_MAX_ANSWER_CHARS };
  return (yield* encodeTable(columns, rows, bounds)) || rows.isCut;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
