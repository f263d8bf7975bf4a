import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { answered, type Case, printed, wrongCases } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** What the real engine answers where its documentation leaves it open. */
const CASES: readonly Case[] = [
  [`replace_strings("abc", dynamic(["bc", "ab"]), dynamic(["1", "2"]))`, "a1"],
  [`replace_strings("cat dog", dynamic(["cat", "dog", ""]), dynamic(["dog", "pigeon", "x"]))`, "dog pigeon"],
  [`indexof("abcabc", "abc", 1, 3)`, 3],
  [`indexof("abcabc", "abc", 1, 2)`, -1],
  [`indexof("abcabc", "abc", 0, 0)`, -1],
  [`indexof("abcabcabc", "abc", 0, 4, 2)`, 3],
  [`indexof("abcabcabc", "abc", 0, 3, 2)`, -1],
  [`indexof("abc", "", 0, 2)`, null],
  [`indexof("abc", "")`, 0],
  ["gettype(dynamic(1.5))", "double"],
  ["gettype(1.5)", "real"],
  [`parse_path(@"C:\\temp\\a.txt").RootPath`, "C:\\"],
  [`parse_path("/usr/a.txt").RootPath`, ""],
  ["tostring(-0.0)", "-0.0"],
  ["tostring(1.0 / 0)", "inf"],
  ["tostring(-1.0 / 0)", "-inf"],
  ["pack_array(1.0 / 0)", ["Infinity"]],
  ["array_sum(dynamic([]))", null],
  ["array_sum(dynamic([1, 2.5]))", 3.5],
  [`tobool(" true")`, null],
  [`tobool("TRUE")`, true],
  [`substring("abcdef", -7)`, ""],
  [`substring("abcdef", -10, 8)`, ""],
  [`substring("abcdef", -6, 2)`, "ab"],
  ["min_of(real(nan), 1.0)", "nan"],
  ["max_of(1.0, real(nan))", "nan"],
  ["max_of(1.0, real(null))", 1],
  ["sign(real(nan))", 0],
  ["sign(-2.5)", -1],
  ["gettype(-int(5))", "long"],
  ["gettype(ceiling(5))", "real"],
  [`gettype(datetime_diff("week", now(), now()))`, "real"],
  [`gettype(datetime_diff("day", now(), now()))`, "long"],
];

test("functions answer at their edges as the real engine does", async () => {
  expect(await wrongCases(queryRunner(stores), CASES)).toEqual([]);
});

test("a local time that the clocks leave out is the moment at which they are put forward", async () => {
  const rows = await answered(
    queryRunner(stores),
    `datatable(t: datetime)[datetime(2023-03-26 01:59:59), datetime(2023-03-26 02:00), datetime(2023-03-26 02:30), datetime(2023-03-26 03:00), datetime(null)]
     | project berlin = datetime_local_to_utc(t, "Europe/Berlin")`,
  );
  expect(rows.flat().sort()).toEqual([
    "2023-03-26T00:59:59Z",
    "2023-03-26T01:00:00Z",
    "2023-03-26T01:00:00Z",
    "2023-03-26T01:00:00Z",
    null,
  ]);
});

test("names and places of columns are those of the real engine", async () => {
  const legs = `datatable(a: long)[1] | as First | union withsource = leg (datatable(a: long)[2]) | sort by a asc`;
  expect(await answered(queryRunner(stores), legs)).toEqual([
    ["First", 1],
    ["union_arg1", 2],
  ]);
});

/** The texts looked for one after the other, in what those before have left. */
function replacedInOrder(text: string, lookups: readonly string[], rewrites: readonly string[]): string {
  let parts: readonly { readonly text: string; readonly isDone: boolean }[] = [{ text, isDone: false }];
  for (const [i, lookup] of lookups.entries()) {
    if (lookup === "") continue;
    const rewrite = rewrites[i] ?? "";
    parts = parts.flatMap((part) =>
      part.isDone
        ? [part]
        : part.text
            .split(lookup)
            .flatMap((piece, at) => [
              ...(at === 0 ? [] : [{ text: rewrite, isDone: true }]),
              { text: piece, isDone: false },
            ]),
    );
  }
  return parts.map((part) => part.text).join("");
}

test("replace_strings() agrees with a walk over the texts in their order", async () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "c", "0", "1"), maxLength: 8 });
  const short = fc.string({ unit: fc.constantFrom("a", "b", "c", "0", "1"), maxLength: 3 });
  const samples = fc.sample(fc.tuple(letters, fc.array(fc.tuple(short, short), { maxLength: 4 })), {
    numRuns: 60,
    seed: 20_260_108,
  });
  const values = await printed(
    queryRunner(stores),
    samples.map(([text, pairs]) => {
      const list = (at: 0 | 1) => `dynamic(${JSON.stringify(pairs.map((pair) => pair[at]))})`;
      return `replace_strings("${text}", ${list(0)}, ${list(1)})`;
    }),
  );
  const expected = samples.map(([text, pairs]) =>
    replacedInOrder(
      text,
      pairs.map(([lookup]) => lookup),
      pairs.map(([, rewrite]) => rewrite),
    ),
  );
  expect(values).toEqual(expected);
});
