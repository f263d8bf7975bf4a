import { emit, guardPlan } from "../../../../query/index.ts";
import type { StatementProgress } from "../../../storage/query-runner.ts";
import { compileQueryText } from "../kql.ts";
import { QUERY_MAX_ANSWER_CHARS, QUERY_MAX_ROWS } from "../limits.ts";
import type { ReadContext, ReadDependencies } from "../read-logs.ts";
import { readSelection } from "../selection.ts";
import { encodeTable } from "./table-json.ts";
import type { QueryBody } from "./types.ts";

export interface QueryDependencies extends ReadDependencies {
  readonly monotonicMs: () => number;
}

/**
 * The answer to a query as JSON text. Throws KQL_INVALID, VALIDATION_FAILED for a range that ends before it begins,
 * and what `QueryRunner.run` throws.
 */
export async function runQuery(
  { runner, budget, now, monotonicMs }: QueryDependencies,
  { organizationId, signal }: ReadContext,
  { query, from, to }: QueryBody,
  onProgress: ((progress: StatementProgress) => void) | null,
): Promise<string> {
  const startMs = monotonicMs();
  const { timeRange } = readSelection({
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  });
  const { relation, render } = compileQueryText(query, now());
  const scope = { organizationId, timeRange, maxRows: QUERY_MAX_ROWS + 1, budget };
  const compiled = emit(guardPlan(relation, scope));
  const { rows, rowsRead, bytesRead } = await runner.run("query", compiled, signal, onProgress);
  const bounds = { maxRows: QUERY_MAX_ROWS, maxChars: QUERY_MAX_ANSWER_CHARS };
  const table = encodeTable(compiled.columns, rows, bounds);
  const columns = JSON.stringify(compiled.columns.map(({ name, type }) => ({ name, type })));
  const elapsedMs = Math.round((monotonicMs() - startMs) * 1000) / 1000;
  const rest = JSON.stringify({
    truncated: table.isTruncated,
    stats: { rowsRead, bytesRead, elapsedMs },
    ...(render !== null && { render }),
  });
  return `{"columns":${columns},"rows":${table.rows},${rest.slice(1)}`;
}
