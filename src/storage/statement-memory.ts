import { FairShare, type ShareKey } from "../concurrency/fair-share.ts";
import { STATEMENT_MIN_MEMORY_BYTES, STATEMENTS_MEMORY_SHARE } from "./limits.ts";

/** What one statement may take; given back once, when it is over. */
interface MemoryGrant {
  readonly bytes: number;
  /** Whether it would have more if nothing else ran. */
  readonly isShort: boolean;
  readonly giveBack: () => void;
}

/**
 * What the statements that run may take of the store's memory, in shares of organisations. Beyond its bound the store
 * refuses whatever asks next, be it the smallest statement of somebody else; so the bounds of all statements together
 * stay below it.
 */
export class StatementMemory {
  readonly #share: FairShare;
  /** The bound of a statement beside which nothing runs. */
  readonly #aloneBytes: number;

  constructor(storeBytes: number) {
    this.#share = new FairShare(Math.floor(storeBytes * STATEMENTS_MEMORY_SHARE));
    this.#aloneBytes = this.#boundOf([0]);
  }

  /** Granted at this moment. */
  get bytes(): number {
    return this.#share.used;
  }

  /** The bound for a statement that would take `wanted`: that, or half of what its organisation may have more. */
  take(organizationId: number, wanted: number): MemoryGrant {
    const path = [organizationId];
    const bound = this.#boundOf(path);
    const bytes = Math.min(wanted, bound);
    // So much every one may take, since few run at a time.
    const isCounted = bound > STATEMENT_MIN_MEMORY_BYTES;
    if (isCounted) this.#share.take(path, bytes);
    return {
      bytes,
      isShort: bytes < Math.min(wanted, this.#aloneBytes),
      giveBack: () => {
        if (isCounted) this.#share.giveBack(path, bytes);
      },
    };
  }

  #boundOf(path: readonly ShareKey[]): number {
    return Math.max(STATEMENT_MIN_MEMORY_BYTES, Math.floor(this.#share.room(path) / 2));
  }
}
