import { createHmac, timingSafeEqual } from "node:crypto";

/** Who was paged for which incident. */
interface Page {
  readonly organizationId: number;
  readonly incidentId: number;
  readonly userId: number;
}

/** Longer than anybody leaves a page unanswered. */
const LIFE_MS = 7 * 24 * 60 * 60 * 1000;
const TOKEN = /^([1-9]\d{0,9})\.([1-9]\d{0,14})\.([1-9]\d{0,14})\.(\d{1,11})\.([A-Za-z0-9_-]{43})$/;

/** Signs links by which whoever was paged says that they take care of it, without signing in. */
export class AcknowledgeLinks {
  readonly #key: Uint8Array;
  readonly #publicUrl: string;
  readonly #now: () => number;

  /** `now` in milliseconds since 1970. */
  constructor({ key, publicUrl, now }: { key: Uint8Array; publicUrl: string; now: () => number }) {
    this.#key = key;
    this.#publicUrl = publicUrl;
    this.#now = now;
  }

  readonly linkFor = ({ organizationId, incidentId, userId }: Page): string => {
    const expiresSec = Math.ceil((this.#now() + LIFE_MS) / 1000);
    const content = `${organizationId}.${incidentId}.${userId}.${expiresSec}`;
    return `${this.#publicUrl}/acknowledge/${content}.${this.#sign(content).toString("base64url")}`;
  };

  /** Null for a token that this server did not make, and for one whose time is over. */
  read(token: string): Page | null {
    const [, organizationId, incidentId, userId, expiresSec, signature = ""] = TOKEN.exec(token) ?? [];
    const content = `${organizationId}.${incidentId}.${userId}.${expiresSec}`;
    const given = Buffer.from(signature, "base64url");
    const expected = this.#sign(content);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    if (Number(expiresSec) * 1000 < this.#now()) return null;
    return {
      organizationId: Number(organizationId),
      incidentId: Number(incidentId),
      userId: Number(userId),
    };
  }

  #sign(content: string): Buffer {
    return createHmac("sha256", this.#key).update(`acknowledge\0${content}`).digest();
  }
}
