import type { DeliveryRate } from "./delivery-rate.ts";
import type { LetterBody } from "./fan-out-messages.ts";
import { LETTER_MAX_CHARS } from "./limits.ts";
import type { MatchedEntries, TailEntry } from "./tail-filter.ts";
import type { TailReader } from "./tail-hub.ts";

interface PeerReaderOptions {
  readonly organizationId: number;
  /** Of the filter. */
  readonly key: string;
  readonly rate: DeliveryRate;
  /** False when there is no room for it. */
  readonly send: (letter: LetterBody) => boolean;
}

/** Sends entries to the streams of another server. */
export class PeerReader implements TailReader {
  readonly #options: PeerReaderOptions;
  #lost = 0;

  constructor(options: PeerReaderOptions) {
    this.#options = options;
  }

  deliver({ count, first }: MatchedEntries): void {
    let part: TailEntry[] = [];
    let chars = 0;
    const taken = this.#options.rate.take(count);
    this.#lost += count - taken;
    for (const entry of first(taken)) {
      part.push(entry);
      chars += entry.json.length;
      if (chars < LETTER_MAX_CHARS) continue;
      this.#sendPart(part);
      part = [];
      chars = 0;
    }
    if (part.length > 0 || this.#lost > 0) this.#sendPart(part);
  }

  lose(count: number): void {
    this.#lost += count;
    this.#sendPart([]);
  }

  askStore(): void {
    this.#sendPart([], true);
  }

  #sendPart(entries: readonly TailEntry[], isUndecided = false): void {
    const { organizationId, key, send } = this.#options;
    const isSent = send({
      type: "entries",
      organizationId,
      key,
      entries: entries.map(({ id, json }) => [id.toString(), json]),
      lost: this.#lost,
      isUndecided,
    });
    this.#lost = isSent ? 0 : this.#lost + entries.length;
  }
}
