import { isJsonObject, type JsonObject } from "../decode/json-body.ts";
import { writeJsonRecord } from "../record/json-record.ts";
import type { RecordField } from "../record/json-record-keys.ts";
import { levelOfText } from "../record/levels.ts";
import type { RecordFields } from "../record/record-fields.ts";
import type { RecordWriter } from "../record/record-writer.ts";
import { compileField, compilePaths, type ReadField } from "./field-value.ts";
import {
  type EntryField,
  entryFieldOf,
  type FieldMapping,
  type Mapping,
  type TimestampMapping,
} from "./mapping.ts";
import { Places } from "./places.ts";
import { compileTemplate } from "./template.ts";
import { type ReadTime, readTimestamp } from "./timestamp-forms.ts";
import { scalarText, textOf } from "./value-text.ts";

/**
 * Writes one record, from `begin` to `end`, and answers null; or answers why it cannot, in words for people, and writes
 * nothing. Used for one record at a time.
 */
export type CompiledMapping = (record: JsonObject, writer: WholeRecords) => string | null;

/** Takes records, each from `begin` to `end`. */
export type WholeRecords = RecordFields & Pick<RecordWriter, "begin" | "end">;

/** Writes what the mapping does not name into the open record: fields of the entry that are not given, and attributes. */
type WriteUnnamed = (writer: RecordFields, rest: JsonObject, given: ReadonlySet<RecordField>) => void;

type WriteField = (record: JsonObject, writer: RecordFields) => void;
/** A reason when the record cannot be mapped. */
type Problem = { readonly problem: string };

/**
 * Compiles a mapping once, so that nothing of it is interpreted per record. What the mapping does not name is left to
 * `writeUnnamed`, which finds it by the well-known keys of JSON logs and makes everything that was not used attributes;
 * not where `keepUnmapped` is false. The mapping must be one that `mappingIssues` has nothing against.
 */
export function compileMapping(
  mapping: Mapping,
  writeUnnamed: WriteUnnamed = writeJsonRecord,
): CompiledMapping {
  const places = new Places();
  const readTime = compileTime(mapping.timestamp, places);
  const readMessage = compileMessage(mapping, places);
  const writers: WriteField[] = [];
  const given = new Set<RecordField>(mapping.timestamp === undefined ? [] : ["time"]);
  for (const [name, field] of Object.entries(mapping.fields ?? {})) {
    const entryField = entryFieldOf(name);
    if (entryField !== null && entryField !== "eventId") given.add(entryField);
    if (name === "logger") given.add("logger");
    if (entryField !== "message") writers.push(compileWriter(name, entryField, field, places));
  }
  const givenWithMessage = new Set<RecordField>([...given, "message"]);
  const writeRest =
    mapping.keepUnmapped === false
      ? (record: JsonObject, writer: RecordFields, hasMessage: boolean) => {
          if (!hasMessage) writer.message(JSON.stringify(record));
        }
      : (record: JsonObject, writer: RecordFields, hasMessage: boolean) =>
          writeUnnamed(writer, places.rest(record), hasMessage ? givenWithMessage : given);
  return (record, writer) => {
    places.reset();
    const time = readTime(record);
    if (isProblem(time)) return time.problem;
    const message = readMessage(record);
    if (isProblem(message)) return message.problem;
    writer.begin();
    if (time !== null) time(writer);
    if (message !== null) writer.message(message);
    for (const write of writers) write(record, writer);
    writeRest(record, writer, message !== null);
    writer.end();
    return null;
  };
}

function compileTime(
  mapping: TimestampMapping | undefined,
  places: Places,
): (record: JsonObject) => ReadTime | Problem | null {
  if (mapping === undefined) return () => null;
  const parse = mapping.parse ?? "auto";
  const read = compilePaths(mapping, places, isText);
  // The value is not in it, so that records with the same fault can be found together.
  const problem = { problem: `what stands at ${pathsOf(mapping)} cannot be read as a time (${parse})` };
  return (record) => {
    const found = read(record);
    if (found === null) return null;
    const time = readTimestamp(found.value, parse);
    if (time === null) return problem;
    found.place.use();
    return time;
  };
}

