import type { StoredRow } from "../../../audit/audit-rows.ts";
import { GENESIS_HASH, rowHash } from "../../../audit/chain.ts";

/**
 * What is wrong with a chain. `row_changed`: a row does not say what was hashed. `row_misplaced`: a row is not the one
 * that follows the row before it, because one was removed, inserted or moved. `anchor_differs`: a row's hash is not the
 * one that was anchored, so the chain was rewritten. `row_unexpected`: a row lies beyond the head. `tail_missing`: the
 * head or an anchor reaches farther than the rows. `head_differs`: the head does not agree with the last row.
 * `anchor_missing`: the head was anchored farther than the anchors reach.
 */
export const CHAIN_PROBLEMS = [
  "row_changed",
  "row_misplaced",
  "anchor_differs",
  "row_unexpected",
  "tail_missing",
  "head_differs",
  "anchor_missing",
] as const;
export type ChainProblem = (typeof CHAIN_PROBLEMS)[number];

/** How far a chain was followed, from its beginning, and found to be intact. */
export interface ChainPosition {
  /** The last row's place, and so the number of rows; 0 before the first. */
  readonly seq: number;
  readonly hash: Uint8Array;
  /** The last place of them where an anchor agrees; 0 for none. */
  readonly anchoredThrough: number;
}

export const CHAIN_BEGINNING: ChainPosition = { seq: 0, hash: GENESIS_HASH, anchoredThrough: 0 };

interface BrokenRow {
  readonly problem: ChainProblem;
  readonly id: number;
}

/** By place the hashes that were anchored there. */
export type AnchoredHashes = ReadonlyMap<number, readonly string[]>;

/** Follows a chain row by row, up to the first row that does not fit. */
export class ChainWalk {
  #position: ChainPosition;
  #broken: BrokenRow | null = null;

  constructor(position: ChainPosition) {
    this.#position = position;
  }

  get position(): ChainPosition {
    return this.#position;
  }

  get broken(): BrokenRow | null {
    return this.#broken;
  }

  /** Checks that the walk still stands on the row where it came to. */
  stand(stored: StoredRow): void {
    if (stored.row.seq !== this.#position.seq) this.stop("row_misplaced", stored);
    else if (Buffer.compare(stored.hash, this.#position.hash) !== 0) this.stop("row_changed", stored);
  }

  step(stored: StoredRow, anchors: AnchoredHashes): void {
    const { row, hash } = stored;
    const problem = this.#problemOf(stored, anchors.get(row.seq) ?? []);
    if (problem !== null) {
      this.stop(problem, stored);
      return;
    }
    const anchoredThrough = anchors.has(row.seq) ? row.seq : this.#position.anchoredThrough;
    this.#position = { seq: row.seq, hash, anchoredThrough };
  }

  stop(problem: ChainProblem, { row }: StoredRow): void {
    this.#broken = { problem, id: row.id };
  }

  #problemOf({ row, hash }: StoredRow, anchored: readonly string[]): ChainProblem | null {
    if (row.seq !== this.#position.seq + 1) return "row_misplaced";
    if (Buffer.compare(rowHash(this.#position.hash, row), hash) !== 0) return "row_changed";
    const text = Buffer.from(hash).toString("hex");
    return anchored.every((other) => other === text) ? null : "anchor_differs";
  }
}
