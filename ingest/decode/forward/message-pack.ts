import { Decoder, ExtensionCodec, encode } from "@msgpack/msgpack";
import { decodeLenient } from "../lenient-text.ts";

/** A time of Fluentd: seconds since 1970 and nanoseconds. */
export class EventTime {
  readonly seconds: number;
  readonly nanos: number;

  constructor(seconds: number, nanos: number) {
    this.seconds = seconds;
    this.nanos = nanos;
  }
}

const EVENT_TIME_TYPE = 0;
const EVENT_TIME_BYTES = 8;
const extensionCodec = new ExtensionCodec();
extensionCodec.register({
  type: EVENT_TIME_TYPE,
  encode: () => null,
  decode: (bytes) => {
    if (bytes.length !== EVENT_TIME_BYTES) return bytes;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new EventTime(view.getUint32(0), view.getUint32(4));
  },
});

const decoder = new Decoder({
  extensionCodec,
  useBigInt64: true,
  mapKeyConverter: (key) => (typeof key === "object" && key !== null ? "" : String(key)),
});

/** The value of bytes that hold exactly one; throws an Error for what is none. Integers beyond 2^31 are bigints. */
export function decodeValue(bytes: Uint8Array): unknown {
  return decoder.decode(bytes);
}

/** What senders are answered. */
export function encodeValue(value: unknown): Uint8Array {
  return encode(value);
}

/** A value as JSON has it, with every digit of its integers; bytes are texts. Null for one that nests too deep. */
export function plainValue(value: unknown, maxDepth: number): unknown {
  if (maxDepth < 0) return null;
  if (typeof value === "bigint") return plainInteger(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array) return decodeLenient(value, 0, value.length);
  if (value instanceof EventTime) return value.seconds + value.nanos / 1e9;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (Array.isArray(value)) return value.map((item) => plainValue(item, maxDepth - 1));
  if (typeof value !== "object" || value === null) return value;
  if ("type" in value && "data" in value && value.data instanceof Uint8Array)
    return decodeLenient(value.data, 0, value.data.length);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, plainValue(item, maxDepth - 1)]),
  );
}

function plainInteger(value: bigint): unknown {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(value));
}
