const SPACE = 0x20;
const INITIAL_BYTES = 16 * 1024;
/** Room for the length in front of a frame: ten digits and two blanks. */
const OVERHEAD_BYTES = 12;

const encoder = new TextEncoder();

/**
 * Messages of syslog from several senders as one body: framed by octet counting, each message with its sender's address
 * and a blank in front. What `SyslogDecoder` takes apart.
 */
export class RelayedFrames {
  #bytes = new Uint8Array(INITIAL_BYTES);
  #length = 0;
  #count = 0;

  /** Bytes of the body so far. */
  get length(): number {
    return this.#length;
  }

  /** Messages in it. */
  get count(): number {
    return this.#count;
  }

  add(peer: string, message: Uint8Array): void {
    const head = encoder.encode(`${peer.length + 1 + message.length} ${peer} `);
    this.#reserve(head.length + message.length + OVERHEAD_BYTES);
    this.#bytes.set(head, this.#length);
    this.#bytes.set(message, this.#length + head.length);
    this.#length += head.length + message.length;
    this.#count++;
  }

  /** The body. It is not changed by frames that are added later. */
  take(): Uint8Array {
    const body = this.#bytes.subarray(0, this.#length);
    this.#bytes = new Uint8Array(INITIAL_BYTES);
    this.#length = 0;
    this.#count = 0;
    return body;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}

/** Where the message begins behind its sender's address. */
export function endOfPeer(body: Uint8Array, start: number): number {
  return body.indexOf(SPACE, start);
}
