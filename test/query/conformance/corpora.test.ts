import { describe, expect, test } from "bun:test";
import { compileKql, type KqlOptions } from "../../../query/index.ts";
import { readCollection } from "./recorded-answers.ts";

const NOW_NS = 1_750_000_000_000_000_000n;

/** Tables that one query may name: far more than any does. */
const TABLES_MAX_COUNT = 50;

type Tables = Map<string, "logs">;

/** The first diagnostic; null when it compiles with every table that it names read as logs. */
function refusalOf(text: string): string | null {
  const tables: Tables = new Map([["logs", "logs"]]);
  for (let i = 0; i < TABLES_MAX_COUNT; i++) {
    const options: KqlOptions = { nowNs: NOW_NS, tables };
    const compiled = compileKql(text, options);
    if (compiled.ok || compiled.discovery !== null) return null;
    const [first] = compiled.diagnostics;
    if (first === undefined) throw new Error("refused without a reason");
    if (first.code !== "UNKNOWN_TABLE" || tables.has(first.text)) return `${first.code} ${first.message}`;
    tables.set(first.text, "logs");
  }
  return "too many tables";
}

function compilingShare(texts: readonly string[]): { share: number; refusals: string[] } {
  const refusals = texts.map(refusalOf).filter((refusal) => refusal !== null);
  return { share: 1 - refusals.length / texts.length, refusals };
}

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
    expect(share).toBeGreaterThanOrEqual(0.85);
  });

  test("are refused by name where they do not", () => {
    expect(refusals.filter((refusal) => !/^[A-Z_]+ .{10,}/.test(refusal))).toEqual([]);
  });
});
