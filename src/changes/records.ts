import type { Fragment, Sql, TransactionSql } from "postgres";
import type { Static, TObject } from "typebox";
import { ApiError } from "../errors.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import { inOrganization, lockOrganization } from "../storage/organization-transaction.ts";
import { RecordTable } from "../storage/record-table.ts";
import type { Change } from "./change.ts";

interface RecordKind<S extends TObject, Fields> {
  /** What one is called, without its article: `saved search`. */
  readonly noun: string;
  readonly table: string;
  readonly schema: S;
  readonly maxPerOrganization: number;
  /** Refuses fields that the schema alone cannot judge; `before` is null for a new record. */
  readonly check?: (fields: Fields, before: Static<S> | null, change: Change) => void | Promise<void>;
}

/** What is done with records of one kind, whoever does it. Texts of errors are the same for all kinds. */
export class Records<S extends TObject, Create extends object, Update extends object> {
  readonly #kind: RecordKind<S, Create | Update>;
  readonly #table: RecordTable<S>;

  constructor(kind: RecordKind<S, Create | Update>) {
    this.#kind = kind;
    this.#table = new RecordTable(kind.table, kind.schema);
  }

  /** Oldest first. */
  list(sql: Sql, organizationId: number): Promise<Static<S>[]> {
    return askPostgres(() =>
      inOrganization(sql, organizationId, (tx) => this.#table.list(tx, organizationId)),
    );
  }

  /** Oldest first, at most `limit`, within a transaction that is open. */
  async listIn(
    tx: TransactionSql,
    organizationId: number,
    limit: number,
    condition: Fragment = tx`true`,
  ): Promise<Static<S>[]> {
    return (await this.#table.newest(tx, organizationId, { limit, condition })).reverse();
  }

  /** Newest first: at most `limit` from before an id, and whether others follow. */
  async page(
    sql: Sql,
    organizationId: number,
    { beforeId, limit }: { readonly beforeId: number | null; readonly limit: number },
    conditionOf: (tx: TransactionSql) => Fragment = (tx) => tx`true`,
  ): Promise<{ items: Static<S>[]; hasMore: boolean }> {
    const found = await askPostgres(() =>
      inOrganization(sql, organizationId, (tx) => {
        const before = beforeId === null ? tx`true` : tx`id < ${beforeId}`;
        const condition = tx`${before} AND ${conditionOf(tx)}`;
        return this.#table.newest(tx, organizationId, { limit: limit + 1, condition });
      }),
    );
    return { items: found.slice(0, limit), hasMore: found.length > limit };
  }

  /** Throws NOT_FOUND for an id that the organisation has not. */
  async read(sql: Sql, organizationId: number, id: number): Promise<Static<S>> {
    const found = await askPostgres(() =>
      inOrganization(sql, organizationId, (tx) => this.#table.find(tx, organizationId, id)),
    );
    if (found === null) throw this.#missing();
    return found;
  }

  /** The same within a transaction that is open. */
  async readIn(tx: TransactionSql, organizationId: number, id: number): Promise<Static<S>> {
    const found = await this.#table.find(tx, organizationId, id);
    if (found === null) throw this.#missing();
    return found;
  }

  /** Throws CONFLICT for one record too many. */
  readonly create = async (change: Change, fields: Create): Promise<Static<S>> => {
    const { tx, organizationId, nowMs } = change;
    await this.#kind.check?.(fields, null, change);
    await this.#requireRoom(change, 1);
    const record = await this.#table.insert(tx, organizationId, fields, nowMs);
    change.record({ resource: this.#resource(idOf(record)), after: record });
    return record;
  };

  /** Makes many at once and answers them in their order. What one is refused with, all are. Throws CONFLICT for one too many. */
  readonly createAll = async (change: Change, all: readonly Create[]): Promise<Static<S>[]> => {
    const { tx, organizationId, nowMs } = change;
    for (const fields of all) await this.#kind.check?.(fields, null, change);
    await this.#requireRoom(change, all.length);
    const records = await this.#table.insertAll(tx, organizationId, all, nowMs);
    for (const record of records) change.record({ resource: this.#resource(idOf(record)), after: record });
    return records;
  };

  /**
   * Makes a record, or sets the given fields of the one that has its key already. `ofKey` is the condition for that one.
   * Throws CONFLICT for one record too many.
   */
  readonly put = async (
    change: Change,
    fields: Create & Update,
    ofKey: (tx: TransactionSql) => Fragment,
  ): Promise<{ record: Static<S>; isNew: boolean }> => {
    const { tx, organizationId } = change;
    // Of two calls with one key the second waits, and then finds what the first has made.
    await lockOrganization(tx, organizationId);
    const [found] = await this.#table.list(tx, organizationId, ofKey(tx));
    if (found === undefined) return { record: await this.create(change, fields), isNew: true };
    return { record: await this.update(change, idOf(found), fields), isNew: false };
  };

  /** Sets the fields that are given. Throws NOT_FOUND for an id that the organisation has not. */
  readonly update = async (change: Change, id: number, fields: Update): Promise<Static<S>> => {
    const before = await this.#lock(change, id);
    await this.#kind.check?.(fields, before, change);
    const { tx, organizationId, nowMs } = change;
    const after = await this.#table.update(tx, organizationId, id, fields, nowMs);
    change.record({ resource: this.#resource(id), before, after });
    return after;
  };

  /** Throws NOT_FOUND for an id that the organisation has not. */
  readonly remove = async (change: Change, id: number): Promise<void> => {
    const before = await this.#lock(change, id);
    await this.#table.remove(change.tx, change.organizationId, id);
    change.record({ resource: this.#resource(id), before });
  };

  async #requireRoom({ tx, organizationId }: Change, added: number): Promise<void> {
    const { noun, maxPerOrganization: max } = this.#kind;
    if ((await this.#table.countLocked(tx, organizationId)) + added > max)
      throw new ApiError("CONFLICT", `${max} is the most of this kind (${noun}); delete one first.`);
  }

  async #lock({ tx, organizationId }: Change, id: number): Promise<Static<S>> {
    const found = await this.#table.lock(tx, organizationId, id);
    if (found === null) throw this.#missing();
    return found;
  }

  #missing(): ApiError {
    return new ApiError("NOT_FOUND", `No such ${this.#kind.noun}.`);
  }

  #resource(id: number): string {
    return `${this.#kind.noun.replaceAll(" ", "-")}:${id}`;
  }
}

function idOf(record: object): number {
  if ("id" in record && typeof record.id === "number") return record.id;
  throw new Error("a record has no id");
}
