import type { BodyReader } from "../../recognise/body-reader.ts";
import { writeJsonRecord } from "../../record/json-record.ts";
import type { RecordField } from "../../record/json-record-keys.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { isJsonObject, type JsonObject, numberText } from "../json-body.ts";
import { jsonIn } from "../json-message.ts";

/** Before a record's id: what another sender calls its own entries by must not be taken for a repetition. */
const EVENT_ID_PREFIX = "platform-a:";

/**
 * Writes one record of a deployment platform's drain. What the message says of itself, as an object or a line of a log,
 * wins over what the platform says about it, which stays as attributes. Its `id` is the same when the record is sent again, where it is the
 * platform's own record; the project is the service; a record of a request that brought no message is described by its method, path and status. The time,
 * the level, the source (`lambda`, `edge`, `static`, `build`) and the host are well-known keys, and everything else
 * becomes attributes, `proxy` flattened. Source: Vercel, "Log Drains Reference".
 */
export function writeDrainRecord(writer: RecordWriter, record: JsonObject, bodies: BodyReader): void {
  const given = new Set<RecordField>();
  writer.begin();
  const id = textOf(record.id);
  if (id !== null && isDrainRecord(record)) writer.eventId(EVENT_ID_PREFIX + id);
  const project = textOf(record.projectName) ?? textOf(record.projectId);
  if (project !== null) {
    writer.service(project);
    given.add("service");
  }
  const text = textOf(record.message);
  const message = text === null ? requestLine(record) : null;
  if (message !== null) {
    writer.message(message);
    given.add("message");
  }
  if (text !== null && isDrainRecord(record)) writePrinted(writer, record, text, given, bodies);
  else writeJsonRecord(writer, record, given);
  writer.end();
}

/** Writes a record whose message is what a program has printed. */
function writePrinted(
  writer: RecordWriter,
  record: JsonObject,
  text: string,
  given: ReadonlySet<RecordField>,
  bodies: BodyReader,
): void {
  const { message: _message, ...others } = record;
  const object = jsonIn(text);
  const written =
    object === null
      ? bodies.write(text.replace(/\r?\n$/, ""), writer, true)
      : writeJsonRecord(writer, object, given);
  writeJsonRecord(writer, others, new Set([...given, ...written]));
}

/**
 * Whether the platform itself wrote the record. Any other JSON on this path may call an order or a user `id`, which many
 * records share, and would lose all but the first of them.
 */
function isDrainRecord(record: JsonObject): boolean {
  const isOfProject = textOf(record.deploymentId) !== null || textOf(record.projectId) !== null;
  const saysSomething = typeof record.message === "string" || isJsonObject(record.proxy);
  return isOfProject && saysSomething && numberText(record.timestamp) !== null;
}

/** `GET /cart 200` of a record about a request; null for any other. */
function requestLine(record: JsonObject): string | null {
  const proxy = isJsonObject(record.proxy) ? record.proxy : {};
  const method = textOf(proxy.method);
  const path = textOf(proxy.path) ?? textOf(record.path);
  if (method === null || path === null) return null;
  const status = numberText(record.statusCode) ?? numberText(proxy.statusCode);
  return status === null ? `${method} ${path}` : `${method} ${path} ${status}`;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
