import { MESSAGE_MAX_CHARS } from "../../limits.ts";
import { RecordWriter } from "../../record/record-writer.ts";
import type { JsonTape } from "../json-tape.ts";
import { type AnyValues, KEY_VALUES, NOTHING, PLAIN, TEXT } from "./any-values.ts";
import type { AttributeOutput } from "./attribute-output.ts";
import { FieldNames } from "./field-names.ts";

/** Under what name a body's members are kept. */
const BODY = new TextEncoder().encode("body");
/** Members of a structured body that are its message, the best first. */
const MESSAGE_MEMBERS = new FieldNames(["message", "msg"]);

/** Writes the bodies of LogRecords: the message, and as attributes what of a structured one the message does not say. */
export class LogBody {
  readonly #tape: JsonTape;
  readonly #values: AnyValues;
  readonly #output: AttributeOutput;
  #writer = new RecordWriter();

  constructor(values: AnyValues, output: AttributeOutput) {
    this.#tape = values.tape;
    this.#values = values;
    this.#output = output;
  }

  open(writer: RecordWriter): void {
    this.#writer = writer;
  }

  /** Writes the body at a token, which was found valid; one that says nothing is replaced by the event's name. 0 for none. */
  write(body: number, eventName: number): void {
    const values = this.#values;
    const tape = this.#tape;
    values.read(body);
    const { kind, token } = values;
    if (kind === TEXT) {
      tape.readText(token);
      if (tape.textEnd > tape.textStart)
        this.#writer.messageBytes(tape.textBytes, tape.textStart, tape.textEnd);
      else this.#writeMessage(eventName);
    } else if (kind === PLAIN) this.#writeMessage(token);
    else if (kind === NOTHING) this.#writeMessage(eventName);
    else this.#writeStructured(kind, token);
  }

  #writeStructured(kind: number, list: number): void {
    const member = kind === KEY_VALUES ? this.#messageMember(list) : 0;
    if (member !== 0) {
      const size = this.#writeMessage(member);
      this.#output.writeMembers(BODY, list, size <= MESSAGE_MAX_CHARS ? member : 0);
      return;
    }
    const json = this.#output.jsonOf(kind, list);
    this.#writer.messageBytes(json.bytes, 0, json.length);
    if (kind === KEY_VALUES) this.#output.writeMembers(BODY, list, 0);
    else if (json.length > MESSAGE_MAX_CHARS) this.#output.write(BODY, kind, list);
  }

  /** The text of a structured body that is its message, 0 for none. */
  #messageMember(list: number): number {
    if (list === 0) return 0;
    const tape = this.#tape;
    const values = this.#values;
    let found = 0;
    let foundRank = MESSAGE_MEMBERS.count;
    const end = tape.ends[list] ?? 0;
    for (let item = list + 1; item < end; item = tape.next(item)) {
      const name = values.readKeyValue(item);
      if (values.kind !== TEXT || tape.starts[values.token] === tape.ends[values.token]) continue;
      const { token } = values;
      const rank = name === 0 ? -1 : MESSAGE_MEMBERS.find(tape, name);
      if (rank < 0 || rank >= foundRank) continue;
      found = token;
      foundRank = rank;
    }
    return found;
  }

  /** Makes a plain value, 0 for none, the message and answers its bytes. */
  #writeMessage(token: number): number {
    if (token === 0) return 0;
    const tape = this.#tape;
    tape.readText(token);
    this.#writer.messageBytes(tape.textBytes, tape.textStart, tape.textEnd);
    return tape.textEnd - tape.textStart;
  }
}
