import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lex } from "../../../query/syntax/lex.ts";
import { parseQuery } from "../../../query/syntax/parser.ts";
import { type KustoProblem, loadKustoParser } from "./kusto-parser.ts";
import { QUERIES, SHORT_QUERIES } from "./queries.ts";

const kusto = loadKustoParser();
/** Collections of queries that people wrote; they belong to others and are read where they are present. */
const COLLECTIONS = join(import.meta.dir, "../../../../shared/data/kql");

/** What is a query here and not for Kusto, by rule. `nearby` are the words and symbols at the place and before it. */
const ACCEPTED_HERE: Readonly<
  Record<string, (text: string, problem: KustoProblem, nearby: readonly string[]) => boolean>
> = {
  "operators alone, or a text or pattern to search for": (text) =>
    /^(?:[\s;]|\/\/.*)*(?:\||\*|['"]|(?:where|filter|extend|project|summarize|count|take|limit|top|sort|order|distinct|parse|mv-expand|join|lookup|as|sample|serialize|render|facet|reduce|getschema|consume|make-series|mv-apply|top-nested|top-hitters|sample-distinct|project-[a-z]+|parse-[a-z]+|[\w*]*\*[\w*]*$))/.test(
      text,
    ),
  "a keyword as a name": (_, { code, message }, nearby) =>
    code === "KS228" ||
    /bracket/.test(message) ||
    (/^(?:Missing|Expected|The incomplete)/.test(message) && nearby.some((word) => KEYWORDS.has(word))),
  "any type where the binder checks it": (_, { code }) => code === "KS160",
  "any option, hint or kind where the binder checks it": (text, { start }) =>
    /(?:\bwith\s*\([^)]*|\bhint[. ][^|]*|\bkind\s*=?[^|]*|\bflags\s*=[^|]*|isfuzzy\s*=[^|]*|\b(?:with|render)\b[^|]*)$/.test(
      text.slice(0, start + 1),
    ),
  "field:*, field:a* and a star as a value, which the binder checks": (_, __, nearby) => nearby.includes("*"),
  "an empty statement": (_, __, nearby) => nearby.includes(";"),
  "computed values in a datatable": (text, { start }) => /\bdatatable\b[^\]]*$/.test(text.slice(0, start)),
  "operators that are read over and refused by name": (text) =>
    /\b(?:scan|partition|fork|invoke|find|externaldata|make-graph|graph-[a-z]+)\b/.test(text),
  "names of any script": (text) => /[^\p{ASCII}]/u.test(text),
  "any expression as a column of facet": (text) => /\bfacet\b/.test(text),
};

/** What is a query for Kusto and not here, by the message. */
const REFUSED_HERE: Readonly<Record<string, RegExp>> = {
  "no expression at the end": /^The query (?:is empty|only names things)/,
  "what is unsupported, by its name": /is not supported|answers one table|out of reach/,
  "a name where it has no effect, which is a comparison mistyped":
    /To compare, write ==|cannot be named here/,
  "a literal that is none of its type": /is no \w+[;:]|takes a literal;|is too large|is too long/,
  "an operator's name as a table": /expected (?:a value|an operator|the name|a chart|a name|`by`|a type)/,
  "brackets that hold no text": /^Found `\[`/,
  "typeof of no type": /expected a type such as/,
  "a computed table as the right side of a join": /`on` and a column/,
};

const KEYWORDS: ReadonlySet<string> = new Set(
  "and or in has contains between by on to of as asc desc where project extend take limit sort order top union join count print range search find let set with kind title first last step from default typeof toscalar materialize datatable dynamic long string real int bool datetime date time timespan guid double decimal invoke isfuzzy flags mv-expand mv-apply make-series top-nested summarize distinct parse parse-where parse-kv lookup evaluate facet reduce render getschema consume serialize sample sample-distinct project-away project-keep project-rename project-reorder true false others nulls bagexpansion withsource with_itemindex matches regex startswith hassuffix has_any has_all in~ like view notruncation".split(
    " ",
  ),
);

/** What is wrong about the two answers; null when they agree, or differ by a rule. */
function disagreement(text: string): string | null {
  const ours = parseQuery(text);
  const [theirs] = kusto?.(text) ?? [];
  const [problem] = ours.problems;
  if (problem === undefined && theirs !== undefined) {
    const rule = Object.values(ACCEPTED_HERE).some((holds) =>
      holds(text, theirs, nearbyWords(text, theirs.start)),
    );
    return rule
      ? null
      : `accepted here, not by Kusto (${theirs.code} ${theirs.message} at ${theirs.start}): ${text}`;
  }
  if (problem === undefined || theirs !== undefined || problem.code === "UNSUPPORTED") return null;
  const rule = Object.values(REFUSED_HERE).some((pattern) => pattern.test(problem.message));
  return rule ? null : `refused here (${problem.message} at ${problem.span.start}), not by Kusto: ${text}`;
}

function nearbyWords(text: string, place: number): string[] {
  const tokens = lex(text);
  const at = tokens.findIndex(({ span }) => span.end > place);
  return tokens
    .slice(Math.max(0, at === -1 ? tokens.length - 3 : at - 2), at === -1 ? undefined : at + 1)
    .map((token) => token.text);
}

/** The text with every token once cut out, doubled, and swapped with the next one. */
function mutations(text: string): string[] {
  const tokens = lex(text).slice(0, -1);
  return tokens.flatMap(({ span: { start, end } }, i) => {
    const [before, token, after] = [text.slice(0, start), text.slice(start, end), text.slice(end)];
    const next = tokens[i + 1];
    const swapped =
      next === undefined
        ? []
        : [`${before}${text.slice(next.span.start, next.span.end)} ${token} ${text.slice(next.span.end)}`];
    return [`${before} ${after}`, `${before}${token} ${token}${after}`, ...swapped];
  });
}

describe.skipIf(kusto === null)("the official parser", () => {
  test("accepts every query of the tests that is not a short form", () => {
    expect(QUERIES.filter((text) => kusto?.(text).length !== 0)).toEqual([]);
    expect(SHORT_QUERIES.filter((text) => parseQuery(text).query === null)).toEqual([]);
  });

  test("agrees on every query with a token too few, too many or in the wrong place", () => {
    const wrong = QUERIES.flatMap(mutations)
      .map(disagreement)
      .filter((line) => line !== null);
    expect(wrong).toEqual([]);
  });

  for (const [file, member] of [
    ["engine", "kql"],
    ["predicates", "predicate"],
    ["hunting", "kql"],
  ] as const) {
    const path = join(COLLECTIONS, `${file}.json`);
    test.skipIf(!existsSync(path))(`agrees on the queries of ${file}`, () => {
      const entries: Record<string, unknown>[] = JSON.parse(readFileSync(path, "utf8"));
      const texts = entries.map((entry) => String(entry[member]));
      expect(texts.map(disagreement).filter((line) => line !== null)).toEqual([]);
    });
  }
});
