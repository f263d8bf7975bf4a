import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { JsonTape } from "../json-tape.ts";
import { ExportRequest, type Signal } from "./export-request.ts";
import { LOGS } from "./log-record.ts";
import { METRICS } from "./metric.ts";
import { refused } from "./refused.ts";
import { SPANS } from "./span.ts";

/**
 * Nesting of a body. An AnyValue within another takes four levels; beyond a hundred values within one another protobuf
 * implementations give up too.
 */
const MAX_DEPTH = 512;

/**
 * An export request of OTLP in the JSON encoding. Source: OpenTelemetry Protocol specification, "JSON Protobuf Encoding":
 * ids are hexadecimal, 64-bit integers come as numbers or strings, names are in lower camel case, unknown fields are
 * ignored, a null is a field that is not there.
 */
class OtlpJson implements RecordDecoder {
  readonly format: string;
  readonly #tape = new JsonTape(MAX_DEPTH);
  readonly #request: ExportRequest;

  constructor(format: string, signal: Signal) {
    this.format = format;
    this.#request = new ExportRequest(this.#tape, signal);
  }

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

/** Logs in JSON. */
export class OtlpJsonDecoder extends OtlpJson {
  constructor() {
    super("otlp", LOGS);
  }
}

/** Metrics in JSON, of which sums and gauges become entries. */
export class OtlpMetricsJsonDecoder extends OtlpJson {
  constructor() {
    super("otlp-metrics", METRICS);
  }
}

/** Traces in JSON, of which spans about generative AI become entries. */
export class OtlpTracesJsonDecoder extends OtlpJson {
  constructor() {
    super("otlp-traces", SPANS);
  }
}
