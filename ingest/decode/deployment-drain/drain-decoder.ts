import { IngestRejectedError } from "../../errors.ts";
import { BodyReader } from "../../recognise/body-reader.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { decodeUtf8 } from "../json-body.ts";
import { readBodyElements } from "../json-elements.ts";
import { writeDrainRecord } from "./drain-record.ts";

/**
 * The log drain of a deployment platform: objects as a JSON array, as NDJSON, or one alone.
 * Source: Vercel, "Log Drains Reference".
 */
export class DeploymentDrainDecoder implements RecordDecoder {
  readonly format = "platform-a";
  readonly #bodies: BodyReader;

  /** `now` is the time for messages that name no year. */
  constructor(now: () => number = Date.now) {
    this.#bodies = new BodyReader(now);
  }

  decode(body: Uint8Array, writer: RecordWriter): void {
    const text = decodeUtf8(body);
    if (!/^\s*[[{]/.test(text)) throw notJson();
    readBodyElements(text, {
      object: (record) => writeDrainRecord(writer, record, this.#bodies),
      text: (line, place) => writer.reject({ place, reason: "is no JSON object", raw: line }),
      broken: (raw, reason, place) => writer.reject({ place, reason, raw }),
    });
  }
}

function notJson(): IngestRejectedError {
  const message = "the body is neither a JSON array nor JSON objects on lines";
  return new IngestRejectedError(message, [{ path: "", code: "custom", message }]);
}
