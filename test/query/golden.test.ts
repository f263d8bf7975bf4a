/**
 * One folder per case: `input.json` is a plan in the notation of `plan-notation.ts` with its scope, `output.sql` and
 * `parameters.json` are what it compiles to. Each statement also runs on a real ClickHouse, under its own settings.
 * With `RECORD_GOLDENS=1` the outputs are written; read the difference before it is kept.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CompiledQuery, emit, guardPlan, INTERACTIVE_BUDGET } from "../../query/index.ts";
import { queryCaller } from "../harness/query-caller.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type OperatorNotation, readPlan } from "./plan-notation.ts";
import { queryRunner } from "./query-store.ts";

interface GoldenInput {
  organizationId: number;
  from?: string;
  to?: string;
  maxRows: number;
  plan: OperatorNotation[];
}

const GOLDENS = join(import.meta.dir, "goldens");
const isRecording = Bun.env.RECORD_GOLDENS === "1";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

function compile(folder: string): CompiledQuery {
  const input: GoldenInput = JSON.parse(readFileSync(join(folder, "input.json"), "utf8"));
  const timeRange = {
    from: input.from === undefined ? null : BigInt(input.from),
    to: input.to === undefined ? null : BigInt(input.to),
  };
  const { organizationId, maxRows } = input;
  return emit(
    guardPlan(readPlan(input.plan), { organizationId, timeRange, maxRows, budget: INTERACTIVE_BUDGET }),
  );
}

test.each(readdirSync(GOLDENS).sort())("%s", async (name) => {
  const folder = join(GOLDENS, name);
  const compiled = compile(folder);
  const outputs: [string, string][] = [
    ["output.sql", `${compiled.sql}\n`],
    ["parameters.json", `${JSON.stringify(compiled.parameters, null, 2)}\n`],
  ];
  for (const [file, text] of outputs) {
    const path = join(folder, file);
    if (isRecording) writeFileSync(path, text);
    expect(existsSync(path) ? readFileSync(path, "utf8") : "").toBe(text);
  }
  const { rows } = await queryRunner(stores).run("golden", compiled, queryCaller());
  for (const row of rows) expect(row.length).toBe(compiled.columns.length);
});
