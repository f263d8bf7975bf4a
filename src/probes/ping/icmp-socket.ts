import { dlopen, ptr } from "bun:ffi";
import { isIPv6 } from "node:net";

/** A socket of the kernel's for ICMP with one address. No call of it waits. */
export interface IcmpSocket {
  /** False when there is no way to the address. */
  send(packet: Uint8Array): boolean;
  /** The next packet, and how many milliseconds ago it came in; null when there is none yet. */
  receive(): { readonly packet: Uint8Array; readonly ageMs: number } | null;
  destroy(): void;
}

const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const SOCK_NONBLOCK = 0o4000;
const SOCK_CLOEXEC = 0o2000000;
const IPPROTO_ICMP = 1;
const IPPROTO_ICMPV6 = 58;
const CLOCK_REALTIME = 0;
/** Asks when the packet that was read last came in. */
const SIOCGSTAMPNS = 0x8907n;
const PACKET_MAX_BYTES = 2048;

/**
 * Opens a socket for echo requests, one that any user may have or else a raw one; null where the system allows neither, or is
 * none whose calls are known here.
 */
export function openIcmpSocket(address: string): IcmpSocket | null {
  const libc = systemCalls();
  if (libc === null) return null;
  const isV6 = isIPv6(address);
  const family = isV6 ? AF_INET6 : AF_INET;
  const protocol = isV6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
  for (const type of [SOCK_DGRAM, SOCK_RAW]) {
    const handle = libc.socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    if (handle >= 0) return new LinuxIcmpSocket(libc, handle, socketAddress(address));
  }
  return null;
}

function load() {
  return dlopen("libc.so.6", {
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    connect: { args: ["i32", "ptr", "u32"], returns: "i32" },
    send: { args: ["i32", "ptr", "u64", "i32"], returns: "i64" },
    recv: { args: ["i32", "ptr", "u64", "i32"], returns: "i64" },
    ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
    clock_gettime: { args: ["i32", "ptr"], returns: "i32" },
    close: { args: ["i32"], returns: "i32" },
  }).symbols;
}

type SystemCalls = ReturnType<typeof load>;

let loaded: SystemCalls | null | undefined;

function systemCalls(): SystemCalls | null {
  if (loaded !== undefined) return loaded;
  try {
    loaded = process.platform === "linux" ? load() : null;
  } catch {
    // Another C library, whose name is another.
    loaded = null;
  }
  return loaded;
}

class LinuxIcmpSocket implements IcmpSocket {
  readonly #libc: SystemCalls;
  readonly #buffer = new Uint8Array(PACKET_MAX_BYTES);
  #handle: number | null;
  readonly #isConnected: boolean;

  constructor(libc: SystemCalls, handle: number, address: Uint8Array) {
    this.#libc = libc;
    this.#handle = handle;
    // Of a connected socket the kernel reads nothing that another address sends.
    this.#isConnected = libc.connect(handle, ptr(address), address.length) === 0;
    // The first question turns the stamps on.
    this.#stampMs();
  }

  send(packet: Uint8Array): boolean {
    if (this.#handle === null || !this.#isConnected) return false;
    return Number(this.#libc.send(this.#handle, ptr(packet), packet.length, 0)) === packet.length;
  }

  receive(): { packet: Uint8Array; ageMs: number } | null {
    if (this.#handle === null) return null;
    const bytes = Number(this.#libc.recv(this.#handle, ptr(this.#buffer), this.#buffer.length, 0));
    if (bytes <= 0) return null;
    const stampMs = this.#stampMs();
    const ageMs = stampMs === null ? 0 : Math.max(0, this.#nowMs() - stampMs);
    return { packet: this.#buffer.slice(0, bytes), ageMs };
  }

  destroy(): void {
    if (this.#handle !== null) this.#libc.close(this.#handle);
    this.#handle = null;
  }

  #stampMs(): number | null {
    const time = new BigInt64Array(2);
    if (this.#handle === null || this.#libc.ioctl(this.#handle, SIOCGSTAMPNS, ptr(time)) !== 0) return null;
    return millisecondsOf(time);
  }

  #nowMs(): number {
    const time = new BigInt64Array(2);
    this.#libc.clock_gettime(CLOCK_REALTIME, ptr(time));
    return millisecondsOf(time);
  }
}

function millisecondsOf([seconds = 0n, nanoseconds = 0n]: BigInt64Array): number {
  return Number(seconds) * 1000 + Number(nanoseconds) / 1e6;
}

/** `sockaddr_in` or `sockaddr_in6`, with no port and no scope. */
function socketAddress(address: string): Uint8Array {
  if (!isIPv6(address)) {
    const bytes = new Uint8Array(16);
    new DataView(bytes.buffer).setUint16(0, AF_INET, true);
    bytes.set(address.split(".").map(Number), 4);
    return bytes;
  }
  const bytes = new Uint8Array(28);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, AF_INET6, true);
  for (const [index, group] of groupsOf(address).entries()) view.setUint16(8 + index * 2, group);
  return bytes;
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = "", tail] = plain.split("::");
  const read = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const first = read(head);
  const last = read(tail ?? "");
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}
