import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { foldText } from "../../../query/match/search-index.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { type Case, printed, wrongCases } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

async function expectValues(cases: readonly Case[]): Promise<void> {
  expect(await wrongCases(queryRunner(stores), cases)).toEqual([]);
}

test("contains finds a part whatever the case, in every script", () =>
  expectValues([
    ["'Connection Refused' contains 'tion ref'", true],
    ["'abc' contains ''", true],
    ["'' contains 'a'", false],
    ["'100%done' contains '%d'", true],
    ["'a_b' contains 'a%b'", false],
    ["'ÅNGSTRÖM' contains 'ngströ'", true],
    ["'ΟΔΟΣ' contains 'οδος'", true],
    ["'straße' contains 'SS'", false],
    ["'\u212a' contains 'k'", false],
    ["'abc' !contains 'B'", false],
    ["'ΟΔΟΣ' contains strcat('οδο', 'ς')", true],
    ["'abc' contains strcat('B', '')", true],
    ["'abc' contains_cs 'B'", false],
    ["'abc' contains_cs 'bc'", true],
    ["'abc' contains_cs strcat('b', 'c')", true],
    ["'Connection Refused' contains_cs 'Connection'", true],
  ]));

test("startswith and endswith look at the edges", () =>
  expectValues([
    ["'abc' startswith 'AB'", true],
    ["'abc' startswith 'b'", false],
    ["'Éa' startswith 'é'", true],
    ["'x Éa' startswith 'é'", false],
    ["'abc' startswith ''", true],
    ["'abc' startswith strcat('A', 'b')", true],
    ["'abc' startswith_cs 'AB'", false],
    ["'abc' startswith_cs 'ab'", true],
    ["'abc' endswith 'BC'", true],
    ["'a\\nb' endswith 'B'", true],
    ["'aé' endswith 'É'", true],
    ["'aé x' endswith 'É'", false],
    ["'abc' endswith strcat('B', 'C')", true],
    ["'abc' endswith_cs 'BC'", false],
    ["'abc' !endswith_cs 'BC'", true],
  ]));

test("=~ and in~ compare letters whatever the case, one by one", () =>
  expectValues([
    ["'Café' =~ 'CAFÉ'", true],
    ["'Straße' =~ 'straße'", true],
    ["'strasse' =~ 'straße'", false],
    ["'ﬁ' =~ 'FI'", false],
    ["'' =~ ''", true],
    ["'a' !~ 'A'", false],
    ["'ÅNGSTRÖM' =~ strcat('ångst', 'röm')", true],
    ["'ΟΔΟΣ' =~ strcat('οδο', 'σ')", true],
    ["'\u212a' =~ strcat('k', '')", false],
    ["'i' =~ strcat('\u0130', '')", false],
    ["'Ab' in~ ('x', 'aB')", true],
    ["'É' in~ ('x', 'é')", true],
    ["'É' in~ ('x', 'e')", false],
    ["'b' !in~ ('A', 'É')", true],
  ]));

test("has finds whole terms: letters and digits of any script, bounded by anything else", () =>
  expectValues([
    ["'alpha_beta' has 'ALPHA'", true],
    ["'alphabet' has 'alpha'", false],
    ["'ПриветМир' has 'привет'", false],
    ["'МИР привет' has 'Привет'", true],
    ["'“error” x' has 'error'", true],
    ["'erroré' has 'error'", false],
    ["'error５' has 'error'", false],
    ["'x foo.bar y' has 'foo.bar'", true],
    ["'x foo.barn y' has 'foo.bar'", false],
    ["'/providers/Some.Thing/x' has '/some.thing/'", true],
    ["'run.exe' has '.exe'", true],
    ["'run.exes' has '.exe'", false],
    ["'xa-a-a' has 'a-a'", true],
    ["'a' has ''", true],
    ["'' has 'a'", false],
    ["'a+b' !has 'a'", false],
    ["'Hello World' has_cs 'hello'", false],
    ["'Hello World' has_cs 'Hello'", true],
    ["'HelloWorld' has_cs 'Hello'", false],
  ]));

test("hasprefix and hassuffix ask for one boundary", () =>
  expectValues([
    ["'a category' hasprefix 'CAT'", true],
    ["'scatter' hasprefix 'cat'", false],
    ["'the bend' hassuffix 'END'", true],
    ["'ending' hassuffix 'end'", false],
    ["'Bend' hasprefix_cs 'b'", false],
    ["'Bend' hasprefix_cs 'B'", true],
    ["'Bend' hassuffix_cs 'nd'", true],
    ["'Bend' hassuffix_cs 'ND'", false],
  ]));

test("a term that only the row knows is looked for in the same way", () =>
  expectValues([
    ["'alpha_beta' has strcat('AL', 'pha')", true],
    ["'alphabet' has strcat('al', 'pha')", false],
    ["'ПриветМир' has strcat('при', 'вет')", false],
    ["'Привет Мир' has strcat('при', 'вет')", true],
    ["'xa-a-a' has strcat('a-', 'a')", true],
    ["'run.exe' has strcat('.e', 'xe')", true],
    ["'a' has strcat('', '')", true],
    ["'Hello' has_cs strcat('hel', 'lo')", false],
    ["'a cats' hasprefix strcat('c', 'at')", true],
    ["'bend' hassuffix strcat('en', 'd')", true],
    ["'bends' hassuffix strcat('en', 'd')", false],
  ]));

