import { EVENT_KEY_WORDS, writeEventKey } from "./event-key.ts";

/** Set in the first word of a request's keys, so that no event id can have the same key. */
const REQUEST_FLAG = 0x8000_0000;

const encoder = new TextEncoder();

/** The first word of a span, which no key has: organizations are numbered from 1. */
const SPAN_FLAG = 0;

/** What a request that names itself is remembered by, four words each. */
export interface RequestKeys {
  /** The name alone: tells a repetition. */
  readonly identity: Uint32Array<ArrayBuffer>;
  /** The name with the content: tells a repetition from another request under the same name. */
  readonly content: Uint32Array<ArrayBuffer>;
}

/** Keys of the request that a credential sends under `name`. `body` is unpacked. */
export function requestKeys(
  organizationId: number,
  credential: string,
  name: string,
  body: Uint8Array,
): RequestKeys {
  return {
    identity: requestIdentity(organizationId, credential, name),
    content: keyOf(organizationId, `${Bun.hash.xxHash3(body)}\n${credential}\n${name}`),
  };
}

/** The key of the name alone. */
export function requestIdentity(
  organizationId: number,
  credential: string,
  name: string,
): Uint32Array<ArrayBuffer> {
  return keyOf(organizationId, `${credential}\n${name}`);
}

function keyOf(organizationId: number, text: string): Uint32Array<ArrayBuffer> {
  const key = new Uint32Array(EVENT_KEY_WORDS);
  const bytes = encoder.encode(text);
  writeEventKey(key, 0, organizationId, bytes, 0, bytes.length);
  key[0] = (organizationId | REQUEST_FLAG) >>> 0;
  return key;
}

/**
 * Says, behind a request's keys in the log, which rows of the record are its own. It is as long as a key and is none.
 */
export function requestSpan(firstRow: number, rows: number): Uint32Array<ArrayBuffer> {
  return Uint32Array.of(SPAN_FLAG, firstRow, rows, 0);
}

/** The keys of a record as words. Copied, because a slice of a file's buffer need not start at a multiple of four. */
export function keyWords(keys: Uint8Array): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(keys.slice().buffer);
  if (words.length % EVENT_KEY_WORDS !== 0) throw new Error("the log holds half an event key");
  return words;
}

/** Whether there is a span at `at` and not a key. */
export function isSpan(keys: Uint32Array, at: number): boolean {
  return keys[at] === SPAN_FLAG;
}

/** The requests of a record that name themselves: the identity of each and its rows. */
export function* requestSpans(
  keys: Uint32Array,
): Generator<{ readonly identity: Uint32Array; readonly firstRow: number; readonly endRow: number }> {
  // In front of a span are the identity and the content.
  for (let at = 2 * EVENT_KEY_WORDS; at < keys.length; at += EVENT_KEY_WORDS) {
    if (!isSpan(keys, at)) continue;
    const identity = keys.subarray(at - 2 * EVENT_KEY_WORDS, at - EVENT_KEY_WORDS);
    const firstRow = keys[at + 1] ?? 0;
    yield { identity, firstRow, endRow: firstRow + (keys[at + 2] ?? 0) };
  }
}
