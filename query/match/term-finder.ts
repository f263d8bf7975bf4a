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

interface Needle {
  readonly term: string;
  readonly bytes: Uint8Array;
}

const utf8 = new TextEncoder();
/** Bytes that a term is recognised by: shorter ones would be found everywhere. */
const GRAM_BYTES = 4;
const HASH_BITS = 16;
/** 2^32 divided by the golden ratio: spreads neighbouring grams. */
const HASH_FACTOR = 0x9e3779b1;
/** Every byte, ASCII letters in lower case. */
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
);

/**
 * Looks for many terms in one pass over the bytes: a table says for every four of them whether a term may begin there.
 * The cost hardly depends on the number of terms, so that it pays from a handful on.
 */
export class TermFinder {
  readonly #needles = new Map<number, Needle[]>();
  readonly #mayBegin = new Uint8Array(1 << HASH_BITS);
  readonly terms: ReadonlySet<string>;

  /** Terms that are too short, or that have several spellings, are left out: see `terms`. */
  constructor(candidates: Iterable<string>) {
    const terms = new Set<string>();
    for (const term of candidates) {
      const bytes = termBytes(term);
      if (bytes === null || bytes.length < GRAM_BYTES || terms.has(term)) continue;
      terms.add(term);
      const hash = hashOf(bytes.slice(0, GRAM_BYTES).reduce((gram, byte) => (gram << 8) | byte, 0));
      this.#mayBegin[hash] = 1;
      this.#needles.set(hash, [...(this.#needles.get(hash) ?? []), { term, bytes }]);
    }
    this.terms = terms;
  }

  /** Calls `found` for the terms in `bytes[start, end)`, whatever the case, at each place where one begins. */
  find(bytes: Uint8Array, start: number, end: number, found: (term: string) => void): void {
    const mayBegin = this.#mayBegin;
    const lower = LOWER;
    let gram = 0;
    for (let at = start; at < end; at++) {
      gram = (gram << 8) | (lower[bytes[at] ?? 0] ?? 0);
      if (at - start < GRAM_BYTES - 1) continue;
      const hash = Math.imul(gram, HASH_FACTOR) >>> (32 - HASH_BITS);
      if (mayBegin[hash] === 1) this.#verify(hash, bytes, at - GRAM_BYTES + 1, end, found);
    }
  }

  #verify(hash: number, bytes: Uint8Array, at: number, end: number, found: (term: string) => void): void {
    for (const needle of this.#needles.get(hash) ?? [])
      if (at + needle.bytes.length <= end && standsAt(bytes, needle.bytes, at)) found(needle.term);
  }
}

function hashOf(gram: number): number {
  return Math.imul(gram, HASH_FACTOR) >>> (32 - HASH_BITS);
}

function standsAt(bytes: Uint8Array, needle: Uint8Array, at: number): boolean {
  for (let i = 0; i < needle.length; i++) if (LOWER[bytes[at + i] ?? 0] !== needle[i]) return false;
  return true;
}
