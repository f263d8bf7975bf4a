import { IngestRejectedError } from "../../errors.ts";
import { JSON_MAX_DEPTH } from "../../limits.ts";
import type { RecordDecoder } from "../../record/record-decoder.ts";
import type { RecordWriter } from "../../record/record-writer.ts";
import { isJsonObject, type JsonObject, numberText, parseJson } from "../json-body.ts";
import {
  fieldsOf,
  requireLabelsFit,
  type StreamFields,
  writeLokiLine,
  writeStreamFields,
} from "./loki-stream.ts";

/**
 * The JSON body of Loki's push request: streams of lines under common labels, each line with its time in nanoseconds and
 * perhaps structured metadata. A line that is a JSON object is taken apart, any other is the message as it stands; labels
 * and metadata become fields by their well-known names and attributes otherwise. Source: Grafana Loki, "HTTP API: Ingest logs".
 */
export class LokiPush implements RecordDecoder {
  readonly format = "loki-push";

  decode(body: Uint8Array, writer: RecordWriter): void {
    const push = parseJson(body, JSON_MAX_DEPTH);
    const streams = isJsonObject(push) ? push.streams : undefined;
    if (!Array.isArray(streams)) {
      const message = 'the body is no push request such as {"streams":[{"stream":{},"values":[]}]}';
      throw new IngestRejectedError(message, [{ path: "/streams", code: "invalid_type", message }]);
    }
    let repeatedUnits = 0;
    for (const [position, stream] of streams.entries()) {
      const place = `/streams/${position}`;
      const parts = partsOf(stream);
      if (parts === null) {
        const reason = "the stream is no object with labels in `stream` and a list `values`";
        writer.reject({ place, reason, raw: `{"streams":[${JSON.stringify(stream)}]}` });
        continue;
      }
      const fields = fieldsOf(parts.labels);
      repeatedUnits += fields.text.length * parts.values.length;
      requireLabelsFit(repeatedUnits);
      writeLines(writer, fields, parts.values, place);
    }
  }
}

interface StreamParts {
  readonly labels: JsonObject;
  readonly values: readonly unknown[];
}

function partsOf(stream: unknown): StreamParts | null {
  if (!isJsonObject(stream)) return null;
  const { stream: labels = {}, values } = stream;
  return isJsonObject(labels) && Array.isArray(values) ? { labels, values } : null;
}

function writeLines(
  writer: RecordWriter,
  fields: StreamFields,
  values: readonly unknown[],
  place: string,
): void {
  for (const [position, value] of values.entries()) {
    const reason = writeLine(writer, fields, value);
    if (reason === null) continue;
    // With its labels a rejected line is a push request of its own.
    const raw = `{"streams":[{"stream":${fields.text},"values":[${JSON.stringify(value)}]}]}`;
    writer.reject({ place: `${place}/values/${position}`, reason, raw });
  }
}

/** Makes an entry of a line; answers why not. */
function writeLine(writer: RecordWriter, fields: StreamFields, value: unknown): string | null {
  if (!Array.isArray(value)) return "is no list of a time and a line";
  const [time, line, metadata = {}]: readonly unknown[] = value;
  const nanos = typeof time === "string" ? time : numberText(time);
  if (nanos === null || !/^\d{1,19}$/.test(nanos)) return "the time is no number of nanoseconds";
  if (typeof line !== "string") return "the line is no text";
  if (!isJsonObject(metadata)) return "the structured metadata is no object";
  writer.begin();
  writeLokiLine(writer, fields, line);
  // A time that the store cannot hold is no reason to lose the line.
  if (!writer.timeUnixNano(nanos)) writer.attribute("timestamp", nanos);
  writeStreamFields(writer, fields, metadata);
  writer.end();
  return null;
}
