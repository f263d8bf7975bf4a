import { IngestRejectedError } from "../../errors.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { decodeLenient } from "../lenient-text.ts";
import { linesOf } from "../lines.ts";

/** What a request says of all its lines. */
export interface RawMetadata {
  readonly host?: string | undefined;
  readonly source?: string | undefined;
  readonly sourcetype?: string | undefined;
  readonly index?: string | undefined;
}

/**
 * Raw text of Splunk's HTTP Event Collector: every line that is not blank is an entry with the line as its message, in
 * whatever encoding it is. One instance serves one request. Source: Splunk documentation, "HTTP Event Collector REST API endpoints".
 */
export class SplunkRawText implements RecordDecoder {
  readonly format = "splunk-hec-raw";
  readonly #about: RawMetadata;

  constructor(about: RawMetadata) {
    this.#about = about;
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    const { host = "", source = "", sourcetype, index } = this.#about;
    let isEmpty = true;
    for (const { bytes } of linesOf(body)) {
      isEmpty = false;
      writer.begin();
      writer.message(decodeLenient(bytes, 0, bytes.length).replace(/\r$/, ""));
      writer.host(host);
      writer.source(source);
      writer.attribute("sourcetype", sourcetype);
      writer.attribute("index", index);
      writer.end();
    }
    if (!isEmpty) return;
    const message = "the body holds no line";
    throw new IngestRejectedError(message, [{ path: "", code: "too_small", message }]);
  }
}
