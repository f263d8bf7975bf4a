import type { LetterBody } from "./fan-out-messages.ts";
import { LETTER_MAX_CHARS } from "./limits.ts";
import type { TailEntry } from "./tail-filter.ts";
import type { TailReader } from "./tail-hub.ts";

/** Sends entries to the streams of another server. */
export class PeerReader implements TailReader {
  readonly #organizationId: number;
  readonly #key: string;
  /** False when there is no room for it. */
  readonly #send: (letter: LetterBody) => boolean;
  #lost = 0;

  constructor(organizationId: number, key: string, send: (letter: LetterBody) => boolean) {
    this.#organizationId = organizationId;
    this.#key = key;
    this.#send = send;
  }

  deliver(entries: readonly TailEntry[]): void {
    let part: TailEntry[] = [];
    let chars = 0;
    for (const entry of entries) {
      part.push(entry);
      chars += entry.json.length;
      if (chars < LETTER_MAX_CHARS) continue;
      this.#sendPart(part);
      part = [];
      chars = 0;
    }
    if (part.length > 0) this.#sendPart(part);
  }

  lose(count: number): void {
    this.#lost += count;
    this.#sendPart([]);
  }

  askStore(): void {
    this.#sendPart([], true);
  }

  #sendPart(entries: readonly TailEntry[], isUndecided = false): void {
    const isSent = this.#send({
      type: "entries",
      organizationId: this.#organizationId,
      key: this.#key,
      entries: entries.map(({ id, json }) => [id.toString(), json]),
      lost: this.#lost,
      isUndecided,
    });
    this.#lost = isSent ? 0 : this.#lost + entries.length;
  }
}
