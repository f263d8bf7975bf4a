import { isUtf8 } from "node:buffer";
import { JSON_MAX_DEPTH, REQUEST_MAX_RECORDS } from "../../limits.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { isJsonObject, type JsonObject } from "../json-body.ts";
import { mayHoldJson } from "../json-message.ts";
import { JSON_ESCAPED_STRING, JSON_NULL, JSON_OBJECT, JsonTape } from "../json-tape.ts";
import { PLAIN_MAX_BYTES, SHAPE_MEMBERS_MAX } from "../plain-json/limits.ts";
import { PlainRecord } from "../plain-json/plain-record.ts";
import { PlainValues } from "../plain-json/plain-values.ts";
import { FIELD_BITS } from "../plain-json/record-plan.ts";
import { type MemberPath, ShapeTable } from "../plain-json/shape-table.ts";

const MEMBERS = ["time", "host", "source", "event", "fields"] as const;
const NOTHING = -1;

/** Where an envelope has its members, NOTHING for one that it has not; the others are attributes. */
interface EnvelopePlan extends Readonly<Record<(typeof MEMBERS)[number], number>> {
  readonly others: readonly { readonly value: number; readonly name: Uint8Array }[];
}

const encoder = new TextEncoder();
const ENVELOPES = new ShapeTable(false, planEnvelope);
const NAMES = {
  time: encoder.encode("time"),
  host: encoder.encode("host"),
  source: encoder.encode("source"),
};

/** The events of a body that is nothing but objects, written without a JavaScript value of each. */
export class PlainEvents {
  readonly #tape = new JsonTape(JSON_MAX_DEPTH);
  readonly #parsed = new PlainValues(this.#tape);
  readonly #event = new PlainRecord(this.#tape, this.#parsed);
  readonly #fields = new PlainRecord(this.#tape, this.#parsed);
  readonly #members = new Uint32Array(SHAPE_MEMBERS_MAX);
  #objects: number[] = [];

  /** Objects of the body. */
  get count(): number {
    return this.#objects.length;
  }

  /** Takes a body. False for one that has to be read the other way. */
  read(body: Uint8Array): boolean {
    const tape = this.#tape;
    this.#objects = [];
    if (!isUtf8(body)) return false;
    tape.clear();
    tape.use(body);
    for (let at = endOfBlanks(body, 0); at < body.length; at = endOfBlanks(body, tape.endAt)) {
      const object = tape.readValue(at);
      if (object === -1 || tape.kinds[object] !== JSON_OBJECT || tape.endAt - at > PLAIN_MAX_BYTES)
        return false;
      if (this.#objects.push(object) > REQUEST_MAX_RECORDS) return false;
    }
    return this.#objects.length > 0;
  }

  /** Lets go of the body. */
  release(): void {
    this.#tape.release();
    this.#objects = [];
  }

  /** The value of an object. */
  parse(position: number): JsonObject {
    const value = this.#parsed.parse(this.#objects[position] ?? 0);
    if (isJsonObject(value)) return value;
    throw new TypeError("the tape holds no object there");
  }

  /** Writes an event. False, and nothing written, for one that has to be read the other way. */
  write(position: number, writer: RecordWriter): boolean {
    const tape = this.#tape;
    const envelope = ENVELOPES.find(tape, this.#objects[position] ?? 0, this.#members);
    if (envelope === null || envelope.event === NOTHING) return false;
    const event = this.#members[envelope.event] ?? 0;
    const fields = envelope.fields === NOTHING ? NOTHING : (this.#members[envelope.fields] ?? 0);
    const isText = (tape.kinds[event] ?? 0) <= JSON_ESCAPED_STRING;
    if (isText ? !this.#isLine(event) : !this.#isPlainEvent(event)) return false;
    if (fields !== NOTHING && !(tape.kinds[fields] === JSON_OBJECT && this.#fields.read(fields)))
      return false;
    writer.begin();
    let written = this.#writeEnvelope(writer, envelope);
    if (isText) {
      tape.readText(event);
      writer.messageBytes(tape.textBytes, tape.textStart, tape.textEnd);
      written |= FIELD_BITS.message;
    } else written = this.#event.write(writer, written);
    if (fields !== NOTHING) this.#fields.write(writer, written);
    writer.end();
    return true;
  }

  #isPlainEvent(event: number): boolean {
    if (this.#tape.kinds[event] !== JSON_OBJECT || !this.#event.read(event)) return false;
    const { kinds } = this.#tape;
    const isPlain = (line: number): boolean =>
      kinds[line] !== JSON_OBJECT && ((kinds[line] ?? 0) > JSON_ESCAPED_STRING || this.#isNoJson(line));
    return this.#event.lines?.every(isPlain) ?? false;
  }

  /** Whether a text is a message as it stands. */
  #isLine(text: number): boolean {
    return this.#isNoJson(text) && this.#tape.textStart < this.#tape.textEnd;
  }

  #isNoJson(text: number): boolean {
    const tape = this.#tape;
    tape.readText(text);
    return tape.textStart === tape.textEnd || !mayHoldJson(tape.textBytes[tape.textStart] ?? 0);
  }

  #writeEnvelope(writer: RecordWriter, envelope: EnvelopePlan): number {
    const members = this.#members;
    let written = 0;
    if (envelope.time !== NOTHING) {
      const time = members[envelope.time] ?? 0;
      if (this.#event.writeTime(writer, time)) written |= FIELD_BITS.time;
      else this.#writeUnread(writer, "time", time);
    }
    if (envelope.host !== NOTHING) written |= this.#writeName(writer, "host", members[envelope.host] ?? 0);
    if (envelope.source !== NOTHING)
      written |= this.#writeName(writer, "source", members[envelope.source] ?? 0);
    for (const { value, name } of envelope.others)
      this.#event.writeAttribute(writer, name, members[value] ?? 0);
    return written;
  }

  #writeName(writer: RecordWriter, field: "host" | "source", token: number): number {
    const tape = this.#tape;
    if ((tape.kinds[token] ?? 0) <= JSON_ESCAPED_STRING) {
      tape.readText(token);
      if (tape.textStart < tape.textEnd) {
        writer.nameBytes(field, tape.textBytes, tape.textStart, tape.textEnd);
        return FIELD_BITS[field];
      }
    }
    this.#writeUnread(writer, field, token);
    return 0;
  }

  #writeUnread(writer: RecordWriter, field: keyof typeof NAMES, token: number): void {
    if (this.#tape.kinds[token] !== JSON_NULL) this.#event.writeAttribute(writer, NAMES[field], token);
  }
}

function planEnvelope(paths: readonly MemberPath[]): EnvelopePlan {
  const names = paths.map(([name = ""]) => name);
  const isOther = (name: string): boolean => !MEMBERS.some((member) => member === name);
  return {
    time: names.indexOf("time"),
    host: names.indexOf("host"),
    source: names.indexOf("source"),
    event: names.indexOf("event"),
    fields: names.indexOf("fields"),
    others: names.flatMap((name, value) => (isOther(name) ? [{ value, name: encoder.encode(name) }] : [])),
  };
}

function endOfBlanks(source: Uint8Array, from: number): number {
  let at = from;
  for (let c = source[at]; c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09; c = source[at]) at++;
  return at;
}
