import { type IngestIssueCode, IngestRejectedError } from "../../errors.ts";
import { REQUEST_MAX_RECORDS } from "../../limits.ts";
import { ByteBuffer } from "../../native/byte-buffer.ts";
import { decodeBase64, isBase64 } from "../base64.ts";
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
  /** 1 for each whose data is not base64: what came is there instead, for the quarantine. */
  readonly isRaw: Uint8Array<ArrayBuffer>;
}

/** Levels of the envelope, with room for what may be added to it. */
const ENVELOPE_MAX_DEPTH = 8;

const utf8 = new TextDecoder();

/**
 * The records of a delivery stream's request, `{requestId, timestamp, records: [{data: base64}]}`. Records without data
 * are left out, as they may be empty. Their data is written to `target`, which may be the body itself where nobody reads it
 * again: nothing becomes longer by being read. Throws IngestRejectedError for anything else, and for more records than a request may have.
 * Source: Amazon Data Firehose, "HTTP endpoint delivery request and response specifications".
 */
export function readDeliveryEnvelope(
  body: Uint8Array,
  target: Uint8Array<ArrayBuffer> = new Uint8Array(body.length),
): DeliveryEnvelope {
  const tape = new JsonTape(ENVELOPE_MAX_DEPTH);
  const problem = tape.read(body);
  if (problem !== null) throw rejected("", `the body ${problem}`, "custom");
  if (tape.kinds[0] !== JSON_OBJECT) throw rejected("", "the body is no JSON object");
  const { records, requestId } = membersOf(tape, 0, ["records", "requestId"]);
  if (records === undefined || tape.kinds[records] !== JSON_ARRAY)
    throw rejected("/records", "records must be an array");
  // First, for it may lie where data is written.
  const id = requestId === undefined ? null : stringAt(tape, requestId);
  return { requestId: id, ...readRecords(tape, records, target) };
}

function readRecords(
  tape: JsonTape,
  list: number,
  data: Uint8Array<ArrayBuffer>,
): Omit<DeliveryEnvelope, "requestId"> {
  const target = Buffer.from(data.buffer, data.byteOffset, data.length);
  const positions: number[] = [];
  const ends: number[] = [];
  const isRaw: number[] = [];
  const listEnd = tape.ends[list] ?? 0;
  let length = 0;
  let position = 0;
  for (let record = list + 1; record < listEnd; record = tape.next(record), position++) {
    if (position === REQUEST_MAX_RECORDS)
      throw rejected("/records", `at most ${REQUEST_MAX_RECORDS} records in a delivery`, "too_big");
    const value = tape.kinds[record] === JSON_OBJECT ? membersOf(tape, record, ["data"]).data : undefined;
    const isText = value !== undefined && (tape.kinds[value] ?? 0) <= JSON_ESCAPED_STRING;
    if (isText) tape.readText(value);
    const { textBytes, textStart, textEnd } = tape;
    if (isText && textStart === textEnd) continue;
    const isData = isText && isBase64(textBytes, textStart, textEnd);
    if (isData) length = decodeBase64(textBytes, textStart, textEnd, data, length);
    else
      length += target.write(
        isText ? utf8.decode(textBytes.subarray(textStart, textEnd)) : jsonAt(tape, record),
        length,
      );
    isRaw.push(isData ? 0 : 1);
    positions.push(position);
    ends.push(length);
  }
  return {
    data: data.subarray(0, length),
    positions: new Uint32Array(positions),
    ends: new Uint32Array(ends),
    isRaw: new Uint8Array(isRaw),
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
