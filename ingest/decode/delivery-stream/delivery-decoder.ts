import { BodyReader } from "../../recognise/body-reader.ts";
import { writeJsonRecord, writeTime } from "../../record/json-record.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { decodeUtf8, type JsonObject } from "../json-body.ts";
import { readTextElements } from "../json-elements.ts";
import { asSubscription, writeSubscription } from "./cloud-watch.ts";

/** Records of a delivery, unpacked: few objects, however many there are, to be handed over to another thread. */
export interface UnpackedRecords {
  /** Where each is in the request. */
  readonly positions: Uint32Array<ArrayBuffer>;
  /** How many lines of it are in bodies before this one. */
  readonly lines: Uint32Array<ArrayBuffer>;
  /** Where its bytes end in the body; they begin where those of the record before end. */
  readonly ends: Uint32Array<ArrayBuffer>;
  /** Which of the `reasons`, from 1 on, it could not be unpacked for; its bytes are then what came instead. */
  readonly problems: Uint8Array<ArrayBuffer>;
  readonly reasons: readonly string[];
}

/** What a record is called to the sender: a JSON pointer into the request, and where in the record that is. */
export function placeOfRecord({ positions, lines }: UnpackedRecords, index: number): string {
  const pointer = `/records/${positions[index] ?? 0}`;
  const before = lines[index] ?? 0;
  return before === 0 ? pointer : `${pointer} behind line ${before}`;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Keys by which the data sets of a content delivery network name the time of a record, the best first; those that any
 * logger uses are not among them. Source: Cloudflare, "Logpush datasets".
 */
const EDGE_TIMES = ["EdgeStartTimestamp", "EventTimestampMs", "SessionStartTime", "CreatedAt", "When"];

/**
 * The unpacked records of a delivery. Each holds JSON objects, one after the other, on lines or in an array, lines of
 * text, or the events of a log group. `attributes` are those of the whole delivery; a record's own come first.
 */
export class DeliveryDecoder implements RecordDecoder {
  readonly format = "stream-a";
  readonly #records: UnpackedRecords | null;
  readonly #attributes: JsonObject;
  readonly #bodies: BodyReader;

  /** Without `records` a body is one record by itself, as it is without an envelope and in the quarantine. */
  constructor(
    records: UnpackedRecords | null = null,
    attributes: JsonObject = {},
    now: () => number = Date.now,
  ) {
    this.#records = records;
    this.#attributes = attributes;
    this.#bodies = new BodyReader(now);
  }

  /** `body` is the data of all records, one behind the other. */
  decode(body: Uint8Array, writer: RecordWriter): void {
    if (this.#records === null) {
      this.#decodeText(decodeUtf8(body), "", writer);
      return;
    }
    const { ends, problems, reasons } = this.#records;
    let start = 0;
    for (let i = 0; i < ends.length; i++) {
      const end = ends[i] ?? start;
      const place = placeOfRecord(this.#records, i);
      const problem = reasons[(problems[i] ?? 0) - 1];
      const data = body.subarray(start, end);
      start = end;
      const text = problem === undefined ? textOf(data) : null;
      if (text === null) writer.reject({ place, reason: problem ?? "is not UTF-8", raw: data });
      else this.#decodeText(text, place, writer);
    }
  }

  #decodeText(text: string, recordPlace: string, writer: RecordWriter): void {
    const attributes = this.#attributes;
    const placeOf = (place: string): string => `${recordPlace} ${place}`.trimStart();
    readTextElements(text, {
      object: (object, place) => {
        const subscription = asSubscription(object);
        if (subscription !== null)
          writeSubscription(writer, subscription, { attributes, bodies: this.#bodies }, placeOf(place));
        else writeObject(writer, object, attributes);
      },
      text: (line) => {
        writer.begin();
        this.#bodies.write(line, writer, false);
        writer.attributes("", attributes);
        writer.end();
      },
      broken: (raw, reason, place) => writer.reject({ place: placeOf(place), reason, raw }),
    });
  }
}

function writeObject(writer: RecordWriter, object: JsonObject, attributes: JsonObject): void {
  writer.begin();
  writeJsonRecord(writer, object);
  // Of several times the first stays: these count where no well-known key says it.
  EDGE_TIMES.some((key) => writeTime(writer, object[key]));
  writer.attributes("", attributes);
  writer.end();
}

/** The text of a record; null when it is not UTF-8. */
function textOf(data: Uint8Array): string | null {
  try {
    return utf8.decode(data);
  } catch {
    return null;
  }
}
