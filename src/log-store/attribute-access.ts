import type { Sql } from "postgres";
import { type AttributeColumns, attributeColumnOf } from "../../query/index.ts";
import { UsageCounter } from "./attribute-usage.ts";
import { readReadyKeys } from "./column-store.ts";
import { COLUMNS_TRUSTED_MS } from "./limits.ts";

const NONE: AttributeColumns = new Map();

/** Which attributes statements may read columns of, and what they ask for. */
export class AttributeAccess {
  readonly #sql: Sql;
  readonly #monotonicMs: () => number;
  readonly #usage = new UsageCounter();
  #columns: AttributeColumns = NONE;
  #readMs = Number.NEGATIVE_INFINITY;

  constructor(sql: Sql, monotonicMs: () => number) {
    this.#sql = sql;
    this.#monotonicMs = monotonicMs;
  }

  /** None when it is not known which there are by now: statements mean the same without. */
  columns(): AttributeColumns {
    return this.#monotonicMs() - this.#readMs <= COLUMNS_TRUSTED_MS ? this.#columns : NONE;
  }

  /** A statement looked for attributes with these keys. */
  used(keys: readonly string[], cost: { readonly durationMs: number; readonly bytesRead: number }): void {
    if (keys.length > 0) this.#usage.add(keys, this.#columns, cost);
  }

  /** The store did not know a column: none is read until the list is read anew. */
  distrust(): void {
    this.#readMs = Number.NEGATIVE_INFINITY;
  }

  /** Tells the other servers what was asked for, and hears which columns there are. */
  async exchange(): Promise<void> {
    const readMs = this.#monotonicMs();
    const keys = await readReadyKeys(this.#sql);
    this.#columns = new Map(keys.map((key) => [key, attributeColumnOf(key)]));
    this.#readMs = readMs;
    await this.#usage.write(this.#sql);
  }
}
