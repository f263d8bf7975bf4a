import { IngestRejectedError } from "../../errors.ts";
import { JSON_MAX_DEPTH } from "../../limits.ts";
import type { Level } from "../../log-batch.ts";
import { writeJsonRecord } from "../../record/json-record.ts";
import type { RecordField } from "../../record/json-record-keys.ts";
import { levelOfText } from "../../record/levels.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { isJsonObject, type JsonObject, numberText, parseJson } from "../json-body.ts";

/** The labels that say a field, the one that says it best first. */
const SERVICE_LABELS = ["service_name", "service", "app", "application", "job", "container"];
const HOST_LABELS = ["host", "hostname", "node", "node_name", "instance"];
const LEVEL_LABELS = ["level", "severity", "detected_level"];

/**
 * UTF-16 units of labels that the lines of one request may repeat all together: a few bytes of a line can stand under
 * megabytes of labels, and every entry has them.
 */
const REPEATED_LABELS_MAX_UNITS = 64 * 1024 * 1024;

/** What the labels of a stream say of each of its lines. */
interface StreamFields {
  /** The labels as JSON. */
  readonly text: string;
  readonly service: string | null;
  readonly host: string | null;
  readonly level: Level | null;
  /** The labels that said no field. */
  readonly attributes: readonly (readonly [string, unknown])[];
  readonly given: ReadonlySet<RecordField>;
}

/**
 * The JSON body of Loki's push request: streams of lines under common labels, each line with its time in nanoseconds and
 * perhaps structured metadata. A line is the message as it stands, whatever it holds; labels and metadata become
 * fields by their well-known names and attributes otherwise. Source: Grafana Loki, "HTTP API: Ingest logs".
 */
export class LokiPush implements RecordDecoder {
  readonly format = "loki-push";

  decode(body: Uint8Array, writer: RecordWriter): void {
    const push = parseJson(body, JSON_MAX_DEPTH);
    const streams = isJsonObject(push) ? push.streams : undefined;
    if (!Array.isArray(streams)) {
      const message = 'the body is no push request such as {"streams":[{"stream":{},"values":[]}]}';
      throw new IngestRejectedError(message, [{ path: "/streams", code: "invalid_type", message }]);
    }
    let repeatedUnits = 0;
    for (const [position, stream] of streams.entries()) {
      const place = `/streams/${position}`;
      const parts = partsOf(stream);
      if (parts === null) {
        const reason = "the stream is no object with labels in `stream` and a list `values`";
        writer.reject({ place, reason, raw: `{"streams":[${JSON.stringify(stream)}]}` });
        continue;
      }
      const fields = fieldsOf(parts.labels);
      repeatedUnits += fields.text.length * parts.values.length;
      if (repeatedUnits > REPEATED_LABELS_MAX_UNITS) throw tooManyLabels();
      writeLines(writer, fields, parts.values, place);
    }
  }
}

interface StreamParts {
  readonly labels: JsonObject;
  readonly values: readonly unknown[];
}

function partsOf(stream: unknown): StreamParts | null {
  if (!isJsonObject(stream)) return null;
  const { stream: labels = {}, values } = stream;
  return isJsonObject(labels) && Array.isArray(values) ? { labels, values } : null;
}

function tooManyLabels(): IngestRejectedError {
  const message = "the labels, repeated with every line, make the request too large; send it in parts";
  return new IngestRejectedError(message, [{ path: "/streams", code: "too_big", message }]);
}

function writeLines(
  writer: RecordWriter,
  fields: StreamFields,
  values: readonly unknown[],
  place: string,
): void {
  for (const [position, value] of values.entries()) {
    const reason = writeLine(writer, fields, value);
    if (reason === null) continue;
    // With its labels a rejected line is a push request of its own.
    const raw = `{"streams":[{"stream":${fields.text},"values":[${JSON.stringify(value)}]}]}`;
    writer.reject({ place: `${place}/values/${position}`, reason, raw });
  }
}

/** Makes an entry of a line; answers why not. */
function writeLine(writer: RecordWriter, fields: StreamFields, value: unknown): string | null {
  if (!Array.isArray(value)) return "is no list of a time and a line";
  const [time, line, metadata = {}]: readonly unknown[] = value;
  const nanos = typeof time === "string" ? time : numberText(time);
  if (nanos === null || !/^\d{1,19}$/.test(nanos)) return "the time is no number of nanoseconds";
  if (typeof line !== "string") return "the line is no text";
  if (!isJsonObject(metadata)) return "the structured metadata is no object";
  writer.begin();
  // A time that the store cannot hold is no reason to lose the line.
  if (!writer.timeUnixNano(nanos)) writer.attribute("timestamp", nanos);
  writer.message(line);
  if (fields.service !== null) writer.service(fields.service);
  if (fields.host !== null) writer.host(fields.host);
  if (fields.level !== null) writer.level(fields.level);
  writeJsonRecord(writer, metadata, fields.given);
  for (const [key, text] of fields.attributes) writer.attribute(key, text);
  writer.end();
  return null;
}

function fieldsOf(labels: JsonObject): StreamFields {
  const service = SERVICE_LABELS.find((label) => isText(labels[label]));
  const host = HOST_LABELS.find((label) => isText(labels[label]));
  const level = LEVEL_LABELS.find((label) => levelOf(labels[label]) !== null);
  const given = new Set<RecordField>(["time", "message"]);
  if (service !== undefined) given.add("service");
  if (host !== undefined) given.add("host");
  if (level !== undefined) given.add("level");
  return {
    text: JSON.stringify(labels),
    service: service === undefined ? null : String(labels[service]),
    host: host === undefined ? null : String(labels[host]),
    level: level === undefined ? null : levelOf(labels[level]),
    attributes: Object.entries(labels).filter(
      ([label]) => label !== service && label !== host && label !== level,
    ),
    given,
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function levelOf(value: unknown): Level | null {
  return typeof value === "string" ? levelOfText(value) : null;
}
