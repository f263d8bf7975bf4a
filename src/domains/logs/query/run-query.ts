import {
  type CompiledColumn,
  type CompiledQuery,
  DISCOVERY_MAX_ROWS,
  emit,
  guardPlan,
  type Relation,
} from "../../../../query/index.ts";
import { compileQueryText, withPlace } from "../../../kql/issues.ts";
import type { LargeAnswer, QueryCaller, StatementProgress } from "../../../storage/query-runner.ts";
import { QUERY_MAX_ANSWER_CHARS, QUERY_MAX_ROWS } from "../limits.ts";
import type { ReadDependencies } from "../read-logs.ts";
import { readSelection } from "../selection.ts";
import { encodeTable } from "./table-json.ts";
import type { QueryBody } from "./types.ts";

export interface QueryDependencies extends ReadDependencies {
  readonly monotonicMs: () => number;
}

/**
 * The answer to a query as JSON text, made while it is read, which is possible once. Throws KQL_INVALID,
 * VALIDATION_FAILED for a range that ends before it begins, and what `QueryRunner.read` throws.
 */
export async function runQuery(
  { runner, budget, now, monotonicMs }: QueryDependencies,
  caller: QueryCaller,
  { query, from, to }: QueryBody,
  onProgress: ((progress: StatementProgress) => void) | null,
): Promise<Generator<string>> {
  const startMs = monotonicMs();
  const { organizationId } = caller;
  const { timeRange } = readSelection({
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  });
  const compile = (relation: Relation, maxRows: number): CompiledQuery =>
    emit(guardPlan(relation, { organizationId, timeRange, maxRows, budget }));
  const placed = (error: unknown): never => {
    throw withPlace(error, query);
  };
  const look = async (relation: Relation) =>
    (await runner.run("query", compile(relation, DISCOVERY_MAX_ROWS), caller, onProgress).catch(placed)).rows;
  const { relation, others, render } = await compileQueryText(query, now(), look);
  const tables: AnsweredTable[] = [];
  for (const table of [relation, ...others]) {
    const compiled = compile(table, QUERY_MAX_ROWS + 1);
    tables.push({
      columns: compiled.columns,
      answer: await runner.read("query", compiled, caller, { onProgress }).catch(placed),
    });
  }
  const stats = {
    rowsRead: sum(tables.map(({ answer }) => answer.rowsRead)),
    bytesRead: sum(tables.map(({ answer }) => answer.bytesRead)),
    elapsedMs: Math.round((monotonicMs() - startMs) * 1000) / 1000,
  };
  return answerTexts(tables, { stats, ...(render !== null && { render }) });
}

interface AnsweredTable {
  readonly columns: readonly CompiledColumn[];
  readonly answer: LargeAnswer;
}

function* answerTexts([first, ...more]: readonly AnsweredTable[], rest: object): Generator<string> {
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
function* tableTexts({ columns, answer: { rows } }: AnsweredTable): Generator<string, boolean> {
  yield `"columns":${JSON.stringify(columns.map(({ name, type }) => ({ name, type })))},"rows":`;
  const bounds = { maxRows: QUERY_MAX_ROWS, maxChars: QUERY_MAX_ANSWER_CHARS };
  return (yield* encodeTable(columns, rows, bounds)) || rows.isCut;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
