import { afterAll, beforeAll, describe, expect, test } from "bun:test";
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
import type { QueryRunner } from "../../../src/storage/query-runner.ts";
import { queryCaller } from "../../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { EXPLAINED_DIFFERENCES } from "./explained-differences.ts";
import { differenceOf, type RecordedQuery, readRecordedQueries } from "./recorded-answers.ts";

const recorded = readRecordedQueries();

/** What the language here leaves out on purpose: geography, graphs, other plugins, state machines, series. */
const OUT_OF_SCOPE =
  /geo_|make-graph|graph|\bscan\b|\bpartition\b|series_|activity_|evaluate\s+(?!bag_unpack|pivot)|\bexternaldata|_plugin|ai_/i;

/** Of the queries in scope, those that have to agree with the engine; only ever raised. */
const AGREEMENT_MIN_SHARE = 0.93;

let stores: TestStores;
let runner: QueryRunner;

beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
});
afterAll(() => stores.close());

function compiledFor(relation: Relation): CompiledQuery {
  const timeRange = { from: null, to: null };
  return emit(
    guardPlan(relation, { organizationId: 1, timeRange, maxRows: 10_000, budget: INTERACTIVE_BUDGET }),
  );
}

async function rowsOf(compiled: CompiledQuery): Promise<readonly (readonly unknown[])[]> {
  return (await runner.run("test", compiled, queryCaller())).rows;
}

/** Compiles, with looks at the data where the columns depend on them. */
async function compileWithDiscovery(text: string): Promise<KqlCompilation> {
  const discovered: { name: string; types: string[] }[][] = [];
  for (;;) {
    const options: KqlOptions = { nowNs: BigInt(Date.now()) * 1_000_000n, discovered };
    const compiled = compileKql(text, options);
    if (compiled.ok || compiled.discovery === null) return compiled;
    const types = new Map<string, string[]>();
    for (const [name, type] of await rowsOf(compiledFor(compiled.discovery)))
      types.set(String(name), [...(types.get(String(name)) ?? []), String(type)]);
    discovered.push([...types].map(([name, of]) => ({ name, types: of })));
  }
}

type Outcome = "agrees" | "refused" | string;

async function outcomeOf({ text, answer }: RecordedQuery): Promise<Outcome> {
  const compiled = await compileWithDiscovery(text);
  if (!compiled.ok) return answer === null ? "agrees" : "refused";
  const statement = compiledFor(compiled.query.relation);
  const rows = await rowsOf(statement);
  if (answer === null) return "the engine refuses it";
  return differenceOf(answer, statement.columns, rows) ?? "agrees";
}

describe.skipIf(recorded === null)("answers of the real engine", () => {
  test("agree with ours, but for differences that are explained", async () => {
    const queries = (recorded ?? []).filter(({ text }) => !OUT_OF_SCOPE.test(text));
    const outcomes = new Map<string, Outcome>();
    for (const query of queries) outcomes.set(query.id, await outcomeOf(query));
    const differing = [...outcomes].filter(([id, outcome]) => {
      return outcome !== "agrees" && outcome !== "refused" && !EXPLAINED_DIFFERENCES.has(id);
    });
    expect(differing).toEqual([]);
    const agreeing = [...outcomes.values()].filter((outcome) => outcome === "agrees").length;
    expect(agreeing / queries.length).toBeGreaterThanOrEqual(AGREEMENT_MIN_SHARE);
  });

  test("are never contradicted by queries out of scope: they are refused, or agree", async () => {
    const queries = (recorded ?? []).filter(({ text }) => OUT_OF_SCOPE.test(text));
    const wrong: [string, Outcome][] = [];
    for (const query of queries) {
      const outcome = await outcomeOf(query);
      if (outcome !== "agrees" && outcome !== "refused") wrong.push([query.id, outcome]);
    }
    expect(wrong).toEqual([]);
  });
});
