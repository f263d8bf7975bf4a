/** Where the flusher puts rows: the `logs` table, whatever connection leads there. */
export interface LogStore {
  /**
   * Inserts blocks in ClickHouse's Native format as one insert. Resolves when the rows are durable in the store;
   * rejects when that is not certain, and is then called again with the same blocks and the same token. The store
   * drops an insert whose token it has seen.
   */
  insert(blocks: readonly Uint8Array[], token: string, signal: AbortSignal): Promise<void>;
}
