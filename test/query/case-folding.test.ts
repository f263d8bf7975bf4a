import { describe, expect, test } from "bun:test";
import { caseVariants, foldCharacter } from "../../query/case-folding.ts";

function* codePoints(): Generator<string> {
  for (let code = 1; code < 0x11_0000; code++)
    if (code < 0xd800 || code > 0xdfff) yield String.fromCodePoint(code);
}

describe("letters", () => {
  test("that fold alike are exactly each other's variants, in all of Unicode", () => {
    const letters = new Map<string, string[]>();
    for (const character of codePoints()) {
      const folded = foldCharacter(character);
      const group = letters.get(folded);
      if (group === undefined) letters.set(folded, [character]);
      else group.push(character);
    }
    const wrong: string[] = [];
    for (const group of letters.values()) {
      const expected = group.toSorted().join("");
      for (const character of group)
        if (caseVariants(character).toSorted().join("") !== expected) wrong.push(`${character}: ${expected}`);
    }
    expect(wrong).toEqual([]);
  });

  test("of ASCII are the same as ASCII letters only", () => {
    expect(caseVariants("k")).toEqual(["k", "K"]);
    expect(caseVariants("S")).toEqual(["s", "S"]);
    expect(caseVariants("\u212a")).toEqual(["\u212a"]);
    expect(caseVariants("ı")).toEqual(["ı"]);
    expect(caseVariants("İ")).toEqual(["İ"]);
    expect(caseVariants("7")).toEqual(["7"]);
  });

  test("with three forms have three variants", () => {
    expect(caseVariants("Σ").toSorted()).toEqual(["Σ", "σ", "ς"].toSorted());
    expect(caseVariants("ǆ").toSorted()).toEqual(["Ǆ", "ǅ", "ǆ"].toSorted());
  });
});
