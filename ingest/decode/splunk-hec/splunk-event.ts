import { IngestRejectedError } from "../../errors.ts";
import { writeJsonRecord, writeTime } from "../../record/json-record.ts";
import type { RecordField } from "../../record/json-record-keys.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { decodeUtf8, isJsonObject, type JsonObject } from "../json-body.ts";
import { readBodyElements } from "../json-elements.ts";
import { jsonIn } from "../json-message.ts";
import { LINE_MEMBERS } from "../plain-json/record-plan.ts";
import { PlainEvents } from "./plain-events.ts";

/** The members of an event object that are not attributes as they stand. */
const ENVELOPE: ReadonlySet<string> = new Set(["time", "host", "source", "event", "fields"]);

/**
 * Events of Splunk's HTTP Event Collector: JSON objects one after the other, each with the event itself, a text or any
 * value, and what is known about it. Members of an event that is an object, or a text that is one, and `fields`, become fields by the
 * well-known keys of JSON logs and attributes otherwise; what the envelope says wins. An object that is no event is
 * rejected by itself; a body without any event is refused.
 * Source: Splunk documentation, "Format events for HTTP Event Collector".
 */
export class SplunkEvents implements RecordDecoder {
  readonly format = "splunk-hec-event";
  readonly #plain = new PlainEvents();

  decode(body: Uint8Array, writer: RecordWriter): void {
    if (this.#plain.read(body)) this.#writePlain(writer);
    else this.#decodeAny(body, writer);
    this.#plain.release();
  }

  /** Bodies of nothing but objects, as all senders write them. */
  #writePlain(writer: RecordWriter): void {
    const plain = this.#plain;
    let events = 0;
    for (let position = 0; position < plain.count; position++) {
      if (plain.write(position, writer)) {
        events++;
        continue;
      }
      const envelope = plain.parse(position);
      const reason = writeEnvelope(writer, envelope);
      if (reason === null) events++;
      else writer.reject({ place: `/${position}`, reason, raw: JSON.stringify(envelope) });
    }
    if (events === 0) throw noEvent(plain.count);
  }

  #decodeAny(body: Uint8Array, writer: RecordWriter): void {
    let position = 0;
    let events = 0;
    const reject = (raw: string, reason: string): void =>
      writer.reject({ place: `/${position++}`, reason, raw });
    readBodyElements(decodeUtf8(body), {
      object: (envelope) => {
        const reason = writeEnvelope(writer, envelope);
        if (reason !== null) {
          reject(JSON.stringify(envelope), reason);
          return;
        }
        position++;
        events++;
      },
      text: (line) => reject(line, "is no JSON object"),
      broken: reject,
    });
    if (events === 0) throw noEvent(position);
  }
}

function noEvent(rejected: number): IngestRejectedError {
  const message = rejected === 0 ? "the body holds no event" : "the body holds no event that can be read";
  const code = rejected === 0 ? "too_small" : "custom";
  return new IngestRejectedError(message, [{ path: "", code, message }]);
}

/** Makes an entry of an event; answers why not. */
function writeEnvelope(writer: RecordWriter, envelope: JsonObject): string | null {
  const { event = null, fields = {} } = envelope;
  if (event === null) return "the event is missing";
  if (event === "") return "the event is blank";
  if (!isJsonObject(fields)) return "`fields` is no object";
  writeEvent(writer, envelope, event, fields);
  return null;
}

function writeEvent(writer: RecordWriter, envelope: JsonObject, event: unknown, fields: JsonObject): void {
  const { time, host, source } = envelope;
  const given = new Set<RecordField>();
  writer.begin();
  if (writeTime(writer, time)) given.add("time");
  else if (time !== null) writer.attribute("time", time);
  if (typeof host === "string" && host !== "") {
    writer.host(host);
    given.add("host");
  } else if (host !== null) writer.attribute("host", host);
  if (typeof source === "string" && source !== "") {
    writer.source(source);
    given.add("source");
  } else if (source !== null) writer.attribute("source", source);
  for (const [name, value] of Object.entries(envelope))
    if (!ENVELOPE.has(name)) writer.attribute(name, value);
  const object = isJsonObject(event) ? event : typeof event === "string" ? jsonIn(event) : null;
  if (object === null) writer.message(typeof event === "string" ? event : JSON.stringify(event));
  const written = object === null ? given.add("message") : writeEventObject(writer, object, given);
  writeJsonRecord(writer, fields, written);
  writer.end();
}

/**
 * Writes the members of an event. Loggers and Docker put what is logged into a member, an object or a text that is one,
 * which is taken apart as if it were the event.
 */
function writeEventObject(
  writer: RecordWriter,
  event: JsonObject,
  given: ReadonlySet<RecordField>,
): ReadonlySet<RecordField> {
  for (const name of LINE_MEMBERS) {
    const line = event[name];
    const inner = isJsonObject(line) ? line : typeof line === "string" ? jsonIn(line) : null;
    if (inner === null) continue;
    const { [name]: _inner, ...others } = event;
    const written = writeJsonRecord(writer, inner, given);
    return writeJsonRecord(writer, others, written);
  }
  return writeJsonRecord(writer, event, given);
}
