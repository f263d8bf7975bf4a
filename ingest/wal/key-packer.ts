import type { RecordBody } from "./format.ts";
import { KEY_RECORD_BYTES } from "./limits.ts";

/**
 * Packs the keys of many records into few. The keys packed together count as received when the newest of them was, so
 * some are kept longer than asked, none shorter.
 */
export class KeyPacker {
  readonly #full: RecordBody[] = [];
  #filling = new Uint8Array(KEY_RECORD_BYTES);
  #used = 0;
  #newestMs = 0;

  /** Copies `keys`. */
  add(keys: Uint8Array, receivedAtMs: number): void {
    for (let taken = 0; taken < keys.length; ) {
      const part = keys.subarray(taken, taken + KEY_RECORD_BYTES - this.#used);
      this.#filling.set(part, this.#used);
      this.#used += part.length;
      this.#newestMs = Math.max(this.#newestMs, receivedAtMs);
      taken += part.length;
      if (this.#used === KEY_RECORD_BYTES) this.#flush();
    }
  }

  /** The packed records. The packer must not be used afterwards. */
  finish(): readonly RecordBody[] {
    if (this.#used > 0) this.#flush();
    return this.#full;
  }

  #flush(): void {
    const keys = this.#filling.subarray(0, this.#used);
    this.#full.push({ rows: 0, receivedAtMs: this.#newestMs, block: new Uint8Array(0), keys });
    this.#filling = new Uint8Array(KEY_RECORD_BYTES);
    this.#used = 0;
    this.#newestMs = 0;
  }
}
