import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

/** Bytes of the key: AES-256. */
export const SECRET_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";

/**
 * Encrypts what has to be read again, so that whoever holds the database alone reads nothing: AES-256-GCM with a fresh
 * nonce each time, which bounds one key to some 2^32 texts. The purpose is authenticated: what was sealed for one
 * place does not open in another.
 */
export class SecretBox {
  readonly #key: Uint8Array;

  constructor(key: Uint8Array) {
    if (key.length !== SECRET_KEY_BYTES) throw new Error(`a key has ${SECRET_KEY_BYTES} bytes`);
    this.#key = key;
  }

  /** Tells keys apart without telling anything about them. */
  get fingerprint(): string {
    return createHash("sha256").update("obs secret key\0").update(this.#key).digest("hex").slice(0, 32);
  }

  /** A key of its own for a purpose, the same for everyone who has this one: 32 bytes that tell nothing about it. */
  keyFor(purpose: string): Uint8Array {
    return new Uint8Array(hkdfSync("sha256", this.#key, "", `obs ${purpose}`, SECRET_KEY_BYTES));
  }

  seal(plaintext: string, purpose: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    cipher.setAAD(Buffer.from(purpose));
    const body = Buffer.concat([cipher.update(plaintext, "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]);
  }

  /** Throws an Error for what was not sealed with this key for this purpose, or was changed since. */
  open(sealed: Uint8Array, purpose: string): string {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error("a sealed secret is too short");
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(purpose));
    decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const body = sealed.subarray(NONCE_BYTES + TAG_BYTES);
    return decipher.update(body, undefined, "utf8") + decipher.final("utf8");
  }
}

/** The 32 bytes of a key written in base64 or as 64 hexadecimal digits; null for anything else. */
export function parseSecretKey(text: string): Uint8Array | null {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, "hex");
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return null;
  return Buffer.from(text, "base64");
}
