import { foldCharacter, isAscii } from "../case-folding.ts";
import type { SearchCondition } from "../search-syntax.ts";
import { RowSet } from "./row-set.ts";
import { hasLetters, type TermSource, termBytes } from "./term-finder.ts";

/** Texts as they lie one behind the other: UTF-8, row by row `bytes[starts[row], ends[row])`, in ascending order. */
export interface TextRows {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** One row in so many: in fewer, a term is looked for in each alone. */
const FEW_ROWS = 16;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Says which of many texts match a `SearchCondition`, with the meaning that the store gives it. Every term is looked for
 * in all texts at once and only once, however many conditions hold it; those of a `TermFinder` all in one pass.
 */
export class SearchIndex {
  readonly #texts: TextRows;
  readonly #rows: number;
  readonly #terms = new Map<string, RowSet>();
  #finder: TermSource | null;
  #lowered: Buffer | undefined;
  readonly #folded = new Map<number, string>();

  constructor(texts: TextRows, finder: TermSource | null = null) {
    this.#texts = texts;
    this.#rows = texts.starts.length;
    this.#finder = finder;
  }

  rowsMatching(condition: SearchCondition): RowSet {
    switch (condition.kind) {
      case "text":
        return this.rowsContaining(condition.text);
      case "not":
        return this.rowsMatching(condition.operand).not();
      case "all":
        return this.#rowsMatchingAll(condition.operands);
      case "any":
        return condition.operands
          .map((operand) => this.rowsMatching(operand))
          .reduce((left, right) => left.or(right));
    }
  }

  /** What is known comes first: often it leaves few rows, in which the rest is looked for alone, or none. */
  #rowsMatchingAll(conditions: readonly SearchCondition[]): RowSet {
    let rows: RowSet | null = null;
    const unknown: SearchCondition[] = [];
    for (const condition of conditions) {
      if (!this.#isKnown(condition)) {
        unknown.push(condition);
        continue;
      }
      const found = this.rowsMatching(condition);
      rows = rows === null ? found : rows.and(found);
      if (rows.isEmpty) return rows;
    }
    for (const condition of unknown) {
      const bytes = rows !== null && condition.kind === "text" ? termBytes(condition.text) : null;
      if (rows === null) rows = this.rowsMatching(condition);
      else if (bytes !== null && rows.size * FEW_ROWS < this.#rows)
        rows = rows.filter((row) => this.#holdsBytes(row, bytes));
      else rows = rows.and(this.rowsMatching(condition));
      if (rows.isEmpty) return rows;
    }
    return rows ?? RowSet.all(this.#rows);
  }

  /** Whether it is one term that was looked for already, or that is looked for together with others. */
  #isKnown(condition: SearchCondition): boolean {
    if (condition.kind !== "text") return false;
    return this.#terms.has(condition.text) || this.#finder?.terms.has(condition.text) === true;
  }

  #holdsBytes(row: number, needle: Uint8Array): boolean {
    const { starts, ends } = this.#texts;
    const haystack = hasLetters(needle) ? this.#loweredBytes() : this.#rawBytes();
    return haystack.subarray(starts[row] ?? 0, ends[row] ?? 0).includes(needle);
  }

  /** The rows whose text holds the term, whatever the case of either. */
  rowsContaining(term: string): RowSet {
    if (this.#finder?.terms.has(term) === true) this.#findAll(this.#finder);
    let found = this.#terms.get(term);
    if (found === undefined) {
      found = this.#find(term);
      this.#terms.set(term, found);
    }
    return found;
  }

  /** Once, for all terms that the finder knows. */
  #findAll(finder: TermSource): void {
    this.#finder = null;
    const { bytes, starts, ends } = this.#texts;
    for (const term of finder.terms) this.#terms.set(term, RowSet.none(this.#rows));
    finder.find(bytes, starts[0] ?? 0, ends[this.#rows - 1] ?? 0, (term, from, to) => {
      const row = lastAtOrBelow(starts, from);
      // A hit may reach over the end of a text, or lie between two.
      if (row >= 0 && to <= (ends[row] ?? 0)) this.#terms.get(term)?.add(row);
    });
  }

  #find(term: string): RowSet {
    const bytes = termBytes(term);
    if (bytes !== null) return this.#findBytes(bytes);
    const needle = Array.from(term.toWellFormed(), foldCharacter).join("");
    return RowSet.where(this.#rows, (row) => this.#foldedText(row).includes(needle));
  }

  #findBytes(needle: Uint8Array): RowSet {
    if (needle.length === 0) return RowSet.where(this.#rows, () => true);
    const { starts, ends } = this.#texts;
    const haystack = hasLetters(needle) ? this.#loweredBytes() : this.#rawBytes();
    const found = RowSet.none(this.#rows);
    for (let at = haystack.indexOf(needle, starts[0]); at !== -1; ) {
      const row = lastAtOrBelow(starts, at);
      // A hit may reach over the end of a text, or lie between two.
      const isWithin = row >= 0 && at + needle.length <= (ends[row] ?? 0);
      if (isWithin) found.add(row);
      const next = isWithin ? starts[row + 1] : at + 1;
      at = next === undefined ? -1 : haystack.indexOf(needle, next);
    }
    return found;
  }

  #rawBytes(): Buffer {
    const { bytes, ends } = this.#texts;
    return Buffer.from(bytes.buffer, bytes.byteOffset, ends[this.#rows - 1] ?? 0);
  }

  /** The bytes with ASCII letters in lower case, in the same places. */
  #loweredBytes(): Buffer {
    if (this.#lowered !== undefined) return this.#lowered;
    const { bytes, starts, ends } = this.#texts;
    const end = ends[this.#rows - 1] ?? 0;
    const copy = bytes.slice(0, end);
    for (let i = starts[0] ?? 0; i < end; i++) {
      const byte = copy[i] ?? 0;
      if (byte >= 0x41 && byte <= 0x5a) copy[i] = byte + 0x20;
    }
    const lowered = Buffer.from(copy.buffer);
    this.#lowered = lowered;
    return lowered;
  }

  #foldedText(row: number): string {
    let folded = this.#folded.get(row);
    if (folded === undefined) {
      const { bytes, starts, ends } = this.#texts;
      folded = foldText(decoder.decode(bytes.subarray(starts[row] ?? 0, ends[row] ?? 0)));
      this.#folded.set(row, folded);
    }
    return folded;
  }
}

/** The text with every character in the one form of its letter. */
export function foldText(text: string): string {
  return isAscii(text) ? text.toLowerCase() : Array.from(text.toWellFormed(), foldCharacter).join("");
}

/** The last index whose value is at or below `value`; -1 when there is none. */
function lastAtOrBelow(ascending: Uint32Array, value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ascending[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