const MANY = Array.from({ length: 1200 }, (_, i) => `'host-${i * 7919}.example'`).join(", ");

test("has_any and has_all take lists, arrays, and lists of a thousand", () =>
  expectValues([
    ["'alpha beta' has_any ('x', 'BETA')", true],
    ["'alpha beta' has_any ('x', 'bet')", false],
    ["'alpha beta' has_all ('ALPHA', 'beta')", true],
    ["'alpha beta' has_all ('alpha', 'bet')", false],
    ["'a' has_any (dynamic([]))", false],
    ["'a' has_all (dynamic([]))", true],
    ["'ПРИВЕТ мир' has_any ('x', 'привет')", true],
    ["'a.exe' has_any ('.exe', '.dll')", true],
    ["'a.exes' has_any ('.exe', '.dll')", false],
    ["'a b c' has_any (parse_json('[\"x\",\"C\"]'))", true],
    ["'a b c' has_all (parse_json('[\"x\",\"C\"]'))", false],
    ["'a b c' has_any (parse_json(''))", false],
    ["'a b 5' has_any (parse_json('[5]'))", true],
    [`'to host-${1199 * 7919}.example today' has_any (${MANY})`, true],
    [`'to host-1.example today' has_any (${MANY})`, false],
    ["has_any_index('an example', dynamic(['xx', 'EXAMPLE']))", 1],
    ["has_any_index('an example', dynamic(['exam']))", -1],
    ["has_any_index('an example', dynamic([]))", -1],
    ["has_any_index('number 2', range(1, 3, 1))", 1],
  ]));

test("like takes % and _, and nothing else is special", () =>
  expectValues([
    ["'abc' like 'A%'", true],
    ["'abc' like 'a_c'", true],
    ["'abc' like 'b'", false],
    ["'a\\\\c' like @'a\\c'", true],
    ["'Ünï' like 'ü%'", true],
    ["'abc' like strcat('A', '%')", true],
    ["'abc' like_cs 'A%'", false],
    ["'abc' like_cs '_b_'", true],
  ]));

test("an attribute that is not there is an empty text to every operator", () =>
  expectValues([
    ["dynamic(null) contains 'a'", false],
    ["dynamic(null) !contains 'a'", true],
    ["parse_json('{}').x has 'a'", false],
    ["parse_json('{}').x =~ ''", true],
  ]));

test("a number is taken as its text", () =>
  expectValues([
    ["4625 has '4625'", true],
    ["4625 contains '62'", true],
    ["4625 has '46'", false],
  ]));

test("for any texts the operators agree with folding both, with constants and without", async () => {
  const word = fc.stringMatching(/^[aAkKßÉéΣσςİıﬁ.% _-]{0,6}$/);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(word, word), { minLength: 8, maxLength: 8 }), async (pairs) => {
      const expressions = pairs.flatMap(([text, part]) => {
        const [left, right] = [JSON.stringify(text), JSON.stringify(part)];
        return ["contains", "startswith", "endswith", "=~"].flatMap((operator) => [
          `tostring(${left} ${operator} ${right})`,
          `tostring(${left} ${operator} strcat(${right}, ''))`,
        ]);
      });
      const values = await printed(queryRunner(stores), expressions);
      const expected = pairs.flatMap(([text, part]) => {
        const [left, right] = [foldText(text), foldText(part)];
        const truths = [left.includes(right), left.startsWith(right), left.endsWith(right), left === right];
        return truths.flatMap((truth) => (truth ? ["True", "True"] : ["False", "False"]));
      });
      expect(values).toEqual(expected);
    }),
    { numRuns: 25 },
  );
});

test("for any texts a term is found exactly where the definition of a term says, with constants and without", async () => {
  const word = fc.stringMatching(/^[aAéÉ1. _-]{0,7}$/);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(word, word), { minLength: 10, maxLength: 10 }), async (pairs) => {
      const expressions = pairs.flatMap(([text, part]) => [
        `tostring('${text}' has '${part}')`,
        `tostring('${text}' has strcat('${part}', ''))`,
        `tostring('${text}' has_any ('zzz', '${part}'))`,
      ]);
      const values = await printed(queryRunner(stores), expressions);
      expect(values).toEqual(
        pairs.flatMap(([text, part]) => Array(3).fill(holdsTerm(text, part) ? "True" : "False")),
      );
    }),
    { numRuns: 25 },
  );
});

/** The definition, occurrence by occurrence. */
function holdsTerm(text: string, part: string): boolean {
  const [haystack, needle] = [foldText(text), foldText(part)];
  const isTerm = (character: string | undefined) =>
    character !== undefined && /[\p{L}\p{N}]/u.test(character);
  for (let at = haystack.indexOf(needle); at !== -1; at = haystack.indexOf(needle, at + 1)) {
    const startsWell = !isTerm(needle[0]) || !isTerm(haystack[at - 1]);
    const endsWell = !isTerm(needle.at(-1)) || !isTerm(haystack[at + needle.length]);
    if (startsWell && endsWell) return true;
  }
  return false;
}
