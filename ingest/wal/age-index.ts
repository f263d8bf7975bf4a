import { AGE_ENTRIES_MAX, AGE_RESOLUTION_MS } from "./limits.ts";

interface AgeEntry {
  /** Position at which the entry's records end. */
  end: number;
  /** When the first of them was received. */
  readonly receivedAtMs: number;
}

/**
 * When the oldest unflushed record was received, to a second. Records received within the same second share an entry;
 * when a long backlog makes too many entries, the second becomes two, then four.
 */
export class AgeIndex {
  readonly #entries: AgeEntry[] = [];
  #resolutionMs = AGE_RESOLUTION_MS;

  /** Records ending at `end`, the oldest of them received at `receivedAtMs`; in order of position. */
  add(end: number, receivedAtMs: number): void {
    const last = this.#entries.at(-1);
    if (last !== undefined && receivedAtMs < last.receivedAtMs + this.#resolutionMs) {
      last.end = end;
      return;
    }
    this.#entries.push({ end, receivedAtMs });
    if (this.#entries.length > AGE_ENTRIES_MAX) this.#halve();
  }

  /** Forgets what ends at or below `flushedThrough`. */
  advance(flushedThrough: number): void {
    const kept = this.#entries.findIndex((entry) => entry.end > flushedThrough);
    this.#entries.splice(0, kept < 0 ? this.#entries.length : kept);
    if (this.#entries.length === 0) this.#resolutionMs = AGE_RESOLUTION_MS;
  }

  get oldestMs(): number | undefined {
    return this.#entries[0]?.receivedAtMs;
  }

  #halve(): void {
    this.#resolutionMs *= 2;
    const merged: AgeEntry[] = [];
    for (const entry of this.#entries) {
      const last = merged.at(-1);
      if (last !== undefined && entry.receivedAtMs < last.receivedAtMs + this.#resolutionMs)
        last.end = entry.end;
      else merged.push(entry);
    }
    this.#entries.splice(0, this.#entries.length, ...merged);
  }
}
