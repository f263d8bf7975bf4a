import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { JsonTape } from "../json-tape.ts";
import { ExportRequest, type Signal } from "./export-request.ts";
import { LOGS } from "./log-record.ts";
import { METRICS } from "./metric.ts";
import { LOGS_REQUEST, METRICS_REQUEST, type ProtobufMessage, TRACES_REQUEST } from "./protobuf-schema.ts";
import { ProtobufTape } from "./protobuf-tape.ts";
import { SPANS } from "./span.ts";

/** An export request of OTLP in protobuf, which becomes the entries that the JSON encoding of it becomes. */
class OtlpProtobuf implements RecordDecoder {
  readonly format: string;
  // It reads no JSON, and so needs no depth.
  readonly #tape = new JsonTape(0);
  readonly #protobuf = new ProtobufTape(this.#tape);
  readonly #message: ProtobufMessage;
  readonly #request: ExportRequest;

  constructor(format: string, message: ProtobufMessage, signal: Signal) {
    this.format = format;
    this.#message = message;
    this.#request = new ExportRequest(this.#tape, signal);
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    try {
      this.#protobuf.read(this.#message, body);
      this.#request.write(writer);
    } finally {
      this.#tape.release();
    }
  }
}

/** Logs in protobuf. */
export class OtlpProtobufDecoder extends OtlpProtobuf {
  constructor() {
    super("otlp-protobuf", LOGS_REQUEST, LOGS);
  }
}

/** Metrics in protobuf, of which sums and gauges become entries. */
export class OtlpMetricsProtobufDecoder extends OtlpProtobuf {
  constructor() {
    super("otlp-metrics-protobuf", METRICS_REQUEST, METRICS);
  }
}

/** Traces in protobuf, of which spans about generative AI become entries. */
export class OtlpTracesProtobufDecoder extends OtlpProtobuf {
  constructor() {
    super("otlp-traces-protobuf", TRACES_REQUEST, SPANS);
  }
}
