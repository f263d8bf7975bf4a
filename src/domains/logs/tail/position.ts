import { INSTANCE_COUNT, LOG_ID_EPOCH_MS } from "../../../../ingest/index.ts";
import { POSITION_MAX_SOURCES } from "./limits.ts";

/** The bits of an id below its milliseconds. */
const BITS_BELOW_MS = 22n;
const SOURCE_MASK = BigInt(INSTANCE_COUNT - 1);
const LARGEST_ID = 2n ** 63n - 1n;
const PART = /^[0-9a-z]{1,13}$/;

/** The server that gave out an id, by its number. */
export function sourceOf(id: bigint): number {
  return Number(id & SOURCE_MASK);
}

/** When an id was given out, in milliseconds since 1970. */
export function epochMsOf(id: bigint): number {
  return Number(id >> BITS_BELOW_MS) + LOG_ID_EPOCH_MS;
}

/** An id below all of a millisecond since 1970. */
export function idBefore(epochMs: number): bigint {
  const ms = epochMs - LOG_ID_EPOCH_MS;
  return ms <= 0 ? 0n : (BigInt(ms) << BITS_BELOW_MS) - 1n;
}

/**
 * How far a reader has come. The ids of one server grow in the order in which its entries became durable, those of
 * several do not: so there is one id for each server, and one for all that are not named. An entry is ahead of the
 * reader exactly when its id is above the one of its server. As text it is the `id:` of an event.
 */
export class TailPosition {
  #floor: bigint;
  readonly #sources: Map<number, bigint>;
  /** The text without the source that moved last, which is most often the one to move next. */
  #text: { readonly source: number; readonly others: string } | undefined;

  private constructor(floor: bigint, sources: Map<number, bigint>) {
    this.#floor = floor;
    this.#sources = sources;
  }

  /** Before everything that comes from now on. `localId` is an id below all that this server will give out. */
  static at(epochMs: number, localId: bigint): TailPosition {
    return new TailPosition(idBefore(epochMs), new Map([[sourceOf(localId), localId]]));
  }

  /** Null for a text that is not a position. */
  static parse(text: string): TailPosition | null {
    const parts = text.split("-");
    if (parts.length > POSITION_MAX_SOURCES + 1 || !parts.every((part) => PART.test(part))) return null;
    const [floor = 0n, ...ids] = parts.map(parseBase36);
    if ([floor, ...ids].some((id) => id > LARGEST_ID)) return null;
    const sources = new Map(ids.map((id) => [sourceOf(id), id]));
    return sources.size === ids.length ? new TailPosition(floor, sources) : null;
  }

  /** An id at or below which nothing is ahead. */
  get lowest(): bigint {
    return smallest([this.#floor, ...this.#sources.values()]);
  }

  isAhead(id: bigint): boolean {
    return id > (this.#sources.get(sourceOf(id)) ?? this.#floor);
  }

  /** Puts everything of the id's server up to this id behind the reader. */
  pass(id: bigint): void {
    const source = sourceOf(id);
    if (id <= (this.#sources.get(source) ?? -1n)) return;
    if (!this.#sources.has(source)) this.#text = undefined;
    this.#sources.set(source, id);
    if (this.#text?.source !== source) this.#text = undefined;
    if (this.#sources.size > POSITION_MAX_SOURCES) this.#forgetOldest();
  }

  /**
   * Puts everything up to this id behind the reader, also of servers it has not heard of, and forgets those that
   * have come no further, `keep` excepted.
   */
  raiseFloor(id: bigint, keep: number): void {
    if (id <= this.#floor) return;
    this.#floor = id;
    for (const [source, passed] of this.#sources)
      if (passed <= id && source !== keep) this.#sources.delete(source);
    this.#text = undefined;
  }

  copy(): TailPosition {
    return new TailPosition(this.#floor, new Map(this.#sources));
  }

  /** The text as it will be when `id` is passed. */
  textAt(id: bigint): string {
    const source = sourceOf(id);
    if (this.#text?.source !== source) {
      const others = [...this.#sources].filter(([other]) => other !== source).map(([, passed]) => passed);
      this.#text = { source, others: [this.#floor, ...others].map((part) => part.toString(36)).join("-") };
    }
    return `${this.#text.others}-${id.toString(36)}`;
  }

  toString(): string {
    return [this.#floor, ...this.#sources.values()].map((part) => part.toString(36)).join("-");
  }

  #forgetOldest(): void {
    const oldest = smallest([...this.#sources.values()]);
    this.#sources.delete(sourceOf(oldest));
    if (oldest > this.#floor) this.#floor = oldest;
    this.#text = undefined;
  }
}

/** Of at least one. */
function smallest(ids: readonly bigint[]): bigint {
  return ids.toSorted((left, right) => (left < right ? -1 : 1))[0] ?? 0n;
}

function parseBase36(text: string): bigint {
  let value = 0n;
  for (const digit of text) value = value * 36n + BigInt(Number.parseInt(digit, 36));
  return value;
}
