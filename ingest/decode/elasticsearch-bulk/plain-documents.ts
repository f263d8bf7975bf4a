import { isUtf8 } from "node:buffer";
import { JSON_MAX_DEPTH } from "../../limits.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { JSON_OBJECT, JsonTape } from "../json-tape.ts";
import { PLAIN_MAX_BYTES } from "../plain-json/limits.ts";
import { PlainRecord } from "../plain-json/plain-record.ts";
import { PlainValues } from "../plain-json/plain-values.ts";
import { FIELD_BITS } from "../plain-json/record-plan.ts";
import { beginIndexed, type DocumentPlace, datasetOf } from "./indexed-document.ts";

/** Documents of a body that are written without a JavaScript value of each. */
export class PlainDocuments {
  readonly #tape = new JsonTape(JSON_MAX_DEPTH);
  readonly #record = new PlainRecord(this.#tape, new PlainValues(this.#tape));
  #isReadable = false;
  #bodyStart = 0;

  use(body: Uint8Array): void {
    this.#isReadable = isUtf8(body);
    this.#bodyStart = body.byteOffset;
    this.#tape.use(body);
  }

  /** Writes the document of a line of the body. False, and nothing written, for one that has to be read the other way. */
  write(writer: RecordWriter, place: DocumentPlace, line: Uint8Array): boolean {
    if (!this.#isReadable || line.length > PLAIN_MAX_BYTES) return false;
    const tape = this.#tape;
    const start = line.byteOffset - this.#bodyStart;
    tape.clear();
    const document = tape.readValue(start);
    if (document === -1 || tape.kinds[document] !== JSON_OBJECT) return false;
    if (!isBlank(line, tape.endAt - start) || !this.#record.read(document)) return false;
    beginIndexed(writer, place);
    const written = this.#record.write(writer, FIELD_BITS.source);
    if ((written & FIELD_BITS.service) === 0) writer.service(datasetOf(place.index));
    writer.end();
    return true;
  }
}

/** Whether a line ends at `from` but for white space: a value that ends beyond it is none of this line. */
function isBlank(line: Uint8Array, from: number): boolean {
  if (from > line.length) return false;
  for (let at = from; at < line.length; at++) {
    const c = line[at];
    if (c !== 0x20 && c !== 0x09 && c !== 0x0d) return false;
  }
  return true;
}
