import type { Sql, TransactionSql } from "postgres";
import { DependencyError } from "../../errors.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { restrictToOrganization } from "../../storage/organization-transaction.ts";

/** One organisation's rows as they are at one moment, for as long as it is open. One reading at a time. */
export interface Snapshot {
  /** What `rows` reads, as it is asked for. Throws DependencyError once the snapshot is closed or lost. */
  readonly read: <T>(rows: (tx: TransactionSql) => AsyncIterable<T>) => AsyncGenerator<T, void>;
  /** Ends it and gives the connection back, also in the middle of a reading; may be called again. */
  readonly close: () => Promise<void>;
}

/**
 * Begins a transaction that reads one organisation's rows as they are now, however long that takes. Whoever opens it
 * has to close it. Throws DependencyError.
 */
export async function openSnapshot(sql: Sql, organizationId: number): Promise<Snapshot> {
  const opened = Promise.withResolvers<TransactionSql>();
  const closing = Promise.withResolvers<void>();
  const over = sql.begin("isolation level repeatable read read only", async (tx) => {
    await restrictToOrganization(tx, organizationId);
    opened.resolve(tx);
    await closing.promise;
  });
  over.catch(opened.reject);
  try {
    return snapshotOf(await askPostgres(() => opened.promise), over, closing.resolve);
  } catch (error) {
    // It may still begin once there is a connection; then it ends at once.
    closing.resolve();
    throw error;
  }
}

function snapshotOf(tx: TransactionSql, over: Promise<void>, end: () => void): Snapshot {
  let isClosed = false;
  let hasEnded = false;
  // Who waits for rows when the connection is lost would wait for ever.
  let giveUp = (_error: DependencyError): void => undefined;
  let underWay: Promise<unknown> = Promise.resolve();
  const finish = (cause?: unknown): void => {
    hasEnded = true;
    giveUp(endedSnapshot(cause));
  };
  const ended = over.then(() => finish(), finish);

  async function* read<T>(rows: (tx: TransactionSql) => AsyncIterable<T>): AsyncGenerator<T, void> {
    const iterator = rows(tx)[Symbol.asyncIterator]();
    for (;;) {
      if (isClosed || hasEnded) throw endedSnapshot();
      const lost = Promise.withResolvers<never>();
      giveUp = lost.reject;
      const next = iterator.next();
      underWay = next.catch(() => undefined);
      const { done, value } = await Promise.race([next, lost.promise]);
      if (done === true) return;
      yield value;
    }
  }

  return {
    read,
    close: async () => {
      // A statement sent after the end would run in whatever the connection does next.
      isClosed = true;
      await Promise.race([underWay, ended]);
      // On a connection that is gone there is nothing to be ended, and the client of Postgres would trip over it.
      if (!hasEnded) end();
      await ended;
    },
  };
}

function endedSnapshot(cause?: unknown): DependencyError {
  return new DependencyError("postgres", "the snapshot of an export has ended", { retryable: true, cause });
}
