import type { FairShare } from "../concurrency/fair-share.ts";
import type { Part } from "./part.ts";

/** What is measured of the process at one moment. */
export interface ProcessUse {
  /** A clock that never goes back, milliseconds. */
  readonly atMs: number;
  /** CPU time of all threads so far, milliseconds. */
  readonly cpuMs: number;
  readonly residentBytes: number;
  /** Bytes of bodies of requests that are not answered yet. */
  readonly bodyBytes: number;
  /** Bytes of bodies of all requests so far. */
  readonly receivedBytes: number;
}

interface IdleCollectionOptions {
  readonly read: () => ProcessUse;
  /** Collects what nobody uses; nothing else runs meanwhile. */
  readonly collect: () => void;
  /** Gives back besides what can be made again: code that was compiled, and room that was kept for more. */
  readonly shrink: () => void;
}

/** How often is looked whether there is something to give back. */
export const LOOK_EVERY_MS = 2_000;
/** A process that has used less than this share of one core since the last look is idle: nobody waits for it. */
const IDLE_CPU_SHARE = 0.4;
/** While so much of bodies is held, whoever sends them waits, and more than a little of them is done on other threads or not yet. */
const AWAITED_BYTES = 1024 * 1024;
/** The longest time for which that puts off a collection: a body may trickle for longer. */
const AWAITED_MAX_MS = 60_000;
/** Whoever has sent so much since the last look is at work, little as it is for the process, and waits while it is held. */
const RECEIVING_BYTES = 1024 * 1024;
/** The shortest time between two collections while somebody sends: of a thousand requests hardly one is held then. */
const RECEIVING_PAUSE_MS = 120_000;
/** Growth that is worth a collection, which holds the thread for tens of milliseconds, behind a load for a hundred and more. */
const WORTH_BYTES = 8 * 1024 * 1024;
/** The shortest time between two collections. */
const PAUSE_MS = 8_000;
/** A process that has used less than this share of one core for so long rests: what work compiles again is not missed meanwhile. */
const RESTING_CPU_SHARE = 0.1;
const REST_MS = 10_000;
/** Growth since a rest that is worth another one: some 150 ms of CPU time when work begins again. */
const WORTH_REST_BYTES = 16 * 1024 * 1024;

/**
 * Gives back the memory that a load leaves behind. The engine collects when enough new has been allocated, so after the last of a
 * load it would keep the garbage until the next one.
 */
export class IdleCollection implements Part {
  readonly #options: IdleCollectionOptions;
  #timer: Timer | undefined;
  #lastLook: ProcessUse | null = null;
  /** Of the first look. */
  #beganMs = 0;
  /** After the last collection; of a process that has just started everything is new. */
  #kept: { readonly atMs: number; readonly bytes: number } | null = null;
  #restedMs = 0;
  /** Since when bodies have been held at every look; null when none are. */
  #awaitedSinceMs: number | null = null;
  /** The least there was since the last rest. */
  #shrunkBytes: number | null = null;

  constructor(options: IdleCollectionOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
  }

  look(): void {
    const { read, collect } = this.#options;
    const now = read();
    const last = this.#lastLook;
    this.#lastLook = now;
    if (last === null) {
      this.#beganMs = now.atMs;
      return;
    }
    const passedMs = now.atMs - last.atMs;
    const workedMs = now.cpuMs - last.cpuMs;
    const isAwaited = this.#isAwaited(now);
    this.#restedMs = isAwaited || workedMs > RESTING_CPU_SHARE * passedMs ? 0 : this.#restedMs + passedMs;
    if (this.#isRestWorth(now)) {
      this.#options.shrink();
      // What it gives back is gone at the next look.
      this.#shrunkBytes = now.residentBytes;
    }
    if (isAwaited || workedMs > IDLE_CPU_SHARE * passedMs) return;
    const isReceiving = now.receivedBytes - last.receivedBytes >= RECEIVING_BYTES;
    if (isReceiving && now.atMs - (this.#kept?.atMs ?? this.#beganMs) < RECEIVING_PAUSE_MS) return;
    if (this.#kept !== null) {
      if (now.atMs - this.#kept.atMs < PAUSE_MS) return;
      // Pages may have gone without us, and what comes after that is new again.
      if (now.residentBytes < this.#kept.bytes) this.#kept = { ...this.#kept, bytes: now.residentBytes };
      if (now.residentBytes - this.#kept.bytes < WORTH_BYTES) return;
    }
    collect();
    // Its own CPU time is not work.
    this.#lastLook = read();
    this.#kept = { atMs: this.#lastLook.atMs, bytes: this.#lastLook.residentBytes };
  }

  #isAwaited({ atMs, bodyBytes }: ProcessUse): boolean {
    this.#awaitedSinceMs = bodyBytes < AWAITED_BYTES ? null : (this.#awaitedSinceMs ?? atMs);
    return this.#awaitedSinceMs !== null && atMs - this.#awaitedSinceMs < AWAITED_MAX_MS;
  }

  #isRestWorth({ residentBytes }: ProcessUse): boolean {
    if (this.#shrunkBytes !== null) this.#shrunkBytes = Math.min(this.#shrunkBytes, residentBytes);
    if (this.#restedMs < REST_MS) return false;
    return this.#shrunkBytes === null || residentBytes - this.#shrunkBytes >= WORTH_REST_BYTES;
  }
}

/** Of this process, but for what it is told. */
export function processUse(bodies: Pick<FairShare, "used" | "taken">): ProcessUse {
  const { user, system } = process.cpuUsage();
  return {
    atMs: performance.now(),
    cpuMs: (user + system) / 1000,
    residentBytes: process.memoryUsage.rss(),
    bodyBytes: bodies.used,
    receivedBytes: bodies.taken,
  };
}
