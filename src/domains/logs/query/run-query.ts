import { DISCOVERY_MAX_ROWS, emit, guardPlan, type Relation } from "../../../../query/index.ts";
import type { StatementProgress } from "../../../storage/query-runner.ts";
import { compileQueryText, withPlace } from "../kql.ts";
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
  const ask = async (relation: Relation, maxRows: number) => {
    const compiled = emit(guardPlan(relation, { organizationId, timeRange, maxRows, budget }));
    try {
      return { compiled, answer: await runner.run("query", compiled, signal, onProgress) };
    } catch (error) {
      throw withPlace(error, query);
    }
  };
  const look = async (relation: Relation) => (await ask(relation, DISCOVERY_MAX_ROWS)).answer.rows;
  const { relation, others, render } = await compileQueryText(query, now(), look);
  const answers = [];
  for (const table of [relation, ...others]) answers.push(await ask(table, QUERY_MAX_ROWS + 1));
  const bounds = { maxRows: QUERY_MAX_ROWS, maxChars: QUERY_MAX_ANSWER_CHARS };
  const tables = answers.map(({ compiled, answer }) => {
    const { rows, isTruncated } = encodeTable(compiled.columns, answer.rows, bounds);
    const columns = JSON.stringify(compiled.columns.map(({ name, type }) => ({ name, type })));
    return { text: `"columns":${columns},"rows":${rows}`, isTruncated };
  });
  const [first, ...more] = tables.map(({ text }) => text);
  const elapsedMs = Math.round((monotonicMs() - startMs) * 1000) / 1000;
  const rest = JSON.stringify({
    truncated: tables.some(({ isTruncated }) => isTruncated),
    stats: {
      rowsRead: sum(answers.map(({ answer }) => answer.rowsRead)),
      bytesRead: sum(answers.map(({ answer }) => answer.bytesRead)),
      elapsedMs,
    },
    ...(render !== null && { render }),
  });
  const further = more.length === 0 ? "" : `"tables":[${more.map((text) => `{${text}}`).join(",")}],`;
  return `{${first},${further}${rest.slice(1)}`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
