import { type IngestIssueCode, IngestRejectedError } from "../../errors.ts";
import { REQUEST_MAX_RECORDS } from "../../limits.ts";
import { ByteBuffer } from "../../native/byte-buffer.ts";
import { isJsonObject, type JsonObject, parseJson } from "../json-body.ts";
import { JsonScanner } from "../json-scanner.ts";
import { JSON_ARRAY, JSON_ESCAPED_STRING, JSON_OBJECT, JsonTape } from "../json-tape.ts";

/** A request of a delivery stream as it came: the data of each record, still packed; few objects, to be handed over to another thread. */
export interface DeliveryEnvelope {
  readonly requestId: string | null;
  /** The data of all records, one behind the other. */
  readonly data: Uint8Array<ArrayBuffer>;
  /** For each record its position in the request, and where its data ends. */
  readonly positions: Uint32Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  /** By their positions the records that have no data, because it is not base64: what came instead. */
  readonly texts: ReadonlyMap<number, string>;
}

interface DeliveredRecord {
  /** A JSON pointer into the request. */
  readonly place: string;
  /** The decoded data; null when it is not base64. */
  readonly data: Uint8Array | null;
  /** The data as it came, for the quarantine, where it is not base64. */
  readonly text: string;
}

/** Levels of the envelope, with room for what may be added to it. */
const ENVELOPE_MAX_DEPTH = 8;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** Bytes that four characters of base64 are. */
const BYTES_PER_QUARTET = 3;

const utf8 = new TextDecoder();

/**
 * The records of a delivery stream's request, `{requestId, timestamp, records: [{data: base64}]}`. Records without data
 * are left out, as they may be empty. Throws IngestRejectedError for anything else, and for more records than a request may have.
 * Source: Amazon Data Firehose, "HTTP endpoint delivery request and response specifications".
 */
export function readDeliveryEnvelope(body: Uint8Array): DeliveryEnvelope {
  const tape = new JsonTape(ENVELOPE_MAX_DEPTH);
  const problem = tape.read(body);
  if (problem !== null) throw rejected("", `the body ${problem}`, "custom");
  if (tape.kinds[0] !== JSON_OBJECT) throw rejected("", "the body is no JSON object");
  const { records, requestId } = membersOf(tape, 0, ["records", "requestId"]);
  if (records === undefined || tape.kinds[records] !== JSON_ARRAY)
    throw rejected("/records", "records must be an array");
  return {
    requestId: requestId === undefined ? null : stringAt(tape, requestId),
    ...readRecords(tape, records),
  };
}

/** The records of an envelope, in their order. */
export function* deliveredRecords({
  data,
  positions,
  ends,
  texts,
}: DeliveryEnvelope): Generator<DeliveredRecord> {
  let start = 0;
  for (const [record, position] of positions.entries()) {
    const end = ends[record] ?? start;
    const text = texts.get(position);
    const place = `/records/${position}`;
    yield text === undefined
      ? { place, data: data.subarray(start, end), text: "" }
      : { place, data: null, text };
    start = end;
  }
}

function readRecords(
  tape: JsonTape,
  list: number,
): Pick<DeliveryEnvelope, "data" | "positions" | "ends" | "texts"> {
  const data = new Uint8Array(Math.ceil(tape.source.length / 4) * BYTES_PER_QUARTET);
  const target = Buffer.from(data.buffer);
  const positions: number[] = [];
  const ends: number[] = [];
  const texts = new Map<number, string>();
  const listEnd = tape.ends[list] ?? 0;
  let length = 0;
  let position = 0;
  for (let record = list + 1; record < listEnd; record = tape.next(record), position++) {
    if (position === REQUEST_MAX_RECORDS)
      throw rejected("/records", `at most ${REQUEST_MAX_RECORDS} records in a delivery`, "too_big");
    const value = tape.kinds[record] === JSON_OBJECT ? membersOf(tape, record, ["data"]).data : undefined;
    const text = value === undefined ? null : stringAt(tape, value);
    if (text === "") continue;
    // The runtime's own decoder skips what is no base64, so the text is judged first.
    if (text !== null && text.length % 4 === 0 && BASE64.test(text))
      length += target.write(text, length, "base64");
    else texts.set(position, text ?? jsonAt(tape, record));
    positions.push(position);
    ends.push(length);
  }
  return {
    data: data.subarray(0, length),
    positions: Uint32Array.from(positions),
    ends: Uint32Array.from(ends),
    texts,
  };
}

/** The tokens of an object's members of these names; of several of one name the last. */
function membersOf<N extends string>(
  tape: JsonTape,
  object: number,
  names: readonly N[],
): { [name in N]?: number } {
  const members: { [name in N]?: number } = {};
  const end = tape.ends[object] ?? 0;
  for (let name = object + 1; name < end; name = tape.next(name + 1)) {
    const found = names.find((known) => stringAt(tape, name) === known);
    if (found !== undefined) members[found] = name + 1;
  }
  return members;
}

/** The text of a string; null for any other value. */
function stringAt(tape: JsonTape, token: number): string | null {
  if ((tape.kinds[token] ?? 0) > JSON_ESCAPED_STRING) return null;
  tape.readText(token);
  return utf8.decode(tape.textBytes.subarray(tape.textStart, tape.textEnd));
}

/** A value as JSON without white space. */
function jsonAt(tape: JsonTape, token: number): string {
  const text = stringAt(tape, token);
  if (text !== null) return JSON.stringify(text);
  const { source, starts } = tape;
  const scanner = new JsonScanner();
  scanner.reset(source);
  scanner.at = starts[token] ?? 0;
  const out = new ByteBuffer();
  if (!scanner.copyValue(out)) throw new Error("a value that was read cannot be read again");
  return utf8.decode(out.view());
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

function rejected(
  path: string,
  message: string,
  code: IngestIssueCode = "invalid_type",
): IngestRejectedError {
  return new IngestRejectedError(message, [{ path, code, message }]);
}
