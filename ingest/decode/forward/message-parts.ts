import { isJsonObject } from "../json-body.ts";
import { decodeValue } from "./message-pack.ts";
import { ValueScanner } from "./value-scanner.ts";

/** What stands behind the tag: events in a list, their bytes, or the time of the only one. */
type EventsForm = "list" | "bytes" | "single";

/** A message of the forward protocol, taken apart without its values being made. */
export interface MessageParts {
  readonly tag: Uint8Array;
  readonly form: EventsForm;
  /** The events one behind the other; packed where the option says so. Of a single one its time and its record. */
  readonly events: Uint8Array;
  /** What the sender wants besides. */
  readonly option: Uint8Array | null;
}

/** A tag, events, and the options; of a single event one more. */
const ELEMENTS_MAX = 4;
/** Bytes of the head of an array, or of a text or bytes, by its kind. */
const LIST_HEAD = new Map([
  [0xdc, 3],
  [0xdd, 5],
]);
const BYTES_HEAD = new Map([
  [0xc4, 2],
  [0xc5, 3],
  [0xc6, 5],
  [0xd9, 2],
  [0xda, 3],
  [0xdb, 5],
]);

/** The parts of one whole MessagePack value; null for what is no message. Source: Fluentd, "Forward Protocol Specification v1". */
export function partsOf(message: Uint8Array): MessageParts | null {
  const head = listHead(message);
  if (head === null) return null;
  const elements: Uint8Array[] = [];
  eachValue(message.subarray(head), (element) => elements.push(element), ELEMENTS_MAX);
  const [tag, second, third, fourth] = elements;
  if (tag === undefined || second === undefined) return null;
  const list = listHead(second);
  if (list !== null) return { tag, form: "list", events: second.subarray(list), option: third ?? null };
  const bytes = bytesHead(second);
  if (bytes !== null) return { tag, form: "bytes", events: second.subarray(bytes), option: third ?? null };
  const end = second.length + (third?.length ?? 0);
  const start = second.byteOffset - message.byteOffset;
  return { tag, form: "single", events: message.subarray(start, start + end), option: fourth ?? null };
}

/** What the sender of a message wants acknowledged: the name of its chunk. */
export function chunkOf(message: Uint8Array): string | null {
  const option = partsOf(message)?.option ?? null;
  const value = option === null ? undefined : decodedValue(option);
  return isJsonObject(value) && typeof value.chunk === "string" ? value.chunk : null;
}

/** Visits the bytes of each whole value, at most `max`; answers where the first one begins that is none. */
export function eachValue(
  bytes: Uint8Array,
  visit: (value: Uint8Array) => void,
  max = Number.POSITIVE_INFINITY,
): number {
  const scanner = new ValueScanner();
  let start = 0;
  for (let count = 0; start < bytes.length && count < max; count++) {
    scanner.begin(start);
    if (scanner.scan(bytes, bytes.length) !== true) break;
    visit(bytes.subarray(start, scanner.at));
    start = scanner.at;
  }
  return start;
}

/** The value, or undefined for what is none. */
export function decodedValue(bytes: Uint8Array): unknown {
  try {
    return decodeValue(bytes);
  } catch {
    return undefined;
  }
}

/** Bytes of an array's head; null for what is none. */
export function listHead(value: Uint8Array): number | null {
  const kind = value[0] ?? 0;
  return kind >= 0x90 && kind < 0xa0 ? 1 : (LIST_HEAD.get(kind) ?? null);
}

/** Old senders write bytes as a text although they are none. */
function bytesHead(value: Uint8Array): number | null {
  const kind = value[0] ?? 0;
  return kind >= 0xa0 && kind < 0xc0 ? 1 : (BYTES_HEAD.get(kind) ?? null);
}
