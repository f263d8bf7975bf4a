import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { JsonTape } from "./json-tape.ts";
import { LogsRequest } from "./logs-request.ts";
import { refused } from "./refused.ts";

/**
 * Nesting of a body. An AnyValue within another takes four levels; beyond a hundred values within one another protobuf
 * implementations give up too.
 */
const MAX_DEPTH = 512;

/**
 * OTLP logs in the JSON encoding: an ExportLogsServiceRequest. Source: OpenTelemetry Protocol specification, "JSON
 * Protobuf Encoding", and its logs.proto: ids are hexadecimal, 64-bit integers come as numbers or strings, names are in
 * lower camel case, unknown fields are ignored, a null is a field that is not there.
 */
export class OtlpJsonDecoder implements RecordDecoder {
  readonly format = "otlp";
  readonly #tape = new JsonTape(MAX_DEPTH);
  readonly #request = new LogsRequest(this.#tape);

  decode(body: Uint8Array, writer: RecordWriter): void {
    try {
      const problem = this.#tape.read(body);
      if (problem !== null) throw refused("", `the body ${problem}`);
      this.#request.write(writer);
    } finally {
      this.#tape.release();
    }
  }
}
