import { isJsonObject, type JsonObject } from "../decode/json-body.ts";

/** A key of a record in the tree of all keys that a mapping may read. */
interface Node {
  readonly children: Map<string, Node>;
  /** Where it is noted that the value here was used; -1 for one that is only on the way to others. */
  slot: number;
}

const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/**
 * The places in a record that one mapping reads, and which of them gave a value to the record at hand: those are left
 * out of what remains. Serves one record at a time.
 */
export class Places {
  readonly #root: Node = { children: new Map(), slot: -1 };
  #slots = 0;
  #used = new Uint8Array(0);

  /** A place by the segments of its path. */
  add(segments: readonly string[]): Place {
    const wholes = segments.map((_, i) => segments.slice(i).join("."));
    const slots = segments.map((_, i) => this.#slotOf([...segments.slice(0, i), wholes[i] ?? ""]));
    this.#used = new Uint8Array(this.#slots);
    return new Place(segments, wholes, slots, (slot) => {
      this.#used[slot] = 1;
    });
  }

  /** Begins another record. */
  reset(): void {
    this.#used.fill(0);
  }

  /** The record without the values that were used; objects that lost some are copied, the others are the record's own. */
  rest(record: JsonObject): JsonObject {
    return this.#used.includes(1) ? this.#restOf(record, this.#root) : record;
  }

  #restOf(object: JsonObject, node: Node): JsonObject {
    const rest: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(object)) {
      const child = node.children.get(key);
      if (child === undefined) {
        keep(rest, key, value);
        continue;
      }
      if (child.slot >= 0 && this.#used[child.slot] === 1) continue;
      if (!isJsonObject(value) || child.children.size === 0) {
        keep(rest, key, value);
        continue;
      }
      const inner = this.#restOf(value, child);
      // An object of which everything was used is gone; one that was empty is still there.
      if (Object.keys(inner).length > 0 || Object.keys(value).length === 0) keep(rest, key, inner);
    }
    return rest;
  }

  #slotOf(keys: readonly string[]): number {
    let node = this.#root;
    for (const key of keys) {
      const next = node.children.get(key) ?? { children: new Map(), slot: -1 };
      node.children.set(key, next);
      node = next;
    }
    if (node.slot < 0) node.slot = this.#slots++;
    return node.slot;
  }
}

/** One path in a record. */
export class Place {
  readonly #segments: readonly string[];
  readonly #indexes: readonly number[];
  /** The rest of the path from each segment on, as one key. */
  readonly #wholes: readonly string[];
  readonly #slots: readonly number[];
  readonly #use: (slot: number) => void;
  #found = -1;

  constructor(
    segments: readonly string[],
    wholes: readonly string[],
    slots: readonly number[],
    use: (slot: number) => void,
  ) {
    this.#segments = segments;
    this.#indexes = segments.map((segment) => (INDEX.test(segment) ? Number(segment) : -1));
    this.#wholes = wholes;
    this.#slots = slots;
    this.#use = use;
  }

  /**
   * The value at the path, undefined when there is none. In every object on the way the whole rest of the path is
   * tried as one key before its first segment.
   */
  find(record: JsonObject): unknown {
    const last = this.#segments.length - 1;
    let value: unknown = record;
    for (let i = 0; i <= last; i++) {
      if (Array.isArray(value)) {
        value = value[this.#indexes[i] ?? -1];
        continue;
      }
      if (!isJsonObject(value)) return undefined;
      const whole = this.#wholes[i] ?? "";
      if (Object.hasOwn(value, whole)) {
        this.#found = this.#slots[i] ?? -1;
        return value[whole];
      }
      const segment = this.#segments[i] ?? "";
      if (i === last || !Object.hasOwn(value, segment)) return undefined;
      value = value[segment];
    }
    // The last step was into an array, which stays whole among what remains.
    this.#found = -1;
    return value;
  }

  /** Notes that the value found last was used. */
  use(): void {
    if (this.#found >= 0) this.#use(this.#found);
  }
}

/** Sets an own property of any name: `__proto__` is a key like others. */
function keep(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}
