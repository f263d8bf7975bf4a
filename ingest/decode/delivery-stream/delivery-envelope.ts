import { type IngestIssueCode, IngestRejectedError } from "../../errors.ts";
import { REQUEST_MAX_RECORDS } from "../../limits.ts";
import { isJsonObject, type JsonObject, parseJson } from "../json-body.ts";

/** A request of a delivery stream as it came: the data of each record, still packed. */
export interface DeliveryEnvelope {
  readonly requestId: string | null;
  readonly records: readonly DeliveredRecord[];
}

interface DeliveredRecord {
  /** A JSON pointer into the request. */
  readonly place: string;
  /** The decoded data; null when it is not base64. */
  readonly data: Uint8Array | null;
  /** The data as it came, for the quarantine. */
  readonly text: string;
}

/** Levels of the envelope, with room for what may be added to it. */
const ENVELOPE_MAX_DEPTH = 8;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * The records of a delivery stream's request, `{requestId, timestamp, records: [{data: base64}]}`. Records without data
 * are left out, as they may be empty. Throws IngestRejectedError for anything else, and for more records than a request may have.
 * Source: Amazon Data Firehose, "HTTP endpoint delivery request and response specifications".
 */
export function readDeliveryEnvelope(body: Uint8Array): DeliveryEnvelope {
  const envelope = parseJson(body, ENVELOPE_MAX_DEPTH);
  if (!isJsonObject(envelope)) throw rejected("", "the body is no JSON object");
  const { records, requestId } = envelope;
  if (!Array.isArray(records)) throw rejected("/records", "records must be an array");
  if (records.length > REQUEST_MAX_RECORDS)
    throw rejected("/records", `at most ${REQUEST_MAX_RECORDS} records in a delivery`, "too_big");
  return {
    requestId: typeof requestId === "string" ? requestId : null,
    records: records.flatMap((record: unknown, index) => {
      const read = readRecord(record, `/records/${index}`);
      return read === null ? [] : [read];
    }),
  };
}

/** What the configuration of the stream says about every record: the header of its common attributes. */
export function readCommonAttributes(header: string | null): JsonObject {
  if (header === null) return {};
  try {
    const parsed = parseJson(header, ENVELOPE_MAX_DEPTH);
    if (isJsonObject(parsed) && isJsonObject(parsed.commonAttributes)) return parsed.commonAttributes;
  } catch (error) {
    // A misconfigured stream loses the attributes, not the logs.
    if (!(error instanceof IngestRejectedError)) throw error;
  }
  return {};
}

function readRecord(record: unknown, place: string): DeliveredRecord | null {
  const data = isJsonObject(record) ? record.data : undefined;
  if (data === "") return null;
  if (typeof data !== "string") return { place, data: null, text: JSON.stringify(record) };
  return { place, data: decodeBase64(data), text: data };
}

/** The runtime's own decoder skips what is no base64, so the text is judged first. */
function decodeBase64(text: string): Uint8Array | null {
  return text.length % 4 === 0 && BASE64.test(text) ? Buffer.from(text, "base64") : null;
}

function rejected(
  path: string,
  message: string,
  code: IngestIssueCode = "invalid_type",
): IngestRejectedError {
  return new IngestRejectedError(message, [{ path, code, message }]);
}
