/** What the store finds entries by: those of one server instance, in the order in which it made them. */
export interface EntrySpan {
  /** Inclusive, both of the same instance; ids of other instances between them are not meant. */
  readonly firstId: bigint;
  readonly lastId: bigint;
  /** Whose entries they are, from the lowest to the highest. */
  readonly organizations: Extent;
  /** When they were received, epoch ms. */
  readonly receivedMs: Extent;
}

/** Both inclusive. */
export interface Extent {
  readonly min: number;
  readonly max: number;
}

/** Ids of entries by organisation. */
export type EntryIds = ReadonlyMap<number, ReadonlySet<bigint>>;

/** Where the flusher puts rows: the `logs` table, whatever connection leads there. */
export interface LogStore {
  /**
   * Inserts blocks in ClickHouse's Native format as one insert. Resolves when the rows are durable in the store;
   * rejects when that is not certain. The store drops an insert whose token it has seen, as long as it remembers it.
   */
  insert(blocks: readonly Uint8Array[], token: string, signal: AbortSignal): Promise<void>;
  /**
   * Which entries of the span are durable in the store, wherever it keeps them by now. At most as many as the span's
   * instance has made between its two ids.
   */
  find(span: EntrySpan, signal: AbortSignal): Promise<EntryIds>;
}
