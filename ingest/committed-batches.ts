/** A batch that is durable. What it holds may be read during the call that tells of it, and not after. */
export interface CommittedBatch {
  /** Whose entries are in it. */
  readonly organizations: ReadonlySet<number>;
  /** The entries, in order, in ClickHouse's Native format: `CommittedBlock` reads it. */
  readonly block: Uint8Array;
  /** The id of the last entry; the ids of one server's batches grow. */
  readonly lastId: bigint;
}

/** Hears of every batch, in order, once it is durable: what was refused never comes here, nor does a duplicate. */
export interface CommittedBatches {
  /** Called while the batch is being acknowledged, so it copies what it wants and returns. Must not throw. */
  committed(batch: CommittedBatch): void;
}
