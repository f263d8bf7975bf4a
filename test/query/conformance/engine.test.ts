import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { compilingShare } from "./compiling-share.ts";
import { conformancePage } from "./conformance-page.ts";
import { EXPLAINED_DIFFERENCES } from "./explained-differences.ts";
import { isInScope, type Measured, measureAnswers } from "./measure-answers.ts";
import { readCollection, readRecordedQueries } from "./recorded-answers.ts";

const PAGE = join(import.meta.dir, "../../../docs/kql-conformance.md");
const recorded = readRecordedQueries();

/** Of the queries in scope, those that have to agree with the engine; only ever raised. */
const AGREEMENT_MIN_SHARE = 0.95;

let stores: TestStores;
let measured: readonly Measured[] = [];

beforeAll(async () => {
  if (recorded === null) return;
  stores = await openTestStores();
  measured = await measureAnswers(queryRunner(stores), recorded);
}, 600_000);
afterAll(async () => {
  if (recorded !== null) await stores.close();
});

describe.skipIf(recorded === null)("answers of the real engine", () => {
  test("agree with ours, but for differences that are explained", () => {
    const inScope = measured.filter(({ query }) => isInScope(query));
    const differing = inScope.filter(
      ({ query, outcome }) => outcome === "differs" && !EXPLAINED_DIFFERENCES.has(query.id),
    );
    expect(differing.map(({ query, why }) => [query.id, why])).toEqual([]);
    const agreeing = inScope.filter(({ outcome }) => outcome === "agrees").length;
    expect(agreeing / inScope.length).toBeGreaterThanOrEqual(AGREEMENT_MIN_SHARE);
  });

  test("are never contradicted by queries out of scope: they are refused, or agree", () => {
    const wrong = measured.filter(({ query, outcome }) => !isInScope(query) && outcome === "differs");
    expect(wrong.map(({ query, why }) => [query.id, why])).toEqual([]);
  });

  test("are what docs/kql-conformance.md says of them", async () => {
    const collection = (name: string, property: string): string[] =>
      (readCollection(name) ?? []).map((record) => String(record[property]));
    const page = conformancePage(measured, [
      { what: "conditions", ...compilingShare(collection("predicates", "predicate")) },
      { what: "queries of threat hunters", ...compilingShare(collection("hunting", "kql")) },
    ]);
    if (Bun.env.RECORD === "1") await Bun.write(PAGE, page);
    expect(await Bun.file(PAGE).text()).toBe(page);
  });
});
