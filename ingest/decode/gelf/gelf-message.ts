import type { Level } from "../../log-batch.ts";
import type { BodyReader } from "../../recognise/body-reader.ts";
import { writeJsonRecord, writeTime } from "../../record/json-record.ts";
import type { RecordField } from "../../record/json-record-keys.ts";
import { levelOfSyslogSeverity, levelOfText } from "../../record/levels.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { type JsonObject, numberText } from "../json-body.ts";
import { jsonIn } from "../json-message.ts";

/** What the specification names itself, apart from the additional fields, which begin with an underscore. */
const OWN = new Set(["version", "host", "short_message", "full_message", "timestamp", "level"]);

/**
 * Writes a message of the Graylog Extended Log Format as one record, `begin` and `end` included. Additional fields lose
 * their underscore and become fields by the well-known keys of JSON logs and attributes otherwise; a short message that
 * is a JSON object is taken apart, and so is a line of text that Docker's driver read from a program: the level it sends says
 * only from which of two streams. Source: GELF 1.1.
 */
export function writeGelf(writer: RecordWriter, message: JsonObject, lines: BodyReader): void {
  const { host, timestamp, level, version } = message;
  const [text, full] = textsOf(message);
  const object = jsonIn(text);
  writer.begin();
  const given = new Set<RecordField>(["message"]);
  if (object !== null)
    for (const field of writeJsonRecord(writer, object, hasText(host) ? new Set(["host"]) : undefined))
      given.add(field);
  else if (hasText(message._container_id))
    for (const field of lines.write(text, writer, true)) given.add(field);
  else writer.message(text);
  if (writeTime(writer, timestamp)) given.add("time");
  else writer.attribute("timestamp", timestamp);
  if (hasText(host)) {
    writer.host(host);
    given.add("host");
  }
  const severity = levelOf(level);
  if (severity !== null) {
    writer.level(severity);
    given.add("level");
  } else writer.attribute("level", level);
  const written = writeJsonRecord(writer, additionalFields(message), given);
  if (!written.has("service")) writeContainer(writer, message);
  // Loggers end the whole text as a line.
  if (full !== "" && full.trimEnd() !== text.trimEnd()) writer.attribute("full_message", full);
  if (version !== "1.1" && version !== "1.0") writer.attribute("version", version);
  writer.end();
}

/** What can be shown in a line, and the whole text. */
function textsOf({ short_message: short, full_message: full }: JsonObject): [string, string] {
  const whole = hasText(full) ? full : "";
  return [hasText(short) ? short : (numberText(short) ?? whole), whole];
}

/** A severity of syslog, as a number or a text, or a word. */
function levelOf(level: unknown): Level | null {
  const digits = numberText(level) ?? (typeof level === "string" ? level.trim() : "");
  if (/^\d$/.test(digits)) return levelOfSyslogSeverity(Number(digits));
  return typeof level === "string" ? levelOfText(level) : null;
}

function additionalFields(message: JsonObject): JsonObject {
  const fields = Object.entries(message).filter(([name]) => !OWN.has(name));
  return Object.fromEntries(
    fields.map(([name, value]) => [name.startsWith("_") ? name.slice(1) : name, value]),
  );
}

/** Docker's driver names the container. */
function writeContainer(writer: RecordWriter, { _container_name: name }: JsonObject): void {
  if (hasText(name)) writer.service(name);
}

function hasText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
