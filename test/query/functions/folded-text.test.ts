import { afterAll, beforeAll, expect, test } from "bun:test";
import { foldCharacter } from "../../../query/case-folding.ts";
import { characterOf } from "../../../query/functions/encodings.ts";
import { foldedText } from "../../../query/functions/folded-text.ts";
import { lowerCase, upperCase } from "../../../query/functions/letter-case.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** No letters of two cases have a number from here on. */
const END = 0x20000;

/** Surrogates are none, and two noncharacters stand for others meanwhile. */
const EXCLUDED = "number BETWEEN 55296 AND 57343 OR number IN (64976, 64977)";
const isExcluded = (code: number) => (code >= 0xd800 && code <= 0xdfff) || code === 0xfdd0 || code === 0xfdd1;

const CODES = Array.from({ length: END }, (_, code) => code).filter((code) => !isExcluded(code));
const CHARACTERS = CODES.map((code) => String.fromCodePoint(code));

/** What becomes of every character. */
async function mapped(write: (text: string) => string): Promise<string[]> {
  const answer = await stores.clickhouse.query({
    query: `SELECT groupArray(${write("text")}) AS mapped FROM
      (SELECT number, ${characterOf("number")} AS text FROM numbers(${END}) WHERE NOT (${EXCLUDED}) ORDER BY number)`,
    format: "JSONEachRow",
  });
  const [row] = await answer.json<{ mapped: string[] }>();
  return row?.mapped ?? [];
}

test("the store folds two characters to one exactly when they are the same letter", async () => {
  const folded = await mapped(foldedText);
  expect(folded).toHaveLength(CHARACTERS.length);
  const byLetter = new Map<string, string>();
  const wrong = CHARACTERS.filter((character, i) => {
    const letter = foldCharacter(character);
    const known = byLetter.get(letter) ?? folded[i] ?? "";
    byLetter.set(letter, known);
    return known !== folded[i];
  });
  expect(wrong).toEqual([]);
  expect(new Set(byLetter.values()).size).toBe(byLetter.size);
});

test("upper and lower case map every character to one character", async () => {
  for (const write of [upperCase, lowerCase]) {
    const cased = await mapped(write);
    expect(CHARACTERS.filter((_, i) => [...(cased[i] ?? "")].length !== 1)).toEqual([]);
  }
});

test("no letter depends on its neighbours", async () => {
  const answer = await stores.clickhouse.query({
    query: `WITH 'ΟΔΟΣ ΟΔΟΣΑ' AS text SELECT ${lowerCase("text")} AS lower, ${foldedText("text")} AS folded`,
    format: "JSONEachRow",
  });
  expect(await answer.json<unknown>()).toEqual([{ lower: "οδοσ οδοσα", folded: "οδοσ οδοσα" }]);
});
