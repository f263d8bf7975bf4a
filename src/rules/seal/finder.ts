import type { TransactionSql } from "postgres";
import type { MadeSpan } from "../../../query/index.ts";
import type { Signal } from "./signal-store.ts";

/** The entries that one seal goes over. */
export interface SealedRange {
  readonly span: MadeSpan;
  /** By which state of what is looked for, see `counter_revisions`. */
  readonly revision: bigint;
  /** Which organisations it has entries of, at most `SEAL_MAX_ENTRIES` in all. */
  readonly organizations: ReadonlyMap<number, OrganizationEntries>;
}

/** What entries of a range are there of one organisation. */
export interface OrganizationEntries {
  readonly entries: number;
  /** The outermost keys of their attributes; null where there are too many to tell. */
  readonly attributeKeys: ReadonlySet<string> | null;
}

/** What follows of a seal in Postgres, in the transaction that ends it: all of it happens once, or none of it. */
export type SealNote = (tx: TransactionSql) => Promise<void>;

export interface Found {
  readonly signals: readonly Signal[];
  /** Null where nothing follows. */
  readonly note: SealNote | null;
}

/** What seals look for in the entries that are stored. */
export interface SealFinder {
  /** Whether there is anything to look for; asked while whoever makes such a thing waits. */
  readonly isWanted: (tx: TransactionSql) => Promise<boolean>;
  /**
   * The signals of a range: the same ones for the same range and revision, whoever asks and however often; null where nothing
   * was looked for. Throws a DependencyError when a store is away; everything else that fails, the finder bears itself.
   */
  readonly find: (range: SealedRange, signal: AbortSignal) => Promise<Found | null>;
  /** What follows of a range whose signals are stored, but whoever found them died before it could be noted. */
  readonly recover: (range: SealedRange, signal: AbortSignal) => Promise<SealNote | null>;
  /** The notes are written. */
  readonly onNoted: () => void;
}

/** The outermost keys that attributes of the range's entries have; null where there are too many to tell. */
export function attributeKeysOf({ organizations }: SealedRange): ReadonlySet<string> | null {
  const keys = new Set<string>();
  for (const { attributeKeys } of organizations.values()) {
    if (attributeKeys === null) return null;
    for (const key of attributeKeys) keys.add(key);
  }
  return keys;
}
