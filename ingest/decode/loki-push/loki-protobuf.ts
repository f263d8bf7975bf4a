import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import type { JsonObject } from "../json-body.ts";
import { decodeLenient } from "../lenient-text.ts";
import { LENGTH, ProtobufReader, unsignedOf, VARINT } from "../protobuf-reader.ts";
import { unpackSnappy } from "../snappy.ts";
import { parseLabels } from "./label-text.ts";
import {
  fieldsOf,
  requireLabelsFit,
  type StreamFields,
  writeLokiLine,
  writeStreamFields,
} from "./loki-stream.ts";

/** The numbers of the fields. */
const STREAMS = 1;
const LABELS = 1;
const ENTRIES = 2;
const TIMESTAMP = 1;
const LINE = 2;
const METADATA = 3;
const SECONDS = 1;
const NANOS = 2;
const NAME = 1;
const VALUE = 2;

const NO_METADATA: JsonObject = {};

/**
 * The protobuf body of Loki's push request, a Snappy block: what Promtail, Alloy and most clients send. It becomes what the
 * JSON body becomes; labels that cannot be read are an attribute as they stand. Source: Grafana Loki, pkg/push/push.proto.
 */
export class LokiProtobuf implements RecordDecoder {
  readonly format = "loki-protobuf";
  readonly #reader = new ProtobufReader();
  #repeatedUnits = 0;

  decode(body: Uint8Array, writer: RecordWriter): void {
    const reader = this.#reader;
    const push = unpackSnappy(body);
    this.#repeatedUnits = 0;
    reader.open(push);
    try {
      while (reader.next(push.length)) {
        if (reader.field !== STREAMS) continue;
        reader.expect(LENGTH);
        const { stop } = reader;
        this.#writeStream(reader.start, stop, writer);
        reader.at = stop;
      }
    } finally {
      reader.release();
    }
  }

  #writeStream(start: number, end: number, writer: RecordWriter): void {
    const reader = this.#reader;
    const labels = this.#text(LABELS, start, end);
    const fields = fieldsOf(parseLabels(labels) ?? { labels });
    reader.at = start;
    while (reader.next(end)) {
      if (reader.field !== ENTRIES) continue;
      reader.expect(LENGTH);
      const { stop } = reader;
      this.#repeatedUnits += fields.text.length;
      requireLabelsFit(this.#repeatedUnits);
      this.#writeEntry(reader.start, stop, fields, writer);
      reader.at = stop;
    }
  }

  #writeEntry(start: number, end: number, fields: StreamFields, writer: RecordWriter): void {
    const reader = this.#reader;
    let seconds = 0;
    let nanos = 0;
    let line = "";
    const metadata = new Map<string, string>();
    reader.at = start;
    while (reader.next(end)) {
      const { field, at } = reader;
      if (field === LINE) {
        reader.expect(LENGTH);
        line = decodeLenient(reader.source, reader.start, reader.stop);
      } else if (field === TIMESTAMP) {
        reader.expect(LENGTH);
        const from = reader.start;
        seconds = this.#number(SECONDS, from, at);
        nanos = this.#number(NANOS, from, at);
      } else if (field === METADATA) {
        reader.expect(LENGTH);
        const from = reader.start;
        metadata.set(this.#text(NAME, from, at), this.#text(VALUE, from, at));
      }
      reader.at = at;
    }
    writer.begin();
    writeLokiLine(writer, fields, line);
    // A time that the store cannot hold is no reason to lose the line.
    if (!writer.timeParts(seconds, nanos)) writer.attribute("timestamp", `${seconds}.${nanos}`);
    writeStreamFields(writer, fields, metadata.size === 0 ? NO_METADATA : Object.fromEntries(metadata));
    writer.end();
  }

  /** The text in a field of a message, the last of several; empty without one. */
  #text(number: number, start: number, end: number): string {
    const reader = this.#reader;
    let text = "";
    reader.at = start;
    while (reader.next(end)) {
      if (reader.field !== number) continue;
      reader.expect(LENGTH);
      text = decodeLenient(reader.source, reader.start, reader.stop);
    }
    return text;
  }

  /** The number in a field of a message, as `#text`. */
  #number(number: number, start: number, end: number): number {
    const reader = this.#reader;
    let found = 0;
    reader.at = start;
    while (reader.next(end)) {
      if (reader.field !== number) continue;
      reader.expect(VARINT);
      found = unsignedOf(reader.low, reader.high);
    }
    return found;
  }
}
