import { INSTANCE_COUNT } from "../../../ingest/index.ts";

/** Up to which id the entries of this server are in the log store, for each number that it made ids with. */
export class StoredMarks {
  readonly #through = new Map<number, bigint>();

  /** All entries up to this one are stored that were made with its number by this server. */
  readonly stored = (id: bigint): void => {
    this.#through.set(Number(id % BigInt(INSTANCE_COUNT)), id);
  };

  /** Null while this process has stored none. */
  throughOf(instance: number): bigint | null {
    return this.#through.get(instance) ?? null;
  }
}
