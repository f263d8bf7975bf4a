import { test } from "bun:test";
import { proofRounds } from "../../harness/proof.ts";
import { checkCardinalities, checkSequences } from "./correlation-property.ts";

const ROUNDS = proofRounds({ sample: 2_000, whole: 100_000 });

test("a sequence is found where trying every order of entries finds one, ties and entries of several steps included", () => {
  checkSequences(ROUNDS);
});

test("different values are counted as around each single entry", () => {
  checkCardinalities(ROUNDS);
});
