import {
  type CompiledQuery,
  compileKql,
  emit,
  guardPlan,
  INTERACTIVE_BUDGET,
  type KqlCompilation,
  type KqlOptions,
  type Relation,
} from "../../../query/index.ts";
import { openLibrary } from "../../../src/kql/library/open-library.ts";
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { queryCaller } from "../../harness/query-caller.ts";
import { DRAWN_SERIES, drawnDifference } from "./drawn-series.ts";
import { isDrawnByLot } from "./explained-differences.ts";
import { differenceOf, isOrdered, type RecordedQuery } from "./recorded-answers.ts";

/** What the language here leaves out on purpose: geography, graphs, other plugins, state machines. */
const OUT_OF_SCOPE =
  /geo_|make-graph|graph|\bscan\b|\bpartition\b|activity_|evaluate\s+(?!bag_unpack|pivot)|\bexternaldata|_plugin|ai_/i;

/** About when the answers were recorded: `now()` is in some of them. */
const RECORDED_NS = BigInt(Date.UTC(2026, 7, 2, 23, 30)) * 1_000_000n;

/** Without a database of places. */
const LIBRARY = await openLibrary(null);

export function isInScope({ text }: RecordedQuery): boolean {
  return !OUT_OF_SCOPE.test(text);
}

/** How an answer compares with the engine's. */
export interface Measured {
  readonly query: RecordedQuery;
  /** `differs` with what the difference is, `refused` with why. */
  readonly outcome: "agrees" | "refused" | "differs";
  readonly why: string;
}

/** Runs each query over a store without rows, as the engine's were. */
export async function measureAnswers(
  runner: QueryRunner,
  queries: readonly RecordedQuery[],
): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const query of queries) measured.push({ query, ...(await outcomeOf(runner, query)) });
  return measured;
}

async function outcomeOf(
  runner: QueryRunner,
  { id, text, answer }: RecordedQuery,
): Promise<Omit<Measured, "query">> {
  if (DRAWN_SERIES.has(id)) return outcomeWith(await drawnDifference(runner, id));
  const compiled = await compileWithDiscovery(runner, text);
  if (!compiled.ok) {
    const why = compiled.diagnostics[0]?.message ?? "";
    return { outcome: answer === null ? "agrees" : "refused", why };
  }
  const statement = compiledFor(compiled.query.relation);
  const rows = await rowsOf(runner, statement);
  if (answer === null) return { outcome: "differs", why: "the engine refuses it" };
  if (isDrawnByLot(id)) return { outcome: "differs", why: "the answer is drawn by lot" };
  return outcomeWith(differenceOf(answer, statement.columns, rows, isOrdered(text)));
}

function outcomeWith(difference: string | null): Omit<Measured, "query"> {
  return difference === null ? { outcome: "agrees", why: "" } : { outcome: "differs", why: difference };
}

/** Compiles, with looks at the data where the columns depend on them. */
async function compileWithDiscovery(runner: QueryRunner, text: string): Promise<KqlCompilation> {
  const discovered: string[][][] = [];
  for (;;) {
    const options: KqlOptions = { nowNs: RECORDED_NS, discovered, library: LIBRARY };
    const compiled = compileKql(text, options);
    if (compiled.ok || compiled.discovery === null) return compiled;
    const rows = await rowsOf(runner, compiledFor(compiled.discovery));
    discovered.push(rows.map((row) => row.map(String)));
  }
}

function compiledFor(relation: Relation): CompiledQuery {
  const timeRange = { from: null, to: null };
  return emit(
    guardPlan(relation, { organizationId: 1, timeRange, maxRows: 10_000, budget: INTERACTIVE_BUDGET }),
  );
}

async function rowsOf(
  runner: QueryRunner,
  compiled: CompiledQuery,
): Promise<readonly (readonly unknown[])[]> {
  return (await runner.run("test", compiled, queryCaller())).rows;
}
