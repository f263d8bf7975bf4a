import type { TransactionSql } from "postgres";
import type { Change } from "../changes/change.ts";

/** What of `Records` lists, whatever the kind. */
interface Listing<R extends { readonly id: number }> {
  listIn(tx: TransactionSql, organizationId: number, limit: number): Promise<readonly R[]>;
}

/** The list of a kind whose records show everything that can be said of them. */
export function recordsOf<R extends { readonly id: number }>(records: Listing<R>) {
  return async (
    tx: TransactionSql,
    organizationId: number,
    limit: number,
  ): Promise<{ id: number; fields: R }[]> =>
    (await records.listIn(tx, organizationId, limit)).map((record) => ({ id: record.id, fields: record }));
}

interface Verbs<C, U> {
  /** Makes many in their order; `oneByOne` where only one at a time can be made. */
  readonly createAll: (change: Change, bodies: readonly C[]) => Promise<readonly { readonly id: number }[]>;
  readonly update: (change: Change, id: number, body: U) => Promise<unknown>;
  readonly remove: (change: Change, id: number) => Promise<void>;
}

/** The verbs of records that are known by numbers. `then` follows each change, as it does where routes make it. */
export function verbsOf<C, U>(verbs: Verbs<C, U>, then: (change: Change) => void = () => undefined) {
  return {
    make: (change: Change, bodies: readonly C[]): Promise<readonly { readonly id: number }[]> => {
      then(change);
      return verbs.createAll(change, bodies);
    },
    change: (change: Change, id: string, body: U): Promise<unknown> => {
      then(change);
      return verbs.update(change, Number(id), body);
    },
    remove: (change: Change, id: string): Promise<void> => {
      then(change);
      return verbs.remove(change, Number(id));
    },
  };
}

/** Makes records of which there are few, or of which each heeds those before it, one after the other. */
export function oneByOne<C, I>(
  create: (change: Change, body: C) => Promise<{ readonly id: I }>,
): (change: Change, bodies: readonly C[]) => Promise<{ readonly id: I }[]> {
  return async (change, bodies) => {
    const made: { readonly id: I }[] = [];
    for (const body of bodies) made.push(await create(change, body));
    return made;
  };
}
