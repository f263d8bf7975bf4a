import { EVENT_KEY_WORDS } from "./event-key.ts";
import { EventKeySet } from "./event-key-set.ts";

/** The window is kept as this many parts and dropped part by part: a key lives one window to one and a half. */
const PARTS_PER_WINDOW = 2;

export interface EventWindowOptions {
  windowMs: number;
  /** Keys held at the same time; 16 to 43 bytes of memory each. */
  maxKeys: number;
  now: () => number;
}

interface Part {
  startedAtMs: number;
  keys: EventKeySet;
}

/** Remembers the event keys of the last `windowMs` milliseconds at least, so that a repeated event is noticed. */
export class EventWindow {
  readonly #options: EventWindowOptions;
  #parts: Part[] = [];

  constructor(options: EventWindowOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#parts.reduce((sum, part) => sum + part.keys.size, 0);
  }

  /** True while another `count` keys fit. */
  hasRoomFor(count: number): boolean {
    this.#rotate();
    return this.size + count <= this.#options.maxKeys;
  }

  has(keys: Uint32Array, at: number): boolean {
    const now = this.#options.now();
    for (const part of this.#parts) if (this.#isLive(part, now) && part.keys.has(keys, at)) return true;
    return false;
  }

  /** Remembers all of `keys`, four words each. */
  addAll(keys: Uint32Array): void {
    const newest = this.#rotate();
    for (let at = 0; at < keys.length; at += EVENT_KEY_WORDS) newest.add(keys, at);
  }

  get #partMs(): number {
    return this.#options.windowMs / PARTS_PER_WINDOW;
  }

  #isLive(part: Part, now: number): boolean {
    // A part's last key came at most `#partMs` after its start.
    return now - part.startedAtMs < this.#options.windowMs + this.#partMs;
  }

  /** Drops what is older than the window and returns the part that takes new keys. */
  #rotate(): EventKeySet {
    const now = this.#options.now();
    this.#parts = this.#parts.filter((part) => this.#isLive(part, now));
    const newest = this.#parts.at(-1);
    if (newest !== undefined && now - newest.startedAtMs < this.#partMs) return newest.keys;
    const keys = new EventKeySet();
    this.#parts.push({ startedAtMs: now, keys });
    return keys;
  }
}
