import { BodyReader } from "../../recognise/body-reader.ts";
import { writeJsonRecord, writeTime } from "../../record/json-record.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { decodeUtf8, type JsonObject } from "../json-body.ts";
import { readTextElements } from "../json-elements.ts";
import { asSubscription, writeSubscription } from "./cloud-watch.ts";

/** A record of a delivery, unpacked. */
export interface UnpackedRecord {
  /** A JSON pointer into the request. */
  readonly place: string;
  /** Where its bytes end in the body; they begin where those of the record before end. */
  readonly end: number;
  /** Why it could not be unpacked; its bytes are then what came instead. */
  readonly problem: string | null;
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
  readonly #records: readonly UnpackedRecord[] | null;
  readonly #attributes: JsonObject;
  readonly #bodies: BodyReader;

  /** Without `records` a body is one record by itself, as it is without an envelope and in the quarantine. */
  constructor(
    records: readonly UnpackedRecord[] | null = null,
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
    let start = 0;
    for (const { place, end, problem } of this.#records) {
      const data = body.subarray(start, end);
      start = end;
      const text = problem === null ? textOf(data) : null;
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
