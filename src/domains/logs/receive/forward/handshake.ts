import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const NONCE_BYTES = 16;
/** What this server calls itself. */
const SERVER = "obs";

/**
 * The handshake of Fluentd's forward protocol: whoever connects proves that it knows the shared key, and so does the
 * server. Source: Fluentd, "Forward Protocol Specification v1", "Handshake Messages".
 */
export class Handshake {
  readonly #sharedKey: string;
  readonly #nonce = randomBytes(NONCE_BYTES);

  constructor(sharedKey: string) {
    this.#sharedKey = sharedKey;
  }

  /** What the server says first. */
  hello(): unknown {
    return ["HELO", { nonce: new Uint8Array(this.#nonce), auth: "", keepalive: true }];
  }

  /** Judges the client's answer. */
  answer(message: unknown): { readonly isValid: boolean; readonly pong: unknown } {
    const [kind, hostname, salt, digest]: readonly unknown[] = Array.isArray(message) ? message : [];
    const expected = this.#digest(salt, hostname);
    const isValid =
      kind === "PING" && typeof digest === "string" && expected !== null && isSame(digest, expected);
    const proof = isValid ? this.#digest(salt, SERVER) : "";
    return { isValid, pong: ["PONG", isValid, isValid ? "" : "shared_key mismatch", SERVER, proof] };
  }

  /** Null for what cannot be part of one. */
  #digest(salt: unknown, hostname: unknown): string | null {
    if ((typeof salt !== "string" && !(salt instanceof Uint8Array)) || typeof hostname !== "string")
      return null;
    return createHash("sha512")
      .update(salt)
      .update(hostname)
      .update(this.#nonce)
      .update(this.#sharedKey)
      .digest("hex");
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
