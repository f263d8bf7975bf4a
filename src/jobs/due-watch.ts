import type { Fragment, Sql } from "postgres";
import type { Watch } from "../concurrency/work-loop.ts";
import type { Logger } from "../log.ts";
import { askPostgres } from "../storage/ask-postgres.ts";

/** How often is asked whether anything is due; a loop is told as often as it would look by itself. */
const ASK_EVERY_MS = 500;

/** A condition in SQL that is true while a loop has something to do; made anew for every question. */
type DueTest = (sql: Sql) => Fragment;

interface Watched {
  readonly isDue: DueTest;
  readonly everyMs: number;
  readonly wake: () => void;
  readonly log: Logger;
  toldMs: number;
}

/**
 * Asks Postgres for many loops at once whether any of them has something to do: most of the time none has, and a statement for each
 * of them, a second or two apart, is what a server does that nobody uses.
 */
class DueWatch {
  readonly #sql: Sql;
  readonly #watched = new Set<Watched>();
  #timer: Timer | undefined;
  #isAsking = false;
  #isFailing = false;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  add(watched: Watched): Disposable {
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => void this.#ask(), ASK_EVERY_MS);
    return {
      [Symbol.dispose]: () => {
        this.#watched.delete(watched);
        if (this.#watched.size > 0) return;
        clearInterval(this.#timer);
        this.#timer = undefined;
      },
    };
  }

  /** Never rejects: while there is no answer, all loops look by themselves. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const asked = [...this.#watched];
    const due = await this.#areDue(asked).catch((error: unknown) => {
      // None is left where all have been stopped meanwhile.
      const [first] = this.#watched;
      if (!this.#isFailing)
        first?.log.error({ err: error }, "it cannot be asked what is due: all loops look for it");
      return null;
    });
    this.#isFailing = due === null;
    this.#isAsking = false;
    const nowMs = performance.now();
    for (const [i, watched] of asked.entries()) {
      if (due?.[i] === false || nowMs - watched.toldMs < watched.everyMs - ASK_EVERY_MS / 2) continue;
      watched.toldMs = nowMs;
      watched.wake();
    }
  }

  async #areDue(asked: readonly Watched[]): Promise<readonly boolean[]> {
    const sql = this.#sql;
    const [first = sql`false`, ...others] = asked.map(({ isDue }) => isDue(sql));
    const list = others.reduce((before, isDue) => sql`${before}, ${isDue}`, first);
    const [row] = await askPostgres(() => sql<{ due: boolean[] }[]>`SELECT ARRAY[${list}] AS due`);
    return row?.due ?? [];
  }
}

/** One for all loops over the same connections. */
const watches = new WeakMap<Sql, DueWatch>();

/** Has a loop told when something is due, with all others over these connections, instead of looking by itself. */
export function whenDue(sql: Sql, isDue: DueTest): Watch {
  return ({ wake, everyMs, log }) => {
    const watch = watches.get(sql) ?? new DueWatch(sql);
    watches.set(sql, watch);
    return watch.add({ isDue, everyMs, wake, log, toldMs: Number.NEGATIVE_INFINITY });
  };
}
