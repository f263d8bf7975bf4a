/** Ids count milliseconds from here: 2020-01-01T00:00:00Z. */
export const LOG_ID_EPOCH_MS = 1_577_836_800_000;

const INSTANCE_BITS = 10;
const SEQUENCE_BITS = 12;

/** How many server instances can hand out ids at the same time. */
export const INSTANCE_COUNT = 1 << INSTANCE_BITS;
/** The distance between neighbouring ids of one instance. */
export const LOG_ID_STEP = 1 << INSTANCE_BITS;

/** No id that the instance makes from this moment on, milliseconds since 1970, is below. */
export function firstLogIdAt(atMs: number, instance: number): bigint {
  return (BigInt(Math.max(0, sequenceAt(Math.trunc(atMs)))) << BigInt(INSTANCE_BITS)) | BigInt(instance);
}

/** When an id was made, in milliseconds since 1970 by the clock of its maker. */
export function logIdMs(id: bigint): number {
  return Number(id >> BigInt(INSTANCE_BITS + SEQUENCE_BITS)) + LOG_ID_EPOCH_MS;
}

function sequenceAt(atMs: number): number {
  return (atMs - LOG_ID_EPOCH_MS) * 2 ** SEQUENCE_BITS;
}

/** The number of a server among those that run at the same time, from 0 to 1023; null while it has none. */
export type InstanceNumber = number | (() => number | null);

/**
 * Hands out 64-bit ids that grow with time: 42 bits of milliseconds, 12 bits of sequence, 10 bits of instance. When a
 * millisecond's 4096 numbers are used up the sequence runs into the next millisecond, so ids of one instance grow
 * strictly even when the clock stands still or steps back.
 */
export class LogIdGenerator {
  readonly #instance: () => number | null;
  readonly #now: () => number;
  /** Milliseconds and sequence in one number: the next free id without its instance. */
  #next: number;
  /** The number of the latest ids, which `mark` takes when there is none. */
  #lastInstance = 0;

  /** `instance` must differ between instances that run at the same time. */
  constructor(instance: InstanceNumber, now: () => number) {
    this.#instance = typeof instance === "number" ? () => instance : instance;
    this.#now = now;
    // A clock that steps back does not lead below the moment from which on the number is this server's.
    this.#next = sequenceAt(now());
    this.#lastInstance = this.#currentInstance() ?? 0;
  }

  /** Whether there is a number to make ids with. */
  get isReady(): boolean {
    return this.#currentInstance() !== null;
  }

  /** Reserves `count` ids and returns the first; the others follow in steps of `LOG_ID_STEP`. Throws without a number. */
  take(count: number): bigint {
    const instance = this.#currentInstance();
    if (instance === null) throw new Error("the server has no number to make ids with");
    // So that `mark` is never below an id that was made with a greater number.
    if (instance !== this.#lastInstance) this.#next += 1;
    this.#lastInstance = instance;
    const first = this.#nextFree();
    this.#next = first + count;
    return this.#idOf(first);
  }

  /** Above every id that was taken, and not above any that will be. */
  mark(): bigint {
    this.#next = this.#nextFree();
    return this.#idOf(this.#next);
  }

  #nextFree(): number {
    return Math.max(this.#next, sequenceAt(this.#now()));
  }

  #idOf(first: number): bigint {
    return (BigInt(first) << BigInt(INSTANCE_BITS)) | BigInt(this.#lastInstance);
  }

  #currentInstance(): number | null {
    const instance = this.#instance();
    if (instance !== null && (!Number.isInteger(instance) || instance < 0 || instance >= INSTANCE_COUNT))
      throw new RangeError(`instance ${instance} is not between 0 and ${INSTANCE_COUNT - 1}`);
    return instance;
  }
}
