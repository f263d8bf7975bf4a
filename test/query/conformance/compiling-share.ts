import { compileKql, type KqlOptions, UNCOMPUTED_LIBRARY } from "../../../query/index.ts";

const NOW_NS = 1_750_000_000_000_000_000n;

/** Tables that one query may name: far more than any does. */
const TABLES_MAX_COUNT = 50;

type Tables = Map<string, "logs">;

/** The first diagnostic; null when it compiles with every table that it names read as logs. */
function refusalOf(written: string): string | null {
  // A fuzzy union goes on without the tables that it should be read with here.
  const text = written.replace(/\bisfuzzy\s*=\s*true\b/g, "isfuzzy=false");
  const tables: Tables = new Map([["logs", "logs"]]);
  for (let i = 0; i < TABLES_MAX_COUNT; i++) {
    const options: KqlOptions = { nowNs: NOW_NS, tables, library: UNCOMPUTED_LIBRARY };
    const compiled = compileKql(text, options);
    if (compiled.ok || compiled.discovery !== null || compiled.external !== null) return null;
    const [first] = compiled.diagnostics;
    if (first === undefined) throw new Error("refused without a reason");
    if (first.code !== "UNKNOWN_TABLE" || tables.has(first.text)) return `${first.code} ${first.message}`;
    tables.set(first.text, "logs");
  }
  return "too many tables";
}

/** How many of the texts compile, and why the others do not. */
export function compilingShare(texts: readonly string[]): {
  readonly texts: number;
  readonly compiling: number;
  readonly share: number;
  readonly refusals: readonly string[];
} {
  const refusals = texts.map(refusalOf).filter((refusal) => refusal !== null);
  const compiling = texts.length - refusals.length;
  return { texts: texts.length, compiling, share: compiling / texts.length, refusals };
}
