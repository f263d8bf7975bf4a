/** Ids count milliseconds from here: 2020-01-01T00:00:00Z. */
export const LOG_ID_EPOCH_MS = 1_577_836_800_000;

const INSTANCE_BITS = 10;
const SEQUENCE_BITS = 12;

/** How many server instances can hand out ids at the same time. */
export const INSTANCE_COUNT = 1 << INSTANCE_BITS;
/** The distance between neighbouring ids of one instance. */
export const LOG_ID_STEP = 1 << INSTANCE_BITS;

/**
 * Hands out 64-bit ids that grow with time: 42 bits of milliseconds, 12 bits of sequence, 10 bits of instance. When a
 * millisecond's 4096 numbers are used up the sequence runs into the next millisecond, so ids of one instance grow
 * strictly even when the clock stands still or steps back.
 */
export class LogIdGenerator {
  readonly #instance: bigint;
  readonly #now: () => number;
  /** Milliseconds and sequence in one number: the next free id without its instance. */
  #next = 0;

  /** `instance` must differ between instances that run at the same time. */
  constructor(instance: number, now: () => number) {
    if (!Number.isInteger(instance) || instance < 0 || instance >= INSTANCE_COUNT)
      throw new RangeError(`instance ${instance} is not between 0 and ${INSTANCE_COUNT - 1}`);
    this.#instance = BigInt(instance);
    this.#now = now;
  }

  /** Reserves `count` ids and returns the first; the others follow in steps of `LOG_ID_STEP`. */
  take(count: number): bigint {
    const first = Math.max(this.#next, (this.#now() - LOG_ID_EPOCH_MS) * 2 ** SEQUENCE_BITS);
    this.#next = first + count;
    return (BigInt(first) << BigInt(INSTANCE_BITS)) | this.#instance;
  }
}
