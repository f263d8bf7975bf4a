/** The numbers that tell an echo request and its reply in one version of IP. */
interface EchoKind {
  readonly request: number;
  readonly reply: number;
}
export const ECHO_V4: EchoKind = { request: 8, reply: 0 };
export const ECHO_V6: EchoKind = { request: 128, reply: 129 };

const HEADER_BYTES = 8;
/** What is sent along and must come back: nobody guesses it. */
export const ECHO_TOKEN_BYTES = 16;

/** An echo request: type, code, checksum, identifier, sequence number and token. RFC 792, RFC 4443 section 4.1. */
export function encodeEcho(
  kind: EchoKind,
  identifier: number,
  sequence: number,
  token: Uint8Array,
): Uint8Array {
  const packet = new Uint8Array(HEADER_BYTES + token.length);
  const view = new DataView(packet.buffer);
  view.setUint8(0, kind.request);
  view.setUint16(4, identifier);
  view.setUint16(6, sequence);
  packet.set(token, HEADER_BYTES);
  view.setUint16(2, checksum(packet));
  return packet;
}

/**
 * Whether what came in is the reply to a request with this token. Raw sockets of IPv4 answer the packet with its IP
 * header in front, the others without. The identifier is not looked at: the kernel may have set it.
 */
export function isEchoReply(kind: EchoKind, received: Uint8Array, token: Uint8Array): boolean {
  const start = kind === ECHO_V4 ? ipv4HeaderBytes(received) : 0;
  const packet = received.subarray(start);
  if (packet.length !== HEADER_BYTES + token.length || packet[0] !== kind.reply || packet[1] !== 0)
    return false;
  return token.every((byte, index) => packet[HEADER_BYTES + index] === byte);
}

/** 0 when there is none: an echo reply begins with a zero, a header with its version. */
function ipv4HeaderBytes(received: Uint8Array): number {
  const first = received[0] ?? 0;
  return first >> 4 === 4 ? (first & 15) * 4 : 0;
}

/** The ones' complement of the ones' complement sum of all 16-bit words; RFC 1071. */
export function checksum(packet: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < packet.length; at += 2) sum += ((packet[at] ?? 0) << 8) | (packet[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
