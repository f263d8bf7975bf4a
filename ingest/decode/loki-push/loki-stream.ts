import { IngestRejectedError } from "../../errors.ts";
import type { Level } from "../../log-batch.ts";
import { writeJsonRecord } from "../../record/json-record.ts";
import type { RecordField } from "../../record/json-record-keys.ts";
import { levelOfText } from "../../record/levels.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import type { JsonObject } from "../json-body.ts";
import { jsonIn } from "../json-message.ts";

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
export interface StreamFields {
  /** The labels as JSON. */
  readonly text: string;
  readonly service: string | null;
  readonly host: string | null;
  readonly level: Level | null;
  /** The labels that said no field. */
  readonly attributes: readonly (readonly [string, unknown])[];
  /** The fields that a line's metadata cannot say. */
  readonly given: ReadonlySet<RecordField>;
  /** The fields that a line which is an object cannot say: its own time, level and message win. */
  readonly givenToObjects: ReadonlySet<RecordField>;
}

/** Throws IngestRejectedError when lines repeat more labels than those of one request may. */
export function requireLabelsFit(repeatedUnits: number): void {
  if (repeatedUnits <= REPEATED_LABELS_MAX_UNITS) return;
  const message = "the labels, repeated with every line, make the request too large; send it in parts";
  throw new IngestRejectedError(message, [{ path: "/streams", code: "too_big", message }]);
}

/** Writes a line into the open record, first of all: what it says itself wins. */
export function writeLokiLine(writer: RecordWriter, fields: StreamFields, line: string): void {
  const object = jsonIn(line);
  if (object === null) writer.message(line);
  else writeJsonRecord(writer, object, fields.givenToObjects);
}

/** Writes what the labels and the metadata of a line say. */
export function writeStreamFields(writer: RecordWriter, fields: StreamFields, metadata: JsonObject): void {
  if (fields.service !== null) writer.service(fields.service);
  if (fields.host !== null) writer.host(fields.host);
  if (fields.level !== null) writer.level(fields.level);
  writeJsonRecord(writer, metadata, fields.given);
  for (const [key, text] of fields.attributes) writer.attribute(key, text);
}

/** What the labels of a stream say. */
export function fieldsOf(labels: JsonObject): StreamFields {
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
    givenToObjects: new Set([...given].filter((field) => field === "service" || field === "host")),
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function levelOf(value: unknown): Level | null {
  return typeof value === "string" ? levelOfText(value) : null;
}
