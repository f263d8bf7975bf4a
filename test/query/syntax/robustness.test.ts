import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { lineAndColumn, parseQuery } from "../../../query/syntax/parser.ts";
import { writeQuery } from "./kql-notation.ts";
import { QUERIES } from "./queries.ts";
import { queryTexts } from "./query-texts.ts";

const CORPUS = join(import.meta.dir, "corpus");

/** What holds for every text. */
function check(text: string): void {
  const { query, problems } = parseQuery(text);
  expect(query === null).toBe(problems.length > 0);
  let previous = 0;
  for (const { message, span } of problems) {
    expect(message).not.toBe("");
    expect(span.start).toBeGreaterThanOrEqual(previous);
    expect(span.end).toBeGreaterThanOrEqual(span.start);
    expect(span.end).toBeLessThanOrEqual(text.length);
    expect(lineAndColumn(text, span.start).line).toBeGreaterThanOrEqual(1);
    previous = span.start;
  }
  if (query !== null) checkPlaces(query, text.length);
}

/** Every place lies inside the text and inside that of its parent. */
function checkPlaces(node: unknown, end: number, start = 0): void {
  if (typeof node !== "object" || node === null) return;
  const span = "span" in node ? node.span : null;
  let [from, to] = [start, end];
  if (typeof span === "object" && span !== null && "start" in span && "end" in span) {
    [from, to] = [Number(span.start), Number(span.end)];
    expect(from).toBeGreaterThanOrEqual(start);
    expect(to).toBeLessThanOrEqual(end);
    expect(to).toBeGreaterThanOrEqual(from);
  }
  for (const value of Object.values(node)) if (value !== span) checkPlaces(value, to, from);
}

test("any text is a query or has problems, with places inside the text", () => {
  fc.assert(fc.property(queryTexts(), check), { numRuns: 2000 });
});

test("a query with pieces cut out, doubled or swapped is read or refused", () => {
  const cut = fc.tuple(fc.constantFrom(...QUERIES), fc.nat(), fc.nat(), fc.nat(2));
  fc.assert(
    fc.property(cut, ([text, a, b, way]) => {
      const [start, end] = [a % (text.length + 1), b % (text.length + 1)].sort((x, y) => x - y);
      const piece = text.slice(start, end);
      const replacement = [piece + piece, "", [...piece].reverse().join("")][way] ?? "";
      check(text.slice(0, start) + replacement + text.slice(end));
    }),
    { numRuns: 2000 },
  );
});

describe("every text that once went wrong", () => {
  for (const file of readdirSync(CORPUS).sort())
    test(file, () => {
      check(readFileSync(join(CORPUS, file), "utf8"));
    });
});

describe("a query that is written out in full means the same", () => {
  for (const text of QUERIES)
    test(text, () => {
      const { query, problems } = parseQuery(text);
      expect(problems).toEqual([]);
      if (query === null) return;
      const written = writeQuery(query);
      const again = parseQuery(written);
      expect(again.problems).toEqual([]);
      if (again.query !== null) expect(writeQuery(again.query)).toBe(written);
    });
});
