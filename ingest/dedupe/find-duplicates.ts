import type { LogBatch } from "../log-batch.ts";
import { EVENT_KEY_WORDS, writeEventKey } from "./event-key.ts";

interface DuplicateSearch {
  /** Positions of repeated entries in the request. */
  readonly entries: ReadonlySet<number>;
  /** Keys of the other entries that have an event id, four words each. */
  readonly fresh: Uint32Array<ArrayBuffer>;
  /** Whether one of the repeated entries is repeated at all must be awaited. */
  readonly isUndecided: boolean;
}

/** Whether an event was seen already; undecided while it is if something succeeds that may fail, in another commit. */
export type EventSighting = "undecided" | "seen" | "new";

/** Which entries of the batch's present request repeat an event, and the keys of those that do not. */
export function findDuplicates(
  batch: LogBatch,
  organizationId: number,
  look: (key: Uint32Array) => EventSighting,
): DuplicateSearch {
  const entries = new Set<number>();
  const fresh: number[] = [];
  const inRequest = new Set<string>();
  const key = new Uint32Array(EVENT_KEY_WORDS);
  let isUndecided = false;
  batch.forEachRequestEventId((entry, source, start, end) => {
    writeEventKey(key, 0, organizationId, source, start, end);
    const name = key.join();
    const sighting = look(key);
    if (sighting === "undecided") isUndecided = true;
    if (sighting !== "new" || inRequest.has(name)) {
      entries.add(entry);
      return;
    }
    inRequest.add(name);
    fresh.push(...key);
  });
  return { entries, fresh: Uint32Array.from(fresh), isUndecided };
}
