import { compileKql, emit, guardPlan, INTERACTIVE_BUDGET } from "../../../query/index.ts";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { queryCaller } from "../../harness/query-caller.ts";

/** An expression in KQL and its value: times as `2020-01-31T10:00:00.5Z`, spans as `1.02:03:04.5`, large longs as text. */
export type Case = readonly [expression: string, value: unknown];

const ORGANIZATION_ID = 1;
const NOW_NS = 1_700_000_000_000_000_000n;

/** The cases whose value is another one, with that value; empty when all is well. */
export async function wrongCases(
  runner: QueryRunner,
  cases: readonly Case[],
  perStatement = 20,
): Promise<unknown[]> {
  const wrong: unknown[] = [];
  for (let from = 0; from < cases.length; from += perStatement) {
    const some = cases.slice(from, from + perStatement);
    const values = await printed(
      runner,
      some.map(([expression]) => expression),
    );
    some.forEach(([expression, expected], i) => {
      if (!Bun.deepEquals(values[i], expected)) wrong.push({ expression, expected, value: values[i] });
    });
  }
  return wrong;
}

/** The values of expressions, computed by one statement. */
export async function printed(runner: QueryRunner, expressions: readonly string[]): Promise<unknown[]> {
  const [row = []] = await answered(
    runner,
    `print ${expressions.map((text, i) => `v${i} = ${text}`).join(", ")}`,
  );
  return row;
}

/** The rows of a query text. */
export async function answered(runner: QueryRunner, text: string): Promise<unknown[][]> {
  const compiled = compileKql(text, { nowNs: NOW_NS });
  if (!compiled.ok)
    throw new Error(`${text}\n${compiled.diagnostics.map(({ message }) => message).join("\n")}`);
  const scope = {
    organizationId: ORGANIZATION_ID,
    timeRange: { from: null, to: null },
    maxRows: 10_000,
    budget: INTERACTIVE_BUDGET,
  };
  const statement = emit(guardPlan(compiled.query.relation, scope));
  const { rows } = await runner.run("test", statement, queryCaller());
  return rows.map((row) =>
    row.map((value, i) => {
      const column = statement.columns[i];
      return column === undefined ? value : decoded(value, column.type, column.wireFormat);
    }),
  );
}

function decoded(value: unknown, type: string, wire: string): unknown {
  if (wire === "json") return value === "" ? null : JSON.parse(String(value));
  if (value === null) return null;
  if (wire === "nanoseconds")
    return type === "datetime" ? timeText(BigInt(String(value))) : spanText(BigInt(String(value)));
  if (type === "bool") return Boolean(value);
  if (wire !== "integer") return value === "-nan" ? "nan" : value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

function fractionText(nanoseconds: bigint): string {
  return nanoseconds === 0n ? "" : `.${String(nanoseconds).padStart(9, "0").replace(/0+$/, "")}`;
}

function timeText(nanoseconds: bigint): string {
  const fraction = ((nanoseconds % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const seconds = Number((nanoseconds - fraction) / 1_000_000_000n);
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}${fractionText(fraction)}Z`;
}

function spanText(nanoseconds: bigint): string {
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const seconds = size / 1_000_000_000n;
  const days = seconds / 86_400n;
  const two = (value: bigint) => String(value).padStart(2, "0");
  const clock = [two((seconds / 3600n) % 24n), two((seconds / 60n) % 60n), two(seconds % 60n)].join(":");
  return `${nanoseconds < 0n ? "-" : ""}${days > 0n ? `${days}.` : ""}${clock}${fractionText(size % 1_000_000_000n)}`;
}
