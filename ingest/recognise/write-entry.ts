import type { RecordField } from "../record/json-record-keys.ts";
import type { RecordFields } from "../record/record-fields.ts";
import type { RecognisedEntry } from "./entry-joiner.ts";

const NOTHING: ReadonlySet<RecordField> = new Set();

/** Writes what was recognised into the record that is open, but for the fields that are given and the attributes. */
export function writeRecognised(
  writer: RecordFields,
  entry: Omit<RecognisedEntry, "form" | "start" | "end" | "goesOn" | "attributes">,
  given: ReadonlySet<RecordField> = NOTHING,
): void {
  const { time, level, service, source, host, traceId, spanId, eventId, message } = entry;
  if (!given.has("message")) writer.message(message);
  if (time !== null && !given.has("time")) writer.timeParts(time.seconds, time.nanos);
  if (level !== null && !given.has("level")) writer.level(level);
  if (service !== null && !given.has("service")) writer.service(service);
  if (source !== null && !given.has("source")) writer.source(source);
  if (host !== null && !given.has("host")) writer.host(host);
  if (traceId !== null && !given.has("traceId")) writer.traceId(traceId);
  if (spanId !== null && !given.has("spanId")) writer.spanId(spanId);
  if (eventId !== null) writer.eventId(eventId);
}
