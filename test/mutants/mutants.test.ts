import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./checkout.ts";
import { AREAS } from "./list.ts";
import { type Mutant, mutated } from "./mutant.ts";

const MUTANTS = Object.values(AREAS).flat();

test("a fault goes to the one place that it names, or nowhere", () => {
  const mutant: Mutant = { name: "x", file: "x.ts", find: "a < b", replace: "a <= b", tests: [] };
  expect(mutated("if (a < b) c();", mutant)).toBe("if (a <= b) c();");
  expect(mutated("if (a > b) c();", mutant)).toBeNull();
  expect(mutated("a < b; a < b;", mutant)).toBeNull();
});

test("every fault has a name of its own, changes something and is judged by tests that exist", () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
  expect(MUTANTS.filter(({ find, replace }) => find === replace)).toEqual([]);
  const judges = new Set(MUTANTS.flatMap(({ tests }) => tests));
  expect([...judges].filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
