import { isUtf8 } from "node:buffer";
import { BodyReader } from "../../recognise/body-reader.ts";
import { writeJsonRecord } from "../../record/json-record.ts";
import type { RecordField } from "../../record/json-record-keys.ts";
import { levelOfSyslogSeverity } from "../../record/levels.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { findCef } from "../cef/cef-header.ts";
import { CefMessage } from "../cef/cef-message.ts";
import type { JsonObject } from "../json-body.ts";
import { jsonIn } from "../json-message.ts";
import { decodeLenient } from "../lenient-text.ts";
import { parsePrefix, parseSyslog } from "./parse-syslog.ts";
import type { Rfc5424Form } from "./rfc5424.ts";
import { writeSyslogHeader } from "./write-header.ts";

/** Where a message came from. */
export interface SyslogOrigin {
  /** The sender's address: the host of a message that names none. */
  readonly peer: string | null;
  readonly form: Rfc5424Form;
  /** What the transport says about the message; its own attributes win. */
  readonly attributes?: JsonObject;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const NUL = 0x00;

const encoder = new TextEncoder();

/**
 * Writes messages of syslog as records. RFC 5424, RFC 3164 and what resembles it are taken apart, CEF and JSON objects
 * in the message too; nothing is rejected, and what is not recognised is the message.
 */
export class SyslogRecords {
  readonly #cef = new CefMessage();
  readonly #now: () => number;
  readonly #bodies: BodyReader;

  constructor(options: { now: () => number }) {
    this.#now = options.now;
    this.#bodies = new BodyReader(options.now);
  }

  /**
   * Writes one message as one record, `begin` and `end` included. Of a JSON object its own time, level and message
   * win, and the header's host and program. Bytes that are not UTF-8 become the characters that Latin-1 has for them.
   */
  write(frame: Uint8Array, writer: RecordWriter, origin: SyslogOrigin): void {
    const message = withoutTrailer(frame);
    const nowMs = this.#now();
    writer.begin();
    const cefAt = findCef(message, 0, message.length);
    if (cefAt === -1 || !this.#writeCef(message, cefAt, writer, origin, nowMs))
      this.#writeMessage(decodeLenient(message, 0, message.length), writer, origin, nowMs);
    if (origin.attributes !== undefined) writer.attributes("", origin.attributes);
    writer.end();
  }

  #writeMessage(text: string, writer: RecordWriter, { peer, form }: SyslogOrigin, nowMs: number): void {
    const parsed = parseSyslog(text, form, nowMs);
    if (parsed.hostname !== null) writer.host(parsed.hostname);
    writeSyslogHeader(writer, parsed);
    const object = jsonIn(parsed.message);
    // What else a program says is taken apart where it is certain what it is: pairs, requests, a level in front.
    if (object === null) this.#bodies.write(parsed.message, writer, parsed.time !== null);
    else {
      const given = new Set<RecordField>();
      if (parsed.hostname !== null) given.add("host");
      if (parsed.appName !== null) given.add("service");
      writeJsonRecord(writer, object, given);
    }
    // Where a message came from says less than the message.
    if (peer !== null) writer.host(peer);
    const level = parsed.severity === null ? null : levelOfSyslogSeverity(parsed.severity);
    if (level !== null) writer.level(level);
    if (parsed.time !== null) writer.timeParts(parsed.time.seconds, parsed.time.nanos);
  }

  /** False, and nothing written, when there is no whole CEF header. */
  #writeCef(
    message: Uint8Array,
    cefAt: number,
    writer: RecordWriter,
    { peer, form }: SyslogOrigin,
    nowMs: number,
  ): boolean {
    const cef = message.subarray(cefAt);
    const text = isUtf8(cef) ? cef : encoder.encode(decodeLenient(cef, 0, cef.length));
    if (this.#cef.read(text, 0) !== null) return false;
    const prefix = cefAt === 0 ? null : parsePrefix(decodeLenient(message, 0, cefAt), form, nowMs);
    this.#cef.write(writer, { prefix, peer, nowMs });
    return true;
  }
}

/** Without the line ends and the NUL that some senders put behind a message. */
function withoutTrailer(frame: Uint8Array): Uint8Array {
  let end = frame.length;
  while (end > 0 && isTrailer(frame[end - 1])) end--;
  return end === frame.length ? frame : frame.subarray(0, end);
}

function isTrailer(byte: number | undefined): boolean {
  return byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === NUL;
}
