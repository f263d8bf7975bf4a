import { type LogBatch, RecordWriter } from "../../../../ingest/index.ts";
import { entryName } from "./entry-name.ts";

/** The attribute that holds what the sender called an entry by. */
const SENDERS_EVENT_ID = "event_id";

/**
 * Writes the entries of quarantined records. Each bears the name of its record, by which the write-ahead log notices a
 * repetition and the log store is asked whether it is there.
 */
export class ReplayWriter extends RecordWriter {
  #name = "";
  #entries = 0;

  /** Starts a record; an entry without a time gets that of the record's receipt. */
  openRecord(
    batch: LogBatch,
    skip: ReadonlySet<number>,
    record: { readonly entryKey: string; readonly receivedAtMs: number },
  ): void {
    this.#name = entryName(record.entryKey);
    this.#entries = 0;
    this.open(batch, skip, record.receivedAtMs);
  }

  override begin(): void {
    super.begin();
    super.eventId(this.#entries === 0 ? this.#name : `${this.#name}-${this.#entries}`);
    this.#entries++;
  }

  override eventId(text: string): void {
    if (text !== "") this.attribute(SENDERS_EVENT_ID, text);
  }
}
