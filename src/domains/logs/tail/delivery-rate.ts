import { QUEUE_MAX_ENTRIES, READER_ENTRIES_PER_SECOND, SERVER_ENTRIES_PER_SECOND } from "./limits.ts";

/** What was not used is kept for so long. */
const KEPT_SECONDS = 1;
/** A reader that has used up its rate waits for so much of a second's: a few gaps are better to read than many. */
const REOPEN_SECONDS = 0.25;

/** A number that grows with time, up to a bound, and is taken from. */
class Allowance {
  #left: number;
  #atMs: number;

  constructor(left: number, nowMs: number) {
    this.#left = left;
    this.#atMs = nowMs;
  }

  earn(perSecond: number, most: number, nowMs: number): number {
    this.#left = Math.min(most, this.#left + ((nowMs - this.#atMs) * perSecond) / 1000);
    this.#atMs = nowMs;
    return this.#left;
  }

  spend(count: number): void {
    this.#left -= count;
  }
}

/** How many entries a second the readers of a server get: each no more than it could use, all what the server can give. */
export class DeliveryRates {
  readonly #monotonicMs: () => number;
  readonly #all: Allowance;
  #readers = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#all = new Allowance(SERVER_ENTRIES_PER_SECOND * KEPT_SECONDS, monotonicMs());
  }

  /** For one reader, until it is closed. */
  open(): DeliveryRate {
    this.#readers++;
    return new DeliveryRate(this);
  }

  close(): void {
    this.#readers--;
  }

  get nowMs(): number {
    return this.#monotonicMs();
  }

  /** Of all readers alike, what one may have whatever the others take. */
  get fairShare(): number {
    return SERVER_ENTRIES_PER_SECOND / Math.max(1, this.#readers);
  }

  get left(): number {
    return this.#all.earn(SERVER_ENTRIES_PER_SECOND, SERVER_ENTRIES_PER_SECOND * KEPT_SECONDS, this.nowMs);
  }

  spend(count: number): void {
    // What fair shares take beyond it has to be earned first, as far as they can go together.
    this.#all.spend(Math.min(count, this.left + SERVER_ENTRIES_PER_SECOND * KEPT_SECONDS));
  }
}

/** Of one reader. */
export class DeliveryRate {
  readonly #rates: DeliveryRates;
  readonly #own: Allowance;
  readonly #fair: Allowance;
  #isUsedUp = false;

  constructor(rates: DeliveryRates) {
    this.#rates = rates;
    this.#own = new Allowance(QUEUE_MAX_ENTRIES, rates.nowMs);
    this.#fair = new Allowance(rates.fairShare * KEPT_SECONDS, rates.nowMs);
  }

  /** Takes as many of so many entries as it may now, and answers their number. */
  take(wanted: number): number {
    const { nowMs, fairShare, left } = this.#rates;
    const own = this.#own.earn(READER_ENTRIES_PER_SECOND, QUEUE_MAX_ENTRIES, nowMs);
    const fair = this.#fair.earn(fairShare, fairShare * KEPT_SECONDS, nowMs);
    const available = Math.floor(Math.min(own, Math.max(fair, left)));
    const enough = Math.min(READER_ENTRIES_PER_SECOND, fairShare) * REOPEN_SECONDS;
    if (this.#isUsedUp && available < enough) return 0;
    const taken = Math.max(0, Math.min(wanted, available));
    this.#isUsedUp = taken < wanted;
    this.#own.spend(taken);
    this.#fair.spend(Math.min(taken, Math.max(0, fair)));
    this.#rates.spend(taken);
    return taken;
  }

  close(): void {
    this.#rates.close();
  }
}
