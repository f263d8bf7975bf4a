import { gunzipSync } from "node:zlib";
import { IngestRejectedError } from "../../errors.ts";
import { JSON_MAX_DEPTH } from "../../limits.ts";
import { writeJsonRecord, writeTime } from "../../record/json-record.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { isJsonObject, type JsonObject } from "../json-body.ts";
import { jsonIn } from "../json-message.ts";
import { decodeLenient } from "../lenient-text.ts";
import { decodeValue, EventTime, plainValue } from "./message-pack.ts";
import { ValueScanner } from "./value-scanner.ts";

/** Unpacked bytes of the events of one message. */
const EVENTS_MAX_BYTES = 20 * 1024 * 1024;
/** Members of a record that hold a line of text, which may be a JSON object. */
const LINE_MEMBERS = ["log", "message", "msg"];

/**
 * Messages of Fluentd's forward protocol, one after the other, in all its modes: a message is an event, a list of events,
 * or their bytes, packed with gzip or not. An event becomes an entry by the well-known keys of JSON logs, its tag the
 * source. Source: Fluentd, "Forward Protocol Specification v1".
 */
export class ForwardDecoder implements RecordDecoder {
  readonly format = "fluentd-forward";

  decode(body: Uint8Array, writer: RecordWriter): void {
    let count = 0;
    const end = eachValue(body, (value) => {
      const place = `/${count++}`;
      const reason = writeMessage(value, place, writer);
      if (reason !== null) writer.reject({ place, reason, raw: value });
    });
    if (end === body.length && count > 0) return;
    const message =
      count === 0 ? "the body holds no message" : `the message at byte ${end} is cut off or damaged`;
    throw new IngestRejectedError(message, [{ path: "", code: "custom", message }]);
  }
}

/** Visits the bytes of each whole value; answers where the first one begins that is none. */
function eachValue(bytes: Uint8Array, visit: (value: Uint8Array) => void): number {
  const scanner = new ValueScanner();
  let start = 0;
  while (start < bytes.length) {
    scanner.begin(start);
    if (scanner.scan(bytes, bytes.length) !== true) break;
    visit(bytes.subarray(start, scanner.at));
    start = scanner.at;
  }
  return start;
}

/** Writes the events of a message; answers why there are none. */
function writeMessage(bytes: Uint8Array, place: string, writer: RecordWriter): string | null {
  const message = decodedValue(bytes);
  if (!Array.isArray(message)) return "is no message";
  const [tagValue, second, third]: readonly unknown[] = message;
  const tag = textOf(tagValue);
  if (tag === null) return "the tag is no text";
  if (Array.isArray(second)) {
    for (const [index, event] of second.entries()) writeEvent(event, tag, `${place}/${index}`, bytes, writer);
    return null;
  }
  if (typeof second !== "string" && !(second instanceof Uint8Array)) {
    writeEvent([second, third], tag, place, bytes, writer);
    return null;
  }
  const events = unpacked(secondBytes(bytes), third);
  if (events === null) return "the packed events are damaged or too large";
  let index = 0;
  const end = eachValue(events, (event) =>
    writeEvent(decodedValue(event), tag, `${place}/${index++}`, event, writer),
  );
  if (end < events.length)
    writer.reject({
      place: `${place}/${index}`,
      reason: "the event is cut off or damaged",
      raw: events.subarray(end),
    });
  return null;
}

function writeEvent(event: unknown, tag: string, place: string, raw: Uint8Array, writer: RecordWriter): void {
  const [head, record]: readonly unknown[] = Array.isArray(event) ? event : [];
  const plain = plainValue(record, JSON_MAX_DEPTH);
  if (!isJsonObject(plain)) {
    writer.reject({ place, reason: "the event has no record", raw });
    return;
  }
  // Fluent Bit puts the time into a list with its metadata.
  const [time, metadata]: readonly unknown[] = Array.isArray(head) ? head : [head];
  writer.begin();
  writer.source(tag);
  const written = writeRecord(writer, plain);
  if (!written.has("time")) writeEventTime(writer, time);
  const about = plainValue(metadata, JSON_MAX_DEPTH);
  if (isJsonObject(about)) writer.attributes("metadata.", about);
  writer.end();
}

/** Writes a record; a line in it that is a JSON object is taken apart. */
function writeRecord(writer: RecordWriter, record: JsonObject): ReadonlySet<string> {
  for (const name of LINE_MEMBERS) {
    const line = record[name];
    const object = typeof line === "string" ? jsonIn(line) : null;
    if (object === null) continue;
    const { [name]: _line, ...others } = record;
    const written = writeJsonRecord(writer, object, new Set(["source"]));
    return writeJsonRecord(writer, others, written);
  }
  return writeJsonRecord(writer, record, new Set(["source"]));
}

function writeEventTime(writer: RecordWriter, time: unknown): void {
  const isTaken =
    time instanceof EventTime
      ? writer.timeParts(time.seconds, time.nanos)
      : writeTime(writer, plainValue(time, 0));
  if (!isTaken) writer.attribute("time", plainValue(time, 1));
}

/** The value, or undefined for what is none. */
function decodedValue(bytes: Uint8Array): unknown {
  try {
    return decodeValue(bytes);
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | null {
  if (value instanceof Uint8Array) return decodeLenient(value, 0, value.length);
  return typeof value === "string" ? value : null;
}

/** The bytes of the events; null for a pack that is damaged or too large. */
function unpacked(bytes: Uint8Array, option: unknown): Uint8Array | null {
  const isPacked = isJsonObject(option) && option.compressed === "gzip";
  if (!isPacked) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: EVENTS_MAX_BYTES });
  } catch {
    return null;
  }
}

/** The bytes of a message's second element, which old senders write as a text although they are none. */
function secondBytes(message: Uint8Array): Uint8Array {
  const scanner = new ValueScanner();
  scanner.begin((message[0] ?? 0) < 0xa0 ? 1 : message[0] === 0xdc ? 3 : 5);
  scanner.scan(message, message.length);
  const start = scanner.at;
  const kind = message[start] ?? 0;
  scanner.begin(start);
  scanner.scan(message, message.length);
  const head = kind < 0xc0 ? 1 : kind === 0xc4 || kind === 0xd9 ? 2 : kind === 0xc5 || kind === 0xda ? 3 : 5;
  return message.subarray(start + head, scanner.at);
}
