import { gunzipSync } from "node:zlib";
import { IngestRejectedError } from "../../errors.ts";
import { JSON_MAX_DEPTH } from "../../limits.ts";
import { BodyReader } from "../../recognise/body-reader.ts";
import { writeJsonRecord, writeTime } from "../../record/json-record.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { isJsonObject, type JsonObject } from "../json-body.ts";
import { jsonIn } from "../json-message.ts";
import { decodeLenient } from "../lenient-text.ts";
import { EventTime, plainValue } from "./message-pack.ts";
import { decodedValue, eachValue, listHead, type MessageParts, partsOf } from "./message-parts.ts";

/** Unpacked bytes of the events of one message. */
const EVENTS_MAX_BYTES = 20 * 1024 * 1024;
/** Arrays of a time and a record, and of a tag besides. */
const EVENT_HEAD = new Uint8Array([0x92]);
const MESSAGE_HEAD = new Uint8Array([0x93]);
/** Members of a record that hold a line of text, which may be a JSON object. */
const LINE_MEMBERS = ["log", "message", "msg"];

/**
 * Messages of Fluentd's forward protocol, one after the other, in all its modes: a message is an event, a list of events,
 * or their bytes, packed with gzip or not. An event becomes an entry by the well-known keys of JSON logs, its tag the
 * source. Source: Fluentd, "Forward Protocol Specification v1".
 */
export class ForwardDecoder implements RecordDecoder {
  readonly format = "fluentd-forward";
  readonly #lines = new BodyReader(Date.now);

  decode(body: Uint8Array, writer: RecordWriter): void {
    let count = 0;
    const end = eachValue(body, (value) => {
      const place = `/${count++}`;
      const reason = writeMessage(value, place, this.#lines, writer);
      if (reason !== null) writer.reject({ place, reason, raw: value });
    });
    if (end === body.length && count > 0) return;
    const message =
      count === 0 ? "the body holds no message" : `the message at byte ${end} is cut off or damaged`;
    throw new IngestRejectedError(message, [{ path: "", code: "custom", message }]);
  }
}

/** Writes the events of a message; answers why there are none. */
function writeMessage(
  bytes: Uint8Array,
  place: string,
  lines: BodyReader,
  writer: RecordWriter,
): string | null {
  const parts = partsOf(bytes);
  if (parts === null) return "is no message";
  const tag = textOf(decodedValue(parts.tag));
  if (tag === null) return "the tag is no text";
  if (parts.form === "single") {
    writeEvent(Buffer.concat([EVENT_HEAD, parts.events]), { tag, place, raw: bytes }, lines, writer);
    return null;
  }
  const events = parts.form === "list" ? parts.events : unpacked(parts);
  if (events === null) return "the packed events are damaged or too large";
  let index = 0;
  const end = eachValue(events, (event) =>
    writeEvent(event, { tag, place: `${place}/${index++}`, raw: asMessage(parts.tag, event) }, lines, writer),
  );
  if (end < events.length)
    writer.reject({
      place: `${place}/${index}`,
      reason: "the event is cut off or damaged",
      raw: events.subarray(end),
    });
  return null;
}

/** An event as a message of its own, so that it can be read again by itself. */
function asMessage(tag: Uint8Array, event: Uint8Array): Uint8Array {
  const head = listHead(event);
  return head === null ? event : Buffer.concat([MESSAGE_HEAD, tag, event.subarray(head)]);
}

/** Which event of a request one is. */
interface EventPlace {
  readonly tag: string;
  readonly place: string;
  /** What is kept of an event that cannot be read. */
  readonly raw: Uint8Array;
}

function writeEvent(
  bytes: Uint8Array,
  { tag, place, raw }: EventPlace,
  lines: BodyReader,
  writer: RecordWriter,
): void {
  const event = decodedValue(bytes);
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
  const written = writeRecord(writer, plain, lines);
  if (!written.has("time")) writeEventTime(writer, time);
  if (!written.has("service")) writeContainer(writer, plain);
  const about = plainValue(metadata, JSON_MAX_DEPTH);
  if (isJsonObject(about)) writer.attributes("metadata.", about);
  writer.end();
}

/**
 * Writes a record; a line in it that is a JSON object is taken apart, and so is a line of text that Docker's driver read from a
 * program.
 */
function writeRecord(writer: RecordWriter, record: JsonObject, lines: BodyReader): ReadonlySet<string> {
  for (const name of LINE_MEMBERS) {
    const line = record[name];
    const object = typeof line === "string" ? jsonIn(line) : null;
    if (object === null) continue;
    const { [name]: _line, ...others } = record;
    const written = writeJsonRecord(writer, object, new Set(["source"]));
    return writeJsonRecord(writer, others, written);
  }
  const { log, ...others } = record;
  if (typeof log === "string" && typeof record.container_id === "string") {
    const written = lines.write(log, writer, true);
    return writeJsonRecord(writer, others, new Set([...written, "source"]));
  }
  return writeJsonRecord(writer, record, new Set(["source"]));
}

/** Docker's driver names the container as its daemon does, with a slash in front. */
function writeContainer(writer: RecordWriter, { container_name: name }: JsonObject): void {
  if (typeof name === "string") writer.service(name.replace(/^\//, ""));
}

function writeEventTime(writer: RecordWriter, time: unknown): void {
  const isTaken =
    time instanceof EventTime
      ? writer.timeParts(time.seconds, time.nanos)
      : writeTime(writer, plainValue(time, 0));
  if (!isTaken) writer.attribute("time", plainValue(time, 1));
}

function textOf(value: unknown): string | null {
  if (value instanceof Uint8Array) return decodeLenient(value, 0, value.length);
  return typeof value === "string" ? value : null;
}

/** The bytes of the events; null for a pack that is damaged or too large. */
function unpacked({ events, option }: MessageParts): Uint8Array | null {
  const value = option === null ? undefined : decodedValue(option);
  if (!isJsonObject(value) || value.compressed !== "gzip") return events;
  try {
    return gunzipSync(events, { maxOutputLength: EVENTS_MAX_BYTES });
  } catch {
    return null;
  }
}
