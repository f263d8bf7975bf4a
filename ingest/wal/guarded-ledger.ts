import { assertInvariant } from "./errors.ts";
import type { Ledger } from "./ledger.ts";
import type { WalLedger } from "./types.ts";

interface GuardedLedgerOptions {
  readonly ledger: Ledger;
  readonly durableEnd: () => number;
  /** Throws when the log is closed or has failed. */
  readonly assertOpen: () => void;
  readonly onFlushed: (flushedThrough: number) => void;
}

/** The ledger as the log's users see it: it refuses what would break the order of positions. */
export function guardLedger({ ledger, durableEnd, assertOpen, onFlushed }: GuardedLedgerOptions): WalLedger {
  const assertWithin = (end: number): void => {
    assertOpen();
    if (Number.isSafeInteger(end) && end >= ledger.flushedThrough && end <= durableEnd()) return;
    throw new RangeError(`${end} is not within ${ledger.flushedThrough}..${durableEnd()}`);
  };
  return {
    get flushedThrough() {
      return ledger.flushedThrough;
    },
    get intentEnd() {
      return ledger.intentEnd;
    },
    async setIntent(end) {
      assertWithin(end);
      await ledger.update(() => ({ intentEnd: end }));
    },
    async setFlushed(end) {
      assertWithin(end);
      await ledger.update(({ intentEnd }) => ({ flushedThrough: end, intentEnd: Math.max(end, intentEnd) }));
      assertInvariant(ledger.intentEnd <= durableEnd(), 3, "an intent lies beyond the durable end");
      onFlushed(end);
    },
  };
}
