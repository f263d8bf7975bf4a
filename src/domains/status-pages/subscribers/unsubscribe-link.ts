import { createHmac, timingSafeEqual } from "node:crypto";

const TOKEN = /^([1-9]\d{0,14})\.([A-Za-z0-9_-]{43})$/;

/** Signs links that end a subscription: every mail has one, and all of them work as long as it lasts. */
export class UnsubscribeLinks {
  readonly #key: Uint8Array;
  readonly #publicUrl: string;

  constructor({ key, publicUrl }: { key: Uint8Array; publicUrl: string }) {
    this.#key = key;
    this.#publicUrl = publicUrl;
  }

  linkFor(subscriberId: number): string {
    const signature = this.#sign(subscriberId).toString("base64url");
    return `${this.#publicUrl}/api/v1/status-pages/public/unsubscribe?token=${subscriberId}.${signature}`;
  }

  /** The subscriber of a token; null for one that this server did not make. */
  read(token: string): number | null {
    const [, id, signature = ""] = TOKEN.exec(token) ?? [];
    const given = Buffer.from(signature, "base64url");
    const expected = this.#sign(Number(id));
    return given.length === expected.length && timingSafeEqual(given, expected) ? Number(id) : null;
  }

  #sign(subscriberId: number): Buffer {
    return createHmac("sha256", this.#key).update(`unsubscribe\0${subscriberId}`).digest();
  }
}
