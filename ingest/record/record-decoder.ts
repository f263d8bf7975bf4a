import type { RecordWriter } from "./record-writer.ts";

/**
 * A format that others define. It is lenient: what can be read is written, a record that cannot is rejected by itself.
 * One instance serves all requests, one after the other.
 */
export interface RecordDecoder {
  /** Its name in metrics and in the quarantine. */
  readonly format: string;
  /**
   * Writes the records of a request's unpacked body. The same body gives the same records in the same order: it is
   * decoded a second time when some of them turn out to be stored already. Throws IngestRejectedError when the body
   * as a whole is not of the format.
   */
  decode(body: Uint8Array, writer: RecordWriter): void;
}
