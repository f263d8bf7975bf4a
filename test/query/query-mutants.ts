import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { readCollection } from "./conformance/recorded-answers.ts";
import { QUERIES } from "./syntax/queries.ts";

const GOLDENS = join(import.meta.dir, "kql-goldens");
/** Queries of ours, with every operator there is. */
export const OWN_TEXTS = [
  ...QUERIES,
  ...readdirSync(GOLDENS).map((name) => readFileSync(join(GOLDENS, name, "input.kql"), "utf8")),
];
const TEXTS = [
  ...OWN_TEXTS,
  ...["hunting", "engine", "traps"].flatMap((name) =>
    (readCollection(name) ?? []).map(({ kql }) => String(kql)),
  ),
];

const TOKENS = /'[^'\n]*'|"[^"\n]*"|[A-Za-z_$][\w-]*|\d[\w.]*|[=!<>]=|=~|!~|\.\.|\s+|[^\s\w]/g;
const tokensOf = (text: string): string[] => text.match(TOKENS) ?? [];

/** What takes the place of a token: things of every type, and names that are something else elsewhere. */
const WORDS =
  "count null * dynamic([1]) 1 'a' ts message level attrs attrs.a.b datetime(2020-01-01) 1d 5 -1 1.5 real(nan) long(null) true () [] {} count() decimal(1.5) guid(74be27de-1e4e-49d9-b579-fe0b331d3642)".split(
    " ",
  );

const someTokens = fc.constantFrom(...TEXTS).map(tokensOf);

/** A query in which a few tokens are gone, others, or tokens of another query. */
export const mutants = fc
  .tuple(
    someTokens,
    fc.array(
      fc.record({
        at: fc.nat(),
        removed: fc.integer({ min: 0, max: 3 }),
        added: fc.oneof(
          fc.constant([]),
          fc.constantFrom(...WORDS).map((word) => [word]),
          fc.tuple(someTokens, fc.nat(), fc.integer({ min: 1, max: 8 })).map(([tokens, from, count]) => {
            const start = from % (tokens.length + 1);
            return tokens.slice(start, start + count);
          }),
        ),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([tokens, edits]) =>
    edits
      .reduce(
        (text, { at, removed, added }) => text.toSpliced(at % (text.length + 1), removed, ...added),
        tokens,
      )
      .join(""),
  );
