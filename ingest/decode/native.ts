import type { LogBatch } from "../log-batch.ts";
import { NativeJsonDecoder } from "./native-json.ts";
import { explainNativeJson } from "./native-json-explain.ts";

/**
 * The native format: one log entry as a JSON object, or an array of 1 to 500. Throws IngestRejectedError when any
 * entry is invalid. One instance serves all requests, one after the other.
 */
export class NativeFormat {
  readonly #decoder = new NativeJsonDecoder();

  /** Appends the entries of `body` to the open request of `batch`, without those at the positions in `skip`. */
  decode(body: Uint8Array, batch: LogBatch, skip: ReadonlySet<number>): void {
    if (skip.size === 0) {
      if (this.#decoder.decode(body, batch)) return;
      batch.rewindRequest();
    }
    const plain = explainNativeJson(body, skip);
    if (plain.length <= EMPTY_ARRAY_BYTES) return;
    if (!this.#decoder.decode(plain, batch))
      throw new Error("the decoder refuses what the validation accepted");
  }
}

const EMPTY_ARRAY_BYTES = "[]".length;
