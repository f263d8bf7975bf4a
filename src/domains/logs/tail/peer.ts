import type { DeliveryRates } from "./delivery-rate.ts";
import type { Hello, Interest, LetterBody } from "./fan-out-messages.ts";
import { INTERESTS_MAX, LETTERS_MAX_CHARS } from "./limits.ts";
import { PeerReader } from "./peer-reader.ts";
import { readFilterKey } from "./read-filter.ts";
import type { TailHub } from "./tail-hub.ts";

interface PeerOptions {
  readonly hub: TailHub;
  readonly rates: DeliveryRates;
  /** Publishes a letter to the other server. */
  readonly post: (body: LetterBody, epoch: number, number: number) => Promise<unknown>;
  /** Resolves with the mark of this moment once the store has everything up to it. */
  readonly storedMark: () => Promise<bigint>;
}

interface Wish {
  readonly reader: PeerReader;
  readonly leave: () => void;
  readonly streams: Set<number>;
}

/** Another server as one whose streams want entries of this one. */
export class Peer {
  readonly #options: PeerOptions;
  readonly #wishes = new Map<string, Wish>();
  #epoch = 0;
  #number = 0;
  #charsUnderWay = 0;

  constructor(options: PeerOptions) {
    this.#options = options;
  }

  /** Takes over what the other server wants now. */
  hear({ epoch, interests }: Hello): void {
    if (epoch !== this.#epoch) this.leave();
    this.#epoch = epoch;
    const wanted = new Map<string, Interest[]>();
    for (const interest of interests.slice(0, INTERESTS_MAX)) {
      const name = `${interest.organizationId} ${interest.key}`;
      wanted.set(name, [...(wanted.get(name) ?? []), interest]);
    }
    for (const [name, wish] of this.#wishes) {
      if (wanted.has(name)) continue;
      wish.leave();
      this.#wishes.delete(name);
    }
    for (const [name, same] of wanted) this.#wish(name, same);
  }

  /** Sends nothing any more. */
  leave(): void {
    for (const wish of this.#wishes.values()) wish.leave();
    this.#wishes.clear();
    this.#number = 0;
  }

  #wish(name: string, same: readonly Interest[]): void {
    const [first] = same;
    if (first === undefined) return;
    const wish = this.#wishes.get(name) ?? this.#begin(first);
    if (wish === null) return;
    this.#wishes.set(name, wish);
    const known = new Set(wish.streams);
    wish.streams.clear();
    for (const { stream } of same) {
      wish.streams.add(stream);
      // Rejects when this server stops: then there is nothing to confirm.
      if (!known.has(stream)) this.#confirm(stream, this.#epoch).catch(() => undefined);
    }
  }

  /** Null for a filter that this server does not understand. */
  #begin({ organizationId, key }: Interest): Wish | null {
    const { hub, rates } = this.#options;
    try {
      const filter = readFilterKey(key);
      const rate = rates.open();
      const reader = new PeerReader({ organizationId, key, rate, send: (letter) => this.#send(letter) });
      const remove = hub.add(organizationId, filter, reader);
      const leave = (): void => {
        remove();
        rate.close();
      };
      return { reader, leave, streams: new Set() };
    } catch {
      return null;
    }
  }

  /** Everything after the mark is sent; says so when everything before it is in the store. */
  async #confirm(stream: number, epoch: number): Promise<void> {
    const mark = await this.#options.storedMark();
    if (epoch === this.#epoch) this.#send({ type: "stored", stream, mark: mark.toString() });
  }

  #send(letter: LetterBody): boolean {
    const chars =
      letter.type === "entries" ? letter.entries.reduce((sum, [, json]) => sum + json.length, 0) : 0;
    if (this.#charsUnderWay + chars > LETTERS_MAX_CHARS) return false;
    this.#charsUnderWay += chars;
    // A letter that does not arrive leaves a hole in the numbers, upon which the other server begins anew.
    this.#options
      .post(letter, this.#epoch, ++this.#number)
      .catch(() => undefined)
      .finally(() => {
        this.#charsUnderWay -= chars;
      });
    return true;
  }
}