/** Null where the mapping gives no message and leaves it to the well-known keys. */
function compileMessage(mapping: Mapping, places: Places): (record: JsonObject) => string | Problem | null {
  const field = Object.entries(mapping.fields ?? {}).find(([name]) => entryFieldOf(name) === "message")?.[1];
  const { messageTemplate } = mapping;
  const readTemplate = messageTemplate === undefined ? () => null : compileTemplate(messageTemplate, places);
  if (field === undefined) return readTemplate;
  const readField = compileField(field, places, isText);
  const problem = { problem: `there is no message at ${pathsOf(field)}` };
  return (record) => {
    const { value, use } = readField(record);
    if (value === undefined) return readTemplate(record) ?? problem;
    use();
    return textOf(value);
  };
}

function compileWriter(
  name: string,
  entryField: EntryField | null,
  mapping: FieldMapping,
  places: Places,
): WriteField {
  const read = compileField(mapping, places, entryField === null ? isValue : isText);
  switch (entryField) {
    case null:
      return (record, writer) => {
        const { value, use } = read(record);
        if (value === undefined) return;
        use();
        if (isJsonObject(value) && Object.keys(value).length > 0) writer.attributes(`${name}.`, value);
        else writer.attribute(name, value);
      };
    case "level":
      return compileLevel(read, mapping);
    case "traceId":
      return writeIdWith(read, TRACE_ID, (writer, id) => writer.traceId(id));
    case "spanId":
      return writeIdWith(read, SPAN_ID, (writer, id) => writer.spanId(id));
    case "message":
      throw new Error("the message is written before the other fields");
    default:
      return (record, writer) => {
        const { value, use } = read(record);
        if (value === undefined) return;
        use();
        writer[entryField](textOf(value));
      };
  }
}

/** A level that nobody knows stays among what remains, and the default, if there is one, is the level. */
function compileLevel(read: ReadField, mapping: FieldMapping): WriteField {
  const otherwise = levelOfText(String(mapping.default ?? ""));
  return (record, writer) => {
    const { value, use } = read(record);
    const level = levelOfText(scalarText(value) ?? "");
    if (level !== null) use();
    const written = level ?? otherwise;
    if (written !== null) writer.level(written);
  };
}

const TRACE_ID = /^(?:[0-9a-f]{16}|[0-9a-f]{32})$/;
const SPAN_ID = /^[0-9a-f]{16}$/;
/** The form that X-Ray gives a trace id: a version, seconds and the rest. Source: AWS X-Ray, "Tracing header". */
const VERSIONED_TRACE = /^1-(?=[0-9a-f]{8}-[0-9a-f]{24}$)/;

/** An id that is no hexadecimal one, UUIDs and X-Ray's form included, stays among what remains. */
function writeIdWith(
  read: ReadField,
  form: RegExp,
  write: (writer: RecordFields, id: string) => void,
): WriteField {
  return (record, writer) => {
    const { value, use } = read(record);
    const id =
      typeof value === "string" ? value.toLowerCase().replace(VERSIONED_TRACE, "").replaceAll("-", "") : "";
    if (!form.test(id)) return;
    use();
    write(writer, id);
  };
}

function isValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A field of the entry cannot be told from one that is not there when it is empty. */
function isText(value: unknown): boolean {
  return isValue(value) && value !== "";
}

function isProblem(outcome: string | ReadTime | Problem | null): outcome is Problem {
  return typeof outcome === "object" && outcome !== null;
}

function pathsOf({ from, fromDefault }: Pick<FieldMapping, "from" | "fromDefault">): string {
  return [from, fromDefault].flatMap((path) => (path === undefined ? [] : [`\`${path}\``])).join(" or ");
}
