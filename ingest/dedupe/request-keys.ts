import { EVENT_KEY_WORDS, writeEventKey } from "./event-key.ts";

/** Set in the first word of a request's keys, so that no event id can have the same key. */
const REQUEST_FLAG = 0x8000_0000;

const encoder = new TextEncoder();

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
