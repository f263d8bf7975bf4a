import { DEDUPE_ALWAYS_MS } from "../limits.ts";
import { EVENT_KEY_WORDS } from "./event-key.ts";
import { EventKeySet } from "./event-key-set.ts";
import { isSpan } from "./request-keys.ts";

/**
 * Keys are forgotten in parts of this share of the window, or of what memory holds: a key lives one window to one and a
 * quarter, and memory that is full gives up a quarter of it. Each part is one more table to look into.
 */
const PARTS_PER_WINDOW = 4;

interface EventWindowOptions {
  windowMs: number;
  /** Keys held at the same time; see `EventKeySet` for the memory of each. */
  maxKeys: number;
  /** Milliseconds since 1970. */
  now: () => number;
}

interface Part {
  readonly startedAtMs: number;
  newestMs: number;
  readonly keys: EventKeySet;
}

/**
 * Remembers the event keys of the last `windowMs` milliseconds, so that a repeated event is noticed. When more than
 * `maxKeys` arrive within it the oldest are forgotten, but never one that came within `DEDUPE_ALWAYS_MS`: then there
 * is no room.
 */
export class EventWindow {
  readonly #options: EventWindowOptions;
  /** Oldest first, never empty of the newest. */
  #parts: Part[] = [];
  /** The newest key that was forgotten before its time. */
  #forgottenThroughMs = Number.NEGATIVE_INFINITY;

  constructor(options: EventWindowOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#parts.reduce((sum, part) => sum + part.keys.size, 0);
  }

  /** Whatever was remembered at this time or later still is, milliseconds since 1970. */
  get sinceMs(): number {
    const { now, windowMs } = this.#options;
    return Math.max(now() - windowMs, this.#forgottenThroughMs + 1);
  }

  /** How far back that is. */
  get reachMs(): number {
    return this.#options.now() - this.sinceMs;
  }

  /** True while another `count` keys fit; forgets the oldest for them where that may be. */
  hasRoomFor(count: number): boolean {
    const { maxKeys, now, windowMs } = this.#options;
    this.#dropExpired();
    if (count > maxKeys) return false;
    while (this.size + count > maxKeys) {
      const [oldest] = this.#parts;
      if (oldest === undefined || now() - oldest.newestMs <= Math.min(windowMs, DEDUPE_ALWAYS_MS))
        return false;
      this.#forgetOldest();
    }
    return true;
  }

  has(keys: Uint32Array, at: number): boolean {
    const now = this.#options.now();
    for (const part of this.#parts) if (this.#isLive(part, now) && part.keys.has(keys, at)) return true;
    return false;
  }

  /** Remembers all of `keys`, four words each, as long as there is room for them. */
  addAll(keys: Uint32Array): void {
    this.#add(keys, this.#options.now());
  }

  /** Remembers keys that came at `atMs`, before this process; of more than there is room for, those that come last. */
  restore(keys: Uint32Array, atMs: number): void {
    while (this.size + keys.length / EVENT_KEY_WORDS > this.#options.maxKeys && this.#parts.length > 1)
      this.#forgetOldest();
    this.#add(keys, atMs);
  }

  #add(keys: Uint32Array, atMs: number): void {
    const part = this.#partFor(atMs);
    for (let at = 0; at < keys.length; at += EVENT_KEY_WORDS) if (!isSpan(keys, at)) part.keys.add(keys, at);
    part.newestMs = Math.max(part.newestMs, atMs);
  }

  /** The part that takes keys of this time. */
  #partFor(atMs: number): Part {
    const { windowMs, maxKeys } = this.#options;
    this.#dropExpired();
    const newest = this.#parts.at(-1);
    const isOpen =
      newest !== undefined &&
      atMs - newest.startedAtMs < windowMs / PARTS_PER_WINDOW &&
      newest.keys.size < maxKeys / PARTS_PER_WINDOW;
    if (isOpen) return newest;
    // As many as in the one before, if the rate stays what it is.
    const part = { startedAtMs: atMs, newestMs: atMs, keys: new EventKeySet(newest?.keys.size) };
    this.#parts.push(part);
    return part;
  }

  #isLive(part: Part, now: number): boolean {
    return now - part.newestMs <= this.#options.windowMs;
  }

  #dropExpired(): void {
    const now = this.#options.now();
    if (this.#parts.every((part) => this.#isLive(part, now))) return;
    this.#parts = this.#parts.filter((part) => this.#isLive(part, now));
  }

  #forgetOldest(): void {
    const oldest = this.#parts.shift();
    if (oldest !== undefined) this.#forgottenThroughMs = Math.max(this.#forgottenThroughMs, oldest.newestMs);
  }
}
