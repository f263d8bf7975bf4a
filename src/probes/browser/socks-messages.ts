/** What a client of SOCKS 5 says first, and what it is answered; RFC 1928. Only connections without a password are known. */

export const SOCKS_METHOD_ACCEPTED = Uint8Array.of(5, 0);

/** Of a reply only its second byte says something to whoever asked with a name. */
export function socksReply(code: number): Uint8Array {
  return Uint8Array.of(5, code, 0, 1, 0, 0, 0, 0, 0, 0);
}
export const SOCKS_GRANTED = 0;
export const SOCKS_NOT_ALLOWED = 2;
export const SOCKS_HOST_UNREACHABLE = 4;
export const SOCKS_COMMAND_UNKNOWN = 7;

/** The longest of both messages: version, command, reserved, type, a name of 255 bytes with its length, port. */
export const SOCKS_MESSAGE_MAX_BYTES = 262;

interface SocksRequest {
  readonly isConnect: boolean;
  readonly host: string;
  readonly port: number;
}

/** How many bytes the greeting has; null while it is not whole. Throws an Error for what is none. */
export function greetingBytes(bytes: Uint8Array): number | null {
  if (bytes.length > 0 && bytes[0] !== 5) throw new Error("this is not version 5 of SOCKS");
  const methods = bytes[1];
  if (methods === undefined || bytes.length < 2 + methods) return null;
  if (!bytes.subarray(2, 2 + methods).includes(0)) throw new Error("the client wants to sign in");
  return 2 + methods;
}

/** The request, null while it is not whole. Throws an Error for what is none. */
export function readSocksRequest(bytes: Uint8Array): SocksRequest | null {
  if (bytes.length > 0 && bytes[0] !== 5) throw new Error("this is not version 5 of SOCKS");
  const [, command, , type, length] = bytes;
  if (type === undefined) return null;
  const start = type === NAME ? 5 : 4;
  const hostBytes = type === NAME ? length : ADDRESS_BYTES.get(type);
  if (hostBytes === undefined) {
    if (type === NAME) return null;
    throw new Error("this is no type of address");
  }
  const end = start + hostBytes;
  if (bytes.length < end + 2) return null;
  const port = ((bytes[end] ?? 0) << 8) | (bytes[end + 1] ?? 0);
  return { isConnect: command === 1, host: hostText(type, bytes.subarray(start, end)), port };
}

const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;
const ADDRESS_BYTES: ReadonlyMap<number, number> = new Map([
  [IPV4, 4],
  [IPV6, 16],
]);

function hostText(type: number, bytes: Uint8Array): string {
  if (type === NAME) return new TextDecoder().decode(bytes);
  if (type === IPV4) return bytes.join(".");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: 8 }, (_, group) => view.getUint16(group * 2).toString(16)).join(":");
}
