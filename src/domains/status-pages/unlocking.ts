import { createHmac, timingSafeEqual } from "node:crypto";
import type { SecretBox } from "../../access/secret-box.ts";
import { ApiError } from "../../errors.ts";
import { addressKey } from "../../http/client-address.ts";
import type { RequestContext } from "../../http/route.ts";
import type { LoginThrottle, ThrottleSubject } from "../../identity/login-throttle.ts";
import type { PasswordHasher } from "../../identity/password-hasher.ts";
import { UNLOCKED_MS } from "./limits.ts";
import type { PublishedPage } from "./read-page.ts";

const TOKEN = /^(\d{1,11})\.([A-Za-z0-9_-]{43})$/;
/** A page is guessed at by many and known to many: it takes no more than a guess a minute, and an address some. */
const OF_PAGE = { freeFailures: 50, delayMaxMs: 60_000 };
const OF_ADDRESS = { freeFailures: 10, delayMaxMs: 15 * 60_000 };

interface UnlockingOptions {
  /** Signs cookies by a key that is known also while the database is away. */
  readonly box: Pick<SecretBox, "keyFor">;
  readonly passwords: Pick<PasswordHasher, "verify">;
  readonly throttle: LoginThrottle;
  readonly isSecure: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

type Lock = Pick<PublishedPage, "id" | "passwordHash" | "passwordVersion">;

/** Who may read a page with a password: whoever brings the cookie that the password was answered with, until it changes. */
export class Unlocking {
  readonly #options: UnlockingOptions;
  readonly #key: Uint8Array;

  constructor(options: UnlockingOptions) {
    this.#options = options;
    this.#key = options.box.keyFor("status-page-unlock");
  }

  isOpen(page: Lock, request: Request): boolean {
    if (page.passwordHash === null) return true;
    const name = `${cookieName(page)}=`;
    const pairs = (request.headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
    return pairs.some((pair) => pair.startsWith(name) && this.#isGenuine(page, pair.slice(name.length)));
  }

  /** The `Set-Cookie` value for the right password, null for a wrong one. Throws RATE_LIMITED for too many of those. */
  async unlock(page: Lock, password: string, { clientAddress }: RequestContext): Promise<string | null> {
    const { throttle, passwords } = this.#options;
    const subjects: ThrottleSubject[] = [
      { key: `page:${page.id}`, policy: OF_PAGE, onSuccess: "refund" },
      {
        key: `page-address:${page.id}:${addressKey(clientAddress)}`,
        policy: OF_ADDRESS,
        onSuccess: "refund",
      },
    ];
    const waitMs = await throttle.begin(subjects);
    if (waitMs > 0)
      throw new ApiError("RATE_LIMITED", "Too many wrong passwords; try again later.", {
        retryAfterSeconds: Math.ceil(waitMs / 1000),
      });
    let isRight: boolean;
    try {
      isRight = page.passwordHash === null || (await passwords.verify(password, page.passwordHash));
    } catch (error) {
      await throttle.withdraw(subjects);
      throw error;
    }
    if (!isRight) return null;
    await throttle.succeed(subjects);
    return this.#cookie(page);
  }

  #cookie(page: Lock): string {
    const { now, isSecure } = this.#options;
    const expiresSec = Math.floor((now() + UNLOCKED_MS) / 1000);
    const value = `${expiresSec}.${this.#sign(page, expiresSec).toString("base64url")}`;
    const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${UNLOCKED_MS / 1000}`;
    return `${cookieName(page)}=${value}; ${attributes}${isSecure ? "; Secure" : ""}`;
  }

  #isGenuine(page: Lock, value: string): boolean {
    const [, expiresSec, signature = ""] = TOKEN.exec(value) ?? [];
    if (expiresSec === undefined || Number(expiresSec) * 1000 < this.#options.now()) return false;
    const given = Buffer.from(signature, "base64url");
    const expected = this.#sign(page, Number(expiresSec));
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  #sign({ id, passwordVersion }: Lock, expiresSec: number): Buffer {
    return createHmac("sha256", this.#key).update(`page\0${id}\0${passwordVersion}\0${expiresSec}`).digest();
  }
}

/** Not `session`, which is that of people who are signed in. */
function cookieName({ id }: Lock): string {
  return `status_page_${id}`;
}
