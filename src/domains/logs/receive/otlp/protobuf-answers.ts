import { ByteBuffer } from "../../../../../ingest/index.ts";
import type { EncodedBody } from "../../../../http/encoded-body.ts";

/** As OTLP names it. */
export const PROTOBUF_TYPE = "application/x-protobuf";

/** The keys of fields: their number, and whether they have a length. */
const FIELD_1_NUMBER = 0x08;
const FIELD_1_MESSAGE = 0x0a;
const FIELD_2_TEXT = 0x12;

/** Numbers of google.rpc.Code by HTTP status; its others are UNKNOWN. */
const CODES: ReadonlyMap<number, number> = new Map([
  [400, 3],
  [401, 16],
  [403, 7],
  [404, 5],
  [413, 8],
  [415, 3],
  [429, 8],
  [500, 13],
  [503, 14],
]);
const UNKNOWN = 2;

/** A google.rpc.Status. */
export function protobufStatus(status: number, message: string): EncodedBody {
  return encoded(numberAndText(CODES.get(status) ?? UNKNOWN, message));
}

/** An export response; `rejected` and its explanation make the partial success, which is absent for 0. */
export function protobufResponse(rejected: number, message: string): EncodedBody {
  const out = new ByteBuffer();
  if (rejected > 0) {
    const partial = numberAndText(rejected, message);
    out.writeByte(FIELD_1_MESSAGE);
    out.writeVarUint(partial.length);
    out.writeBytes(partial.view());
  }
  return encoded(out);
}

/** A message with a number and a text. */
function numberAndText(number: number, text: string): ByteBuffer {
  const out = new ByteBuffer();
  out.writeByte(FIELD_1_NUMBER);
  out.writeVarUint(number);
  out.writeByte(FIELD_2_TEXT);
  out.writeString(text);
  return out;
}

function encoded(out: ByteBuffer): EncodedBody {
  return { contentType: PROTOBUF_TYPE, bytes: out.view().slice() };
}
