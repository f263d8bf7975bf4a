import { INSERT_TOKENS_MAX } from "./limits.ts";
import type { EntryIds, LogStore } from "./log-store.ts";
import { missingRows, type Rows } from "./missing-rows.ts";
import type { IngestObserver } from "./observer.ts";

interface InsertionOptions extends Rows {
  readonly store: LogStore;
  readonly observer: IngestObserver;
  readonly token: string;
  /**
   * An earlier process wrote the rows and may have inserted them: answers the entries among them that somebody else has
   * stored since under ids of his own. Undefined for rows of this process.
   */
  readonly recovered: (() => Promise<EntryIds>) | undefined;
}

/**
 * Rows on their way into the store. The first time they are inserted as they are. When they may have been inserted
 * before, because an answer was lost with a process, a connection or the power, the store is asked what it has; only
 * what is missing is inserted, and the store is asked again. Its memory of tokens is no proof either way: a power cut
 * can leave rows without their token, and a crash between the two writes a token without its rows.
 */
export class Insertion {
  readonly #options: InsertionOptions;
  #isUncertain: boolean;
  /** Entries that are not to be inserted at all; null until that is known. */
  #givenAway: EntryIds | null = null;
  /** How many inserts were answered and left rows missing: the store took them for repeated. */
  #refusals = 0;

  constructor(options: InsertionOptions) {
    this.#options = options;
    this.#isUncertain = options.recovered !== undefined;
  }

  /** Takes one step; true when the store has every row, durably. Call it again otherwise, also when it rejects. */
  async advance(signal: AbortSignal): Promise<boolean> {
    if (!this.#isUncertain) {
      this.#isUncertain = true;
      await this.#insert(this.#options, signal);
      return true;
    }
    const { store, blocks, recovered } = this.#options;
    this.#givenAway ??= (await recovered?.()) ?? new Map();
    const missing = await missingRows(store, blocks, this.#givenAway, signal);
    if (missing.rows === 0) return true;
    if (this.#refusals === INSERT_TOKENS_MAX) {
      this.#refusals = 0;
      throw new Error(`the store acknowledges inserts and does not have ${missing.rows} of their rows`);
    }
    await this.#insert(missing, signal);
    this.#refusals++;
    return false;
  }

  async #insert({ blocks, rows }: Rows, signal: AbortSignal): Promise<void> {
    const { store, observer } = this.#options;
    const startedAt = performance.now();
    await store.insert(blocks, this.#token(), signal);
    const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
    observer.inserted(rows, bytes, performance.now() - startedAt);
  }

  /**
   * The same at every repetition, so that an insert that is still under way when it is repeated counts once. Another
   * one only after the store has taken rows that it does not have for repeated.
   */
  #token(): string {
    const { token } = this.#options;
    return this.#refusals === 0 ? token : `${token}/${this.#refusals}`;
  }
}
