import { IngestRejectedError } from "../../errors.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { isSame } from "../cef/cef-key-table.ts";
import { decodeLenient } from "../lenient-text.ts";
import { readOctetFrames } from "./octet-frames.ts";
import { endOfPeer } from "./relayed-frames.ts";
import { type SyslogOrigin, SyslogRecords } from "./syslog-records.ts";

/**
 * What the listeners gathered, a body made by `RelayedFrames`. No message is rejected. Bytes that are not UTF-8 become
 * the characters that Latin-1 has for them.
 */
export class SyslogDecoder implements RecordDecoder {
  readonly format = "syslog";
  readonly #records: SyslogRecords;
  #lastPeer: { readonly bytes: Uint8Array; readonly origin: SyslogOrigin } = {
    bytes: new Uint8Array(0),
    origin: { peer: null, form: "standard" },
  };

  constructor(options: { now: () => number }) {
    this.#records = new SyslogRecords(options);
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    const fault = readOctetFrames(body, (start, end) => {
      const peerEnd = endOfPeer(body, start);
      const origin = this.#originOf(body, start, peerEnd);
      this.#records.write(body.subarray(peerEnd + 1, end), writer, origin);
    });
    if (fault === null) return;
    const message = `at byte ${fault.at}: ${fault.reason}`;
    throw new IngestRejectedError(message, [{ path: "", code: "custom", message }]);
  }

  /** Nearly always that of the message before. */
  #originOf(body: Uint8Array, start: number, end: number): SyslogOrigin {
    const { bytes } = this.#lastPeer;
    if (!isSame(body, start, end, bytes, 0, bytes.length)) {
      const origin: SyslogOrigin = { peer: decodeLenient(body, start, end), form: "standard" };
      this.#lastPeer = { bytes: body.slice(start, end), origin };
    }
    return this.#lastPeer.origin;
  }
}
