/** One remembered answer. `null` records that there is no such thing. */
interface Entry<T> {
  value: T;
  /** When the question was put, not when it was answered: the answer is at least as old. */
  askedAtMs: number;
}

/**
 * A bounded memory of answers with a short life. When full it drops the answer asked for longest ago. A clock that
 * steps backwards makes answers stale rather than everlasting.
 */
class ShortMemory<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #lifeMs: number;
  readonly #max: number;

  constructor(lifeMs: number, max: number) {
    this.#lifeMs = lifeMs;
    this.#max = max;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string, nowMs: number): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    const ageMs = nowMs - entry.askedAtMs;
    if (ageMs >= 0 && ageMs < this.#lifeMs) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: T, askedAtMs: number): void {
    this.#entries.delete(key);
    this.#entries.set(key, { value, askedAtMs });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#max) return;
      this.#entries.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}

interface LookupCacheOptions {
  now: () => number;
  lifeMs: number;
  /** Things kept. */
  max: number;
  /** Keys kept that stand for nothing, apart from the others, so that guesses push nothing out. */
  absentMax: number;
}

/**
 * Remembers for a moment what a key stands for in a store, and asks once when many ask at the same time. A failing
 * lookup is not remembered: its callers get the error and the next one asks again.
 */
export class LookupCache<T extends object> {
  readonly #now: () => number;
  readonly #known: ShortMemory<T>;
  readonly #absent: ShortMemory<null>;
  readonly #flights = new Map<string, Promise<T | null>>();

  constructor(options: LookupCacheOptions) {
    this.#now = options.now;
    this.#known = new ShortMemory(options.lifeMs, options.max);
    this.#absent = new ShortMemory(options.lifeMs, options.absentMax);
  }

  /** Answers remembered, of both kinds together. */
  get size(): number {
    return this.#known.size + this.#absent.size;
  }

  /** The remembered answer, or undefined when there is none young enough. */
  peek(key: string): T | null | undefined {
    const nowMs = this.#now();
    return this.#known.get(key, nowMs) ?? this.#absent.get(key, nowMs);
  }

  /** The remembered answer, else that of `lookup`, which runs once for all callers asking meanwhile. */
  get(key: string, lookup: () => Promise<T | null>): Promise<T | null> {
    const remembered = this.peek(key);
    if (remembered !== undefined) return Promise.resolve(remembered);
    const underWay = this.#flights.get(key);
    if (underWay !== undefined) return underWay;
    const flight = this.#fly(key, lookup);
    this.#flights.set(key, flight);
    return flight;
  }

  /** Drops the answer. A lookup under way still serves those waiting for it, but is not remembered or joined. */
  forget(key: string): void {
    this.#known.delete(key);
    this.#absent.delete(key);
    this.#flights.delete(key);
  }

  #fly(key: string, lookup: () => Promise<T | null>): Promise<T | null> {
    const askedAtMs = this.#now();
    const flight: Promise<T | null> = lookup().then(
      (value) => {
        if (!this.#land(key, flight)) return value;
        if (value === null) this.#absent.set(key, null, askedAtMs);
        else this.#known.set(key, value, askedAtMs);
        return value;
      },
      (error: unknown) => {
        this.#land(key, flight);
        throw error;
      },
    );
    return flight;
  }

  /** Ends a flight; false when the key was forgotten meanwhile, so that the answer may be out of date. */
  #land(key: string, flight: Promise<T | null>): boolean {
    return this.#flights.get(key) === flight && this.#flights.delete(key);
  }
}
