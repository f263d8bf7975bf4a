import { LITERAL_MIN_BYTES, type Literal, LiteralFinder } from "../bytes/literal-finder.ts";
import { caseVariants, isAscii } from "../case-folding.ts";
import type { SearchCondition } from "../search-syntax.ts";

/** The bytes of a term as `lower(text)` of the store spells it; null when that has several ways. */
export function termBytes(term: string): Uint8Array | null {
  const characters = [...term.toWellFormed()];
  if (!characters.every((character) => isAscii(character) || caseVariants(character).length === 1))
    return null;
  return utf8.encode(
    characters.map((character) => (isAscii(character) ? character.toLowerCase() : character)).join(""),
  );
}

/** Whether the bytes hold an ASCII letter: those that do not are the same in lower case. */
export function hasLetters(bytes: Uint8Array): boolean {
  return bytes.some((byte) => byte >= 0x61 && byte <= 0x7a);
}

/** All terms of a condition. */
export function termsOf(condition: SearchCondition): string[] {
  switch (condition.kind) {
    case "text":
      return [condition.text];
    case "not":
      return termsOf(condition.operand);
    default:
      return condition.operands.flatMap(termsOf);
  }
}

const utf8 = new TextEncoder();

/** Says where terms are in texts. */
export type TermSource = Pick<TermFinder, "terms" | "find">;

/** Looks for many terms in one pass over the bytes, whose cost hardly depends on the number of terms. */
export class TermFinder {
  readonly terms: ReadonlySet<string>;
  readonly #needles: readonly (readonly [term: string, bytes: number])[];
  /** The terms as they are looked for, for whoever does so together with something else. */
  readonly needles: readonly Literal[];
  readonly #literals: LiteralFinder;

  /** Terms that are too short, or that have several spellings, are left out: see `terms`. */
  constructor(candidates: Iterable<string>) {
    const needles = [...new Set(candidates)].flatMap((term) => {
      const bytes = termBytes(term);
      return bytes === null || bytes.length < LITERAL_MIN_BYTES ? [] : [{ term, bytes, ignoresCase: true }];
    });
    this.terms = new Set(needles.map(({ term }) => term));
    this.needles = needles;
    this.#needles = needles.map(({ term, bytes }) => [term, bytes.length]);
    this.#literals = new LiteralFinder(needles);
  }

  /** Calls `found` for the terms in `bytes[start, end)`, whatever the case, with the bytes of each place where one is. */
  find(
    bytes: Uint8Array,
    start: number,
    end: number,
    found: (term: string, from: number, to: number) => void,
  ): void {
    this.#literals.find(bytes, start, end, (literal, at) => {
      const needle = this.#needles[literal];
      if (needle !== undefined) found(needle[0], at, at + needle[1]);
    });
  }

  /** The same of texts in which somebody has looked for the needles: for each of them the places where it begins. */
  foundAt(places: readonly (readonly number[])[]): TermSource {
    return {
      terms: this.terms,
      find: (_bytes, _start, _end, found) => {
        for (const [i, [term, bytes]] of this.#needles.entries())
          for (const at of places[i] ?? []) found(term, at, at + bytes);
      },
    };
  }
}
