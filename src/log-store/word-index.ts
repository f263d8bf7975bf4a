import { COLUMNS_TRUSTED_MS, UNINDEXED_WORDS_MAX_ROWS } from "./limits.ts";

/** Says how many rows a search for a word would have to read because no index has their words. */
interface IndexedTable {
  rowsWithoutWords(signal: AbortSignal): Promise<number>;
}

/**
 * Whether statements may count on the index of words. They mean the same without it, but compute the words of every row that it lacks,
 * which is slower than any other way. So it is used while it lacks next to none.
 */
export class WordIndex {
  readonly #table: IndexedTable;
  readonly #monotonicMs: () => number;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #distrusts = 0;

  constructor(table: IndexedTable, monotonicMs: () => number) {
    this.#table = table;
    this.#monotonicMs = monotonicMs;
  }

  isComplete(): boolean {
    return this.#monotonicMs() - this.#lookedMs <= COLUMNS_TRUSTED_MS;
  }

  /** Rows came in without it, or the store refused a statement that used it: it is not used until it was looked at. */
  distrust(): void {
    this.#lookedMs = Number.NEGATIVE_INFINITY;
    this.#distrusts++;
  }

  /** Looks how many rows it lacks. */
  async look(signal: AbortSignal): Promise<void> {
    const lookedMs = this.#monotonicMs();
    const distrusts = this.#distrusts;
    const rows = await this.#table.rowsWithoutWords(signal);
    if (distrusts !== this.#distrusts) return;
    this.#lookedMs = rows <= UNINDEXED_WORDS_MAX_ROWS ? lookedMs : Number.NEGATIVE_INFINITY;
  }
}
