import type { EntryColumns } from "../entry-columns.ts";
import type { NameFindings } from "./secret-names.ts";

/** A bit for each pattern. */
export type PatternBits = number;

/** What a mask needs to be tried for. */
export interface MaskTerms {
  readonly patterns: PatternBits;
  /** Some field of it is one that every entry has. */
  readonly isForAll: boolean;
  readonly hasFields: boolean;
}

/** In which rows which masks may find something. */
export interface FoundRows {
  /** Of each term of rules the places in the messages where it begins; null where nobody has looked for them. */
  readonly termPlaces: readonly (readonly number[])[] | null;
  /** Whether it may in any. */
  readonly mayMaskAny: (mask: number) => boolean;
  readonly mayMask: (mask: number, row: number) => boolean;
  /** Whether all that it may find in a row are its message, `namedBy` and `foundTexts`. */
  readonly isOfTexts: (mask: number, row: number) => boolean;
  /** Whether patterns may find something in the message of a row. */
  readonly isInMessage: (row: number) => boolean;
  /** The attributes of all rows that it hides by their names, in ascending order. */
  readonly namedBy: (mask: number) => readonly number[];
  /** The attributes of all rows in whose texts patterns may find something, in ascending order. */
  readonly foundTexts: () => readonly number[];
}

const FOUND_BY_NAME = 1;
const FOUND_ELSEWHERE = 2;

/** What was found so far. */
export class Findings implements NameFindings {
  readonly #rows: number;
  readonly #patterns: Uint8Array;
  /** Rows in whose messages patterns may find something; null where there is none. */
  #messages: Uint8Array | null = null;
  /** Rows in which they may find something elsewhere than in messages and texts of attributes; null where there is none. */
  #elsewhere: Uint8Array | null = null;
  readonly #foundTexts: number[] = [];
  /** By masks, what was found in every row by its fields; null for a mask of which nothing was found by them. */
  readonly #fields: (Uint8Array | null)[];
  /** By masks, the attributes that are fields of it. */
  readonly #elements: readonly number[][];
  readonly #entries: EntryColumns;
  /** By masks, the names of attributes that are fields of it: which attributes have them is found out when somebody asks. */
  readonly #keys: readonly number[][];
  #ofAnyRow: PatternBits = 0;

  constructor(entries: EntryColumns, masks: number) {
    const { rows } = entries;
    this.#entries = entries;
    this.#rows = rows;
    this.#patterns = new Uint8Array(rows);
    this.#keys = Array.from({ length: masks }, () => []);
    this.#fields = Array.from({ length: masks }, () => null);
    this.#elements = Array.from({ length: masks }, () => []);
  }

  readonly patternsOfRow = (row: number, bits: PatternBits): void => {
    this.#notePatterns(row, bits);
    this.#elsewhere ??= new Uint8Array(this.#rows);
    this.#elsewhere[row] = 1;
  };

  readonly patternsOfMessage = (row: number, bits: PatternBits): void => {
    this.#notePatterns(row, bits);
    this.#messages ??= new Uint8Array(this.#rows);
    this.#messages[row] = 1;
  };

  readonly patternsOfElement = (row: number, bits: PatternBits, element: number): void => {
    this.#notePatterns(row, bits);
    this.#foundTexts.push(element);
  };

  readonly fieldOfElement = (row: number, mask: number, element: number): void => {
    this.#note(row, mask, FOUND_BY_NAME);
    this.#elements[mask]?.push(element);
  };

  readonly fieldsOfKey = (key: number, masks: readonly number[]): void => {
    for (const mask of masks) this.#keys[mask]?.push(key);
  };

  readonly fieldOfRow = (row: number, mask: number): void => {
    this.#note(row, mask, FOUND_ELSEWHERE);
  };

  #notePatterns(row: number, bits: PatternBits): void {
    this.#ofAnyRow |= bits;
    this.#patterns[row] = (this.#patterns[row] ?? 0) | bits;
  }

  #note(row: number, mask: number, found: number): void {
    this.#fields[mask] ??= new Uint8Array(this.#rows);
    const rows = this.#fields[mask];
    if (rows != null) rows[row] = (rows[row] ?? 0) | found;
  }

  /** Which attributes have the names, once. */
  #lookForKeys(mask: number): void {
    const keys = this.#keys[mask]?.splice(0) ?? [];
    const found = this.#elements[mask];
    const { attrs } = this.#entries.details;
    const { indexes } = attrs.keys;
    let at = 0;
    for (let row = 0; row < this.#rows; row++)
      for (const end = attrs.ends[row] ?? 0; at < end; at++)
        if (keys.includes(indexes[at] ?? 0)) this.fieldOfElement(row, mask, at);
    found?.sort((left, right) => left - right);
  }

  among(masks: readonly MaskTerms[], termPlaces: FoundRows["termPlaces"]): FoundRows {
    const patterns = this.#patterns;
    const fields = this.#fields;
    const elements = this.#elements;
    const keys = this.#keys;
    /** What was found in every row by the fields of a mask. */
    const fieldsOf = (mask: number): Uint8Array | null => {
      if (keys[mask]?.length !== 0) this.#lookForKeys(mask);
      return fields[mask] ?? null;
    };
    const messages = this.#messages;
    const elsewhere = this.#elsewhere;
    const foundTexts = this.#foundTexts;
    let inOrder: readonly number[] | null = null;
    const ofAnyRow = this.#ofAnyRow;
    return {
      termPlaces,
      mayMaskAny: (mask) => {
        const terms = masks[mask];
        if (terms === undefined) return false;
        return (
          terms.isForAll ||
          (ofAnyRow & terms.patterns) !== 0 ||
          keys[mask]?.length !== 0 ||
          fields[mask] !== null
        );
      },
      mayMask: (mask, row) => {
        const terms = masks[mask];
        if (terms === undefined) return false;
        return (
          terms.isForAll ||
          ((patterns[row] ?? 0) & terms.patterns) !== 0 ||
          (fieldsOf(mask)?.[row] ?? 0) !== 0
        );
      },
      isOfTexts: (mask, row) =>
        masks[mask]?.isForAll === false &&
        (elsewhere === null || elsewhere[row] === 0) &&
        ((fieldsOf(mask)?.[row] ?? 0) & FOUND_ELSEWHERE) === 0,
      isInMessage: (row) => messages !== null && messages[row] === 1,
      foundTexts: () => {
        inOrder ??= [...new Set(foundTexts)].sort((left, right) => left - right);
        return inOrder;
      },
      namedBy: (mask) => {
        fieldsOf(mask);
        return elements[mask] ?? [];
      },
    };
  }
}
