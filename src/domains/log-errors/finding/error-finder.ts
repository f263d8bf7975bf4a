import type { TransactionSql } from "postgres";
import { ThreadSlice } from "../../../concurrency/thread-turns.ts";
import type { Found, SealedRange, SealFinder, SealNote } from "../../../rules/seal/finder.ts";
import type { Signal } from "../../../rules/seal/signal-store.ts";
import type { ClickHouseEndpoint } from "../../../storage/clickhouse.ts";
import { type GroupBounds, noteErrors } from "./note-errors.ts";
import { readErrors } from "./read-errors.ts";
import { ErrorTally, type GroupTally } from "./tally-errors.ts";

/** What signals about errors that are of no group stand under. */
const OTHER_KEY = 0n;

/** Finds the errors of everybody and puts them into groups. */
export class ErrorFinder implements SealFinder {
  readonly #endpoint: ClickHouseEndpoint;
  readonly #bounds: GroupBounds | undefined;

  constructor(endpoint: ClickHouseEndpoint, bounds?: GroupBounds) {
    this.#endpoint = endpoint;
    this.#bounds = bounds;
  }

  /** Errors are grouped whoever looks at them. */
  readonly isWanted = async (_tx: TransactionSql): Promise<boolean> => true;

  readonly onNoted = (): void => undefined;

  readonly find = async (range: SealedRange, signal: AbortSignal): Promise<Found | null> => {
    const tally = new ErrorTally();
    const slice = new ThreadSlice();
    for await (const page of readErrors(this.#endpoint, range, signal)) {
      for (const entry of page) {
        tally.add(entry);
        if (slice.isOver) await slice.yield();
      }
    }
    const organizations = tally.organizations();
    if (organizations.size === 0) return null;
    const lastId = range.span.through ?? range.span.after;
    const signals: Signal[] = [];
    for (const [organizationId, { groups, otherHours }] of organizations) {
      for (const group of groups) signals.push(...signalsOf(group, lastId));
      for (const [bucketMs, { n, ...times }] of otherHours)
        signals.push({ organizationId, kind: "error", key: OTHER_KEY, bucketMs, n, times, lastId });
    }
    return { signals, note: (tx) => noteErrors(tx, organizations, this.#bounds) };
  };

  /** The same as what was found by whoever died: it depends on the entries alone. */
  readonly recover = async (range: SealedRange, signal: AbortSignal): Promise<SealNote | null> =>
    (await this.find(range, signal))?.note ?? null;
}

/** Errors of a group in the hours of their own time. */
function signalsOf({ organizationId, error: { fingerprint }, hours }: GroupTally, lastId: bigint): Signal[] {
  const key = errorKey(fingerprint);
  return [...hours].map(([bucketMs, { n, ...times }]) => {
    return { organizationId, kind: "error", key, bucketMs, group: fingerprint, n, times, lastId };
  });
}

/** What signals of a fingerprint stand under: its first half. */
export function errorKey(fingerprint: string): bigint {
  return BigInt(`0x${fingerprint.slice(0, 16)}`);
}
