import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Checkout, ROOT } from "./checkout.ts";
import { type Mutant, mutated } from "./mutant.ts";
import { runTests, type TestRun } from "./test-run.ts";

/**
 * What became of a mutant. `stale`: its place is not in the file, or not once. `broken`: with it the file is no code.
 * `untested`: its tests fail without it as well.
 */
export type Verdict =
  | { readonly kind: "noticed"; readonly run: TestRun }
  | { readonly kind: "survived"; readonly run: TestRun }
  | { readonly kind: "stale" }
  | { readonly kind: "broken" }
  | { readonly kind: "untested" };

const transpiler = new Bun.Transpiler({ loader: "ts" });

/** The file of a mutant with the fault in it, or why there is none. */
export function faultyFile(mutant: Mutant): string | Verdict {
  let code: string | null;
  try {
    code = mutated(readFileSync(join(ROOT, mutant.file), "utf8"), mutant);
  } catch {
    return { kind: "stale" };
  }
  if (code === null) return { kind: "stale" };
  try {
    transpiler.transformSync(code);
  } catch {
    return { kind: "broken" };
  }
  return code;
}

/** Runs the tests of a mutant, but for those that fail without it. */
export async function judge(
  mutant: Mutant,
  checkout: Checkout,
  failing: ReadonlySet<string>,
): Promise<Verdict> {
  const code = faultyFile(mutant);
  if (typeof code !== "string") return code;
  const tests = mutant.tests.filter((path) => !failing.has(path));
  if (tests.length === 0) return { kind: "untested" };
  const run = await checkout.with(mutant.file, code, () => runTests(checkout.path, tests));
  const isNoticed = run.failures.length > 0 || run.problem !== null;
  return { kind: isNoticed ? "noticed" : "survived", run };
}
