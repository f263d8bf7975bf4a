import { ApiError } from "../errors.ts";
import {
  ARGON2_MEMORY_KIB,
  ARGON2_TIME_COST,
  PASSWORD_QUEUE_MAX,
  PASSWORD_QUEUE_RETRY_AFTER_SECONDS,
} from "./limits.ts";

/** The one-way function under the hasher; tests count its calls. */
export interface PasswordAlgorithm {
  hash(password: string): Promise<string>;
  verify(password: string, hash: string): Promise<boolean>;
}

interface PasswordHasherOptions {
  /** Hashes computed at the same time; one per core, as each keeps a core busy. */
  concurrency: number;
  /** Callers waiting for a turn before others are refused. */
  maxWaiting?: number;
  algorithm?: PasswordAlgorithm;
}

export const argon2id: PasswordAlgorithm = {
  hash: (password) =>
    Bun.password.hash(password, {
      algorithm: "argon2id",
      memoryCost: ARGON2_MEMORY_KIB,
      timeCost: ARGON2_TIME_COST,
    }),
  verify: (password, hash) => Bun.password.verify(password, hash, "argon2id"),
};

/**
 * The hash of a random password nobody knows, with the costs of every other hash. Verifying against it makes an
 * unknown account take as long as a wrong password.
 */
export const DUMMY_PASSWORD_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$pbry1dZGzwvajmSjNQ9c7V5lEjwsCl76OU6ENiydPhs$irz3CRTQ4VFyLySIG90kXGGaaejrjR0ZTdZqz1iNTWo";

/**
 * Hashes and verifies passwords, exactly as given, a bounded number at a time. A caller that finds the queue
 * full gets UNAVAILABLE rather than adding to the pile.
 */
export class PasswordHasher {
  readonly #algorithm: PasswordAlgorithm;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #freeLanes: number;

  constructor(options: PasswordHasherOptions) {
    this.#algorithm = options.algorithm ?? argon2id;
    this.#maxWaiting = options.maxWaiting ?? PASSWORD_QUEUE_MAX;
    this.#freeLanes = options.concurrency;
  }

  hash(password: string): Promise<string> {
    return this.#inLane(() => this.#algorithm.hash(password));
  }

  /**
   * True when the password made the hash. Null stands for an account that does not exist or has no password: the
   * work is done all the same, and the answer is false.
   */
  async verify(password: string, hash: string | null): Promise<boolean> {
    const matches = await this.#inLane(() => this.#algorithm.verify(password, hash ?? DUMMY_PASSWORD_HASH));
    return matches && hash !== null;
  }

  async #inLane<T>(work: () => Promise<T>): Promise<T> {
    if (this.#freeLanes > 0) {
      this.#freeLanes -= 1;
    } else {
      await this.#turn();
    }
    try {
      return await work();
    } finally {
      // The lane passes straight to the next caller, so that a newcomer cannot slip in between.
      const next = this.#waiting.shift();
      if (next === undefined) this.#freeLanes += 1;
      else next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.length >= this.#maxWaiting) {
      throw new ApiError("UNAVAILABLE", "Too many people are signing in at this moment; try again shortly.", {
        retryAfterSeconds: PASSWORD_QUEUE_RETRY_AFTER_SECONDS,
      });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
