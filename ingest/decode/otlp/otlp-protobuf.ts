import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { JsonTape } from "./json-tape.ts";
import { LogsRequest } from "./logs-request.ts";
import { LOGS_REQUEST } from "./protobuf-schema.ts";
import { ProtobufTape } from "./protobuf-tape.ts";

/** OTLP logs in the protobuf encoding, which become the entries that the JSON encoding of the same request becomes. */
export class OtlpProtobufDecoder implements RecordDecoder {
  readonly format = "otlp-protobuf";
  // It reads nothing with a depth of its own.
  readonly #tape = new JsonTape(0);
  readonly #protobuf = new ProtobufTape(this.#tape);
  readonly #request = new LogsRequest(this.#tape);

  decode(body: Uint8Array, writer: RecordWriter): void {
    try {
      this.#protobuf.read(LOGS_REQUEST, body);
      this.#request.write(writer);
    } finally {
      this.#tape.release();
    }
  }
}
