import { IngestRejectedError } from "../../errors.ts";
import { JSON_MAX_DEPTH } from "../../limits.ts";
import { BodyReader } from "../../recognise/body-reader.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { decodeUtf8, isJsonObject, tryParseJson } from "../json-body.ts";
import { readBodyElements } from "../json-elements.ts";
import { decodeLenient } from "../lenient-text.ts";
import { readOctetFrames } from "../syslog/octet-frames.ts";
import { endOfPeer } from "../syslog/relayed-frames.ts";
import { writeGelf } from "./gelf-message.ts";

/** GELF over HTTP: a message, or several one after the other. What is no JSON object is rejected by itself. */
export class GelfDecoder implements RecordDecoder {
  readonly format = "gelf";
  readonly #lines = new BodyReader(Date.now);

  decode(body: Uint8Array, writer: RecordWriter): void {
    let count = 0;
    readBodyElements(decodeUtf8(body), {
      object: (message) => {
        count++;
        writeGelf(writer, message, this.#lines);
      },
      text: (raw, place) => {
        count++;
        writer.reject({ place, reason: "is no JSON object", raw });
      },
      broken: (raw, reason, place) => {
        count++;
        writer.reject({ place, reason, raw });
      },
    });
    if (count > 0) return;
    const message = "the body holds no message";
    throw new IngestRejectedError(message, [{ path: "", code: "too_small", message }]);
  }
}

/** What the listeners gathered, a body made by `RelayedFrames`; the sender's address is the host of a message without one. */
export class RelayedGelf implements RecordDecoder {
  readonly format = "gelf";
  readonly #lines = new BodyReader(Date.now);

  decode(body: Uint8Array, writer: RecordWriter): void {
    let count = 0;
    const fault = readOctetFrames(body, (start, end) => {
      const peerEnd = endOfPeer(body, start);
      const text = decodeLenient(body, peerEnd + 1, end);
      const place = `/${count++}`;
      const parsed = tryParseJson(text, JSON_MAX_DEPTH);
      if (!parsed.ok) writer.reject({ place, reason: parsed.reason, raw: text });
      else if (!isJsonObject(parsed.value)) writer.reject({ place, reason: "is no JSON object", raw: text });
      else writeGelf(writer, { host: decodeLenient(body, start, peerEnd), ...parsed.value }, this.#lines);
    });
    if (fault === null) return;
    const message = `at byte ${fault.at}: ${fault.reason}`;
    throw new IngestRejectedError(message, [{ path: "", code: "custom", message }]);
  }
}
