import type { Sql } from "postgres";
import { WorkLoop } from "../concurrency/work-loop.ts";
import { takeTurn } from "../jobs/claims/turns.ts";
import type { Logger } from "../log.ts";
import type { AttributeAccess } from "./attribute-access.ts";
import { forgetCheapAttributes, readDearAttributes } from "./attribute-usage.ts";
import { addColumn, type KeptColumn, readColumns, removeColumn, setColumnState } from "./column-store.ts";
import {
  ATTRIBUTE_COLUMNS_MAX,
  BUSY_ROWS,
  COLUMN_LEAVE_MS,
  COLUMN_MIN_AGE_MS,
  COLUMN_MIN_ASKS,
  COLUMN_MIN_COST_MS,
  COLUMN_REPLACE_FACTOR,
  COLUMN_UNUSED_MS,
  LOW_CARDINALITY_MAX_VALUES,
  UNINDEXED_WORDS_MAX_ROWS,
  UPKEEP_EVERY_MS,
  UPKEEP_MAX_MERGES,
  UPKEEP_STOP_MS,
} from "./limits.ts";
import { TableStatements } from "./table-statements.ts";
import { WordIndex } from "./word-index.ts";

interface UpkeepOptions {
  readonly sql: Sql;
  readonly statements: TableStatements;
  readonly access: AttributeAccess;
  readonly words: WordIndex;
  readonly log: Logger;
}

/** Work of which there is one of a kind. */
const TURN = "log-store-upkeep";

/**
 * Looks after the table of logs, one server at a time: makes columns of attributes that queries ask for and removes those that
 * none asks for any more, and, while few entries come in, has the store write what inserts left out: indexes of messages, and
 * columns and words of parts that are older than they.
 *
 * Whatever it does can be done again, and a step that a death cuts short is taken again: what there is to do is found by
 * looking at the table.
 */
export class LogStoreUpkeep {
  readonly #options: UpkeepOptions;
  readonly #loop: WorkLoop;

  constructor(options: UpkeepOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      work: (signal) => this.#round(signal),
      pollMs: UPKEEP_EVERY_MS,
      failure: "the table of logs could not be looked after",
      log: options.log,
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop(UPKEEP_STOP_MS);
  }

  /** One look at the table, by whichever server has the turn. */
  async runOnce(signal: AbortSignal): Promise<void> {
    await this.#round(signal);
  }

  async #round(signal: AbortSignal): Promise<boolean> {
    const { sql, access, words } = this.#options;
    await access.exchange();
    await words.look(signal);
    await takeTurn(sql, TURN, async () => {
      await this.#chooseColumns(signal);
      await this.#removeColumns(signal);
      if ((await this.#options.statements.recentRows(signal)) >= BUSY_ROWS) return;
      await this.#options.statements.addWordIndex(signal);
      const mergesLeft = await this.#indexParts(signal);
      await this.#fillColumns(signal);
      if (!mergesLeft) await this.#fillWords(signal);
    });
    await access.exchange();
    await words.look(signal);
    return false;
  }

  async #chooseColumns(signal: AbortSignal): Promise<void> {
    const { sql, statements, log } = this.#options;
    const kept = await readColumns(sql);
    let places = ATTRIBUTE_COLUMNS_MAX - kept.length;
    const replaceable = kept.filter(({ state, ageMs }) => state === "ready" && ageMs >= COLUMN_MIN_AGE_MS);
    replaceable.sort((a, b) => a.costMs - b.costMs);
    for (const { key, asks, costMs } of await readDearAttributes(sql, ATTRIBUTE_COLUMNS_MAX)) {
      if (costMs < COLUMN_MIN_COST_MS || asks < COLUMN_MIN_ASKS || signal.aborted) continue;
      if (places > 0) {
        places -= 1;
        const values = await statements.distinctValues(key, signal);
        await addColumn(sql, key, values <= LOW_CARDINALITY_MAX_VALUES);
        log.info({ costMs: Math.round(costMs) }, "an attribute gets a column of its own");
        continue;
      }
      const weakest = replaceable.shift();
      if (weakest === undefined || costMs < weakest.costMs * COLUMN_REPLACE_FACTOR) break;
      await setColumnState(sql, weakest.key, "leaving");
    }
    await forgetCheapAttributes(sql);
  }

