import { createHash } from "node:crypto";

/**
 * Makes the claims of one server, which tell whose they are: their first half is that of its data directory. The directory
 * has one process at a time, so whatever claims of it a process finds that has made none yet are those of a dead one.
 */
export class Claimant {
  /** 16 hexadecimal digits. */
  readonly #half: string;

  /** `place` tells the data directory from every other one, see `directoryIdentity`; null where nothing does. */
  constructor(place: string | null) {
    this.#half = createHash("sha256")
      .update(place ?? crypto.randomUUID())
      .digest("hex")
      .slice(0, 16);
  }

  /** A claim that was never made before: a uuid, by its form. */
  next(): string {
    return uuidOf(this.#half + Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex"));
  }

  /** The least and the greatest claim of this data directory. */
  get bounds(): { readonly first: string; readonly last: string } {
    return { first: uuidOf(this.#half + "0".repeat(16)), last: uuidOf(this.#half + "f".repeat(16)) };
  }
}

function uuidOf(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
