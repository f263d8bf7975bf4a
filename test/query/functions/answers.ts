import { compileKql, type Diagnostic } from "../../../query/index.ts";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { rowsOf } from "../query-store.ts";

const NOW_NS = 1_750_000_000_000_000_000n;

/** The rows of a query that reads no table, in the wire formats of its columns. Throws its first diagnostic. */
export async function rowsOfQuery(
  runner: QueryRunner,
  text: string,
): Promise<readonly (readonly unknown[])[]> {
  const compiled = compileKql(text, { nowNs: NOW_NS });
  if (!compiled.ok) throw new Error(`${compiled.diagnostics[0]?.message} in ${text}`);
  return rowsOf(runner, compiled.query.relation, 1);
}

/** The columns of one query's only row. */
export async function rowOfQuery(runner: QueryRunner, text: string): Promise<readonly unknown[]> {
  const rows = await rowsOfQuery(runner, text);
  if (rows.length !== 1 || rows[0] === undefined) throw new Error(`${rows.length} rows of ${text}`);
  return rows[0];
}

/** What is wrong with a query; null when nothing is. */
export function complaintAbout(text: string): Pick<Diagnostic, "code" | "message"> | null {
  const compiled = compileKql(text, { nowNs: NOW_NS });
  return compiled.ok ? null : (compiled.diagnostics[0] ?? null);
}

/** The expressions with their values: one statement for all. */
export async function valuesOf(
  runner: QueryRunner,
  expressions: readonly string[],
): Promise<readonly (readonly [expression: string, value: unknown])[]> {
  const columns = expressions.map((expression, i) => `v${i} = ${expression}`);
  const row = await rowOfQuery(runner, `print ${columns.join(", ")}`);
  return expressions.map((expression, i) => [expression, row[i]]);
}