  async #removeColumns(signal: AbortSignal): Promise<void> {
    const { sql, statements } = this.#options;
    for (const { key, state, ageMs, unusedMs } of await readColumns(sql)) {
      if (state !== "leaving" && unusedMs >= COLUMN_UNUSED_MS) await setColumnState(sql, key, "leaving");
      if (state !== "leaving" || ageMs < COLUMN_LEAVE_MS) continue;
      // The store keeps a column that it is still writing.
      if (await statements.isChanging(signal)) return;
      await statements.dropColumns(key, signal);
      await removeColumn(sql, key);
    }
  }

  /** Merges while there are parts without indexes of messages and a merge leaves fewer of them. Whether there are more such merges. */
  async #indexParts(signal: AbortSignal): Promise<boolean> {
    const { statements } = this.#options;
    let left = await statements.unindexedParts(signal);
    for (let merges = 0; left > 0; merges++) {
      if (merges === UPKEEP_MAX_MERGES || signal.aborted) return true;
      // What nothing can be merged with, such as all there is of a day, is left as it is; what is being merged already is not.
      if (!(await statements.merge(signal))) return statements.isMerging(signal);
      const remaining = await statements.unindexedParts(signal);
      if (remaining >= left) return false;
      left = remaining;
    }
    return false;
  }

  async #fillColumns(signal: AbortSignal): Promise<void> {
    const { sql, statements } = this.#options;
    const kept = (await readColumns(sql)).filter(({ state }) => state !== "leaving");
    const missing = await this.#missing(kept, signal);
    // A table that was restored from elsewhere has other columns than the servers agreed on.
    for (const { key } of missing) await setColumnState(sql, key, "filling");
    await statements.addColumns(missing, signal);
    let next: string | null = null;
    const unfilled: KeptColumn[] = [];
    for (const column of kept) {
      const partition = await statements.unfilledPartition(column.key, signal);
      // A merge that began before the columns were there ends without them, also after others were filled.
      await setColumnState(sql, column.key, partition === null ? "ready" : "filling");
      if (partition !== null) {
        next ??= partition;
        if (partition === next) unfilled.push(column);
      }
    }
    if (next !== null && !(await statements.isChanging(signal)))
      await statements.fill(next, unfilled, signal);
  }

  /** Has the words of older parts indexed, a partition at a time; newer ones without get them by the merges above. */
  async #fillWords(signal: AbortSignal): Promise<void> {
    const { statements } = this.#options;
    if (await statements.isChanging(signal)) return;
    const partition = await statements.partitionWithoutWords(UNINDEXED_WORDS_MAX_ROWS, signal);
    if (partition !== null) await statements.fillWords(partition, signal);
  }

  async #missing(kept: readonly KeptColumn[], signal: AbortSignal): Promise<readonly KeptColumn[]> {
    if (kept.length === 0) return [];
    const existing = await this.#options.statements.existing(
      kept.map(({ key }) => key),
      signal,
    );
    return kept.filter(({ key }) => !existing.has(key));
  }
}

/** What a server needs of it. */
export function openUpkeep({
  sql,
  clickhouse,
  access,
  words,
  log,
}: Omit<UpkeepOptions, "statements"> & {
  readonly clickhouse: ConstructorParameters<typeof TableStatements>[0];
}): LogStoreUpkeep {
  return new LogStoreUpkeep({ sql, access, words, log, statements: new TableStatements(clickhouse) });
}

/** What statements have to know of the index of words. */
export function openWordIndex(
  clickhouse: ConstructorParameters<typeof TableStatements>[0],
  monotonicMs: () => number,
): WordIndex {
  return new WordIndex(new TableStatements(clickhouse), monotonicMs);
}
