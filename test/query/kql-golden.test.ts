/**
 * One folder per query text in `kql-goldens`: `input.kql` is the text; `statement.sql` and `parameters.json` are what
 * it compiles to, and `rows.json` what that answers over the entries of `kql-golden-entries.ts`, on a real ClickHouse;
 * or `diagnostics.json` is what is wrong with it. With `RECORD_GOLDENS=1` the outputs are written; read the difference
 * before it is kept. Every text that has rows gives them an order.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CompiledQuery,
  emit,
  guardPlan,
  INTERACTIVE_BUDGET,
  type KqlQuery,
  kqlCapabilities,
  LOG_TABLES,
  NO_LIBRARY,
  NOTHING_KEPT,
  type Relation,
  type RenderHint,
} from "../../query/index.ts";
import { encodeTable } from "../../src/domains/logs/query/table-json.ts";
import { ApiError } from "../../src/errors.ts";
import { compileQueryText } from "../../src/kql/issues.ts";
import { FileProblem } from "../../src/kql/kept/delimited-rows.ts";
import type { QueryRunner } from "../../src/storage/query-runner.ts";
import { insertRows } from "../domains/logs/stored-rows.ts";
import { queryCaller } from "../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { FOREIGN_MARK, goldenRows, NOW_MS, OWN } from "./kql-golden-entries.ts";
import { queryRunner } from "./query-store.ts";

const GOLDENS = join(import.meta.dir, "kql-goldens");
const INPUT = "input.kql";
const ANSWER_FILES = [INPUT, "parameters.json", "rows.json", "statement.sql"];
const REFUSAL_FILES = ["diagnostics.json", INPUT];
const isRecording = Bun.env.RECORD_GOLDENS === "1";
const names = readdirSync(GOLDENS).sort();

let stores: TestStores;
let runner: QueryRunner;

beforeAll(async () => {
  stores = await openTestStores();
  runner = queryRunner(stores);
  await insertRows(stores.clickhouse, goldenRows());
});
afterAll(() => stores.close());

function statementOf(relation: Relation): CompiledQuery {
  const timeRange = { from: null, to: null };
  return emit(
    guardPlan(relation, { organizationId: OWN, timeRange, maxRows: 1000, budget: INTERACTIVE_BUDGET }),
  );
}

async function rowsOf(statement: CompiledQuery): Promise<readonly (readonly unknown[])[]> {
  return (await runner.run("golden", statement, queryCaller())).rows;
}

/** What the text compiles to and answers, as the texts of its files. */
async function outputsOf(text: string): Promise<ReadonlyMap<string, string>> {
  let query: KqlQuery;
  try {
    query = await compileQueryText(text, {
      nowMs: NOW_MS,
      look: (relation) => rowsOf(statementOf(relation)),
      readExternal: () => Promise.reject(new FileProblem("No files elsewhere are read here.")),
      tables: LOG_TABLES,
      kept: NOTHING_KEPT,
      library: NO_LIBRARY,
    });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "KQL_INVALID") throw error;
    return new Map([["diagnostics.json", `${JSON.stringify(error.fields, null, 2)}\n`]]);
  }
  const { relation, others, render } = query;
  const statements = [relation, ...others].map(statementOf);
  const tables = [];
  for (const statement of statements) {
    const lines = tableLines(statement, await rowsOf(statement));
    // The tables of a facet have no order of their own.
    tables.push(tableText(statement, others.length > 0 ? lines.toSorted() : lines));
  }
  return new Map([
    ["statement.sql", `${statements.map(({ sql }) => sql).join("\n;\n")}\n`],
    [
      "parameters.json",
      `${statements.map(({ parameters }) => JSON.stringify(parameters, null, 2)).join("\n")}\n`,
    ],
    ["rows.json", answerText(tables, render)],
  ]);
}

/** A row to a line: a difference shows the rows that differ. */
function tableLines({ columns }: CompiledQuery, rows: readonly (readonly unknown[])[]): string[] {
  const bounds = { maxRows: 1, maxChars: 1_000_000 };
  return rows.map((row) => `    ${[...encodeTable(columns, [row], bounds)].join("").slice(1, -1)}`);
}

function tableText({ columns }: CompiledQuery, lines: readonly string[]): string {
  const head = Object.fromEntries(columns.map(({ name, type }) => [name, type]));
  return `{\n  "columns": ${JSON.stringify(head)},\n  "rows": [\n${lines.join(",\n")}\n  ]\n}`;
}

function answerText(tables: readonly string[], render: RenderHint | null): string {
  const shown = render === null ? "" : `,\n"render": ${JSON.stringify(render)}`;
  return `{"tables": [\n${tables.join(",\n")}\n]${shown}}\n`;
}

describe("a query text compiles to the statement and answers with the rows of its golden", () => {
  test.each(names)("%s", async (name) => {
    const folder = join(GOLDENS, name);
    const outputs = await outputsOf(readFileSync(join(folder, INPUT), "utf8"));
    for (const [file, text] of outputs) {
      const path = join(folder, file);
      if (isRecording) writeFileSync(path, text);
      expect(existsSync(path) ? readFileSync(path, "utf8") : "").toBe(text);
      expect(text).not.toContain(FOREIGN_MARK);
    }
    if (isRecording)
      for (const file of readdirSync(folder))
        if (file !== INPUT && !outputs.has(file)) rmSync(join(folder, file));
    expect(readdirSync(folder).sort()).toEqual(outputs.size === 1 ? REFUSAL_FILES : ANSWER_FILES);
  });
});

test("the goldens use every tabular operator that is supported", () => {
  const texts = names.map((name) => readFileSync(join(GOLDENS, name, INPUT), "utf8")).join("\n");
  const operators = kqlCapabilities().operators.filter(
    ({ name, support }) => support !== "rejected" && /^[a-z][a-z-]+$/.test(name),
  );
  const missing = operators.filter(({ name }) => !new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(texts));
  expect(missing.map(({ name }) => name)).toEqual([]);
});
