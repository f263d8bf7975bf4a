import { FileProblem } from "../../kql/kept/delimited-rows.ts";
import {
  afterColon,
  afterSpace,
  beginsList,
  beginsNull,
  beginsObject,
  endOfJson,
  firstIn,
  nextIn,
} from "./json-ends.ts";
import { textOf } from "./json-member.ts";

/**
 * A value in the bytes of a JSON text, of which only that is made which somebody asks for: a list of a million takes no more memory
 * than its largest element. Of members with one name the last counts, as `JSON.parse` has it.
 */
export class JsonPart {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;

  private constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  /** Throws FileProblem for what is not JSON. */
  static of(file: Uint8Array): JsonPart {
    const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
    const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    const start = afterSpace(bytes, isMarked ? 3 : 0);
    const end = endOfJson(bytes, start);
    if (end === null || afterSpace(bytes, end) < bytes.byteLength)
      throw new FileProblem("The file is not JSON.");
    return new JsonPart(bytes, start, end);
  }

  get isList(): boolean {
    return beginsList(this.#bytes, this.#start);
  }

  get isNull(): boolean {
    return beginsNull(this.#bytes, this.#start);
  }

  value(): unknown {
    return JSON.parse(this.#bytes.toString("utf8", this.#start, this.#end));
  }

  /** Those of a list; none of anything else. */
  *elements(): Generator<JsonPart, undefined> {
    if (!this.isList) return;
    for (let at = firstIn(this.#bytes, this.#start); at !== null; ) {
      const part = this.#partAt(at);
      yield part;
      at = nextIn(this.#bytes, part.#end);
    }
  }

  /** Undefined for what is no object, or has none of the name. */
  member(name: string): JsonPart | undefined {
    if (!beginsObject(this.#bytes, this.#start)) return undefined;
    let found: JsonPart | undefined;
    for (let at = firstIn(this.#bytes, this.#start); at !== null; ) {
      const key = this.#partAt(at);
      const part = this.#partAt(afterColon(this.#bytes, key.#end));
      if (key.value() === name) found = part;
      at = nextIn(this.#bytes, part.#end);
    }
    return found;
  }

  textMember(name: string): string | undefined {
    const part = this.member(name);
    return part === undefined ? undefined : textOf(part.value());
  }

  #partAt(start: number): JsonPart {
    const end = endOfJson(this.#bytes, start);
    if (end === null) throw new Error("what was JSON is none");
    return new JsonPart(this.#bytes, start, end);
  }
}
