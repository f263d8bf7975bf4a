import { describe, expect, test } from "bun:test";
import { compilingShare } from "./compiling-share.ts";
import { readCollection } from "./recorded-answers.ts";

const predicates = readCollection("predicates");
const hunting = readCollection("hunting");

describe.skipIf(predicates === null)("conditions of queries that people use", () => {
  test("compile, all but one in fifty, over attributes", () => {
    const { share } = compilingShare((predicates ?? []).map(({ predicate }) => String(predicate)));
    expect(share).toBeGreaterThanOrEqual(0.98);
  });
});

describe.skipIf(hunting === null)("queries of threat hunters", () => {
  const { share, refusals } = compilingShare((hunting ?? []).map(({ kql }) => String(kql)));

  test("compile, more than five of six, over tables of attributes", () => {
    expect(share).toBeGreaterThanOrEqual(0.87);
  });

  test("are refused by name where they do not", () => {
    expect(refusals.filter((refusal) => !/^[A-Z_]+ .{10,}/.test(refusal))).toEqual([]);
  });
});
