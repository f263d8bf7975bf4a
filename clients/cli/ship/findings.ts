import { FINDINGS_VALUES_MAX } from "../limits.ts";
import type { ShippedEntry } from "./entry-session.ts";

/** A span of time, in milliseconds since 1970, both ends included. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Values and how many entries have them; of too many different ones only the first are told apart. */
export type ValueCounts = ReadonlyMap<string, number>;

/** What stands in the entries that were sent. */
export class Findings {
  readonly #levels = new Map<string, number>();
  readonly #services = new Map<string, number>();
  readonly #sources = new Map<string, number>();
  #span: TimeSpan | null = null;
  #entries = 0;
  #timed = 0;
  #withoutZone = 0;

  add({ level, service, source, timeMs, timesWithoutZone }: ShippedEntry): void {
    this.#entries++;
    this.#withoutZone += timesWithoutZone;
    if (level !== null) count(this.#levels, level, 1);
    if (service !== null) count(this.#services, service, 1);
    if (source !== null) count(this.#sources, source, 1);
    if (timeMs === null) return;
    this.#timed++;
    const span = this.#span;
    if (span === null || timeMs < span.fromMs || timeMs > span.toMs)
      this.#span = widest(span, { fromMs: timeMs, toMs: timeMs });
  }

  merge(other: Findings): void {
    this.#entries += other.#entries;
    this.#timed += other.#timed;
    this.#withoutZone += other.#withoutZone;
    for (const [value, times] of other.#levels) count(this.#levels, value, times);
    for (const [value, times] of other.#services) count(this.#services, value, times);
    for (const [value, times] of other.#sources) count(this.#sources, value, times);
    if (other.#span !== null) this.#span = widest(this.#span, other.#span);
  }

  get entries(): number {
    return this.#entries;
  }

  /** Entries that have no time of their own: their time is that of receipt. */
  get untimed(): number {
    return this.#entries - this.#timed;
  }

  /** Times that named no zone. */
  get timesWithoutZone(): number {
    return this.#withoutZone;
  }

  /** Between which times those lie that have one of their own; null where none has. */
  get span(): TimeSpan | null {
    return this.#span;
  }

  get levels(): ValueCounts {
    return this.#levels;
  }

  get services(): ValueCounts {
    return this.#services;
  }

  get sources(): ValueCounts {
    return this.#sources;
  }
}

/** The span around both. */
export function widest(a: TimeSpan | null, b: TimeSpan): TimeSpan {
  return a === null ? b : { fromMs: Math.min(a.fromMs, b.fromMs), toMs: Math.max(a.toMs, b.toMs) };
}

function count(counts: Map<string, number>, value: string, times: number): void {
  const known = counts.get(value);
  if (known !== undefined) counts.set(value, known + times);
  else if (counts.size < FINDINGS_VALUES_MAX) counts.set(value, times);
}
