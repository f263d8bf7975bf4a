import { CommittedBlock } from "./committed-block.ts";
import { EventKeySet } from "./dedupe/event-key-set.ts";
import { keyWords, requestSpans } from "./dedupe/request-keys.ts";
import type { EntryIds } from "./log-store.ts";
import type { WalRecord } from "./wal/types.ts";

/** The entries of these requests, each by its identity, in records of the log. */
export function entriesOfRequests(
  records: readonly WalRecord[],
  identities: readonly Uint32Array[],
): EntryIds {
  const wanted = new EventKeySet();
  for (const identity of identities) wanted.add(identity, 0);
  const ids = new Map<number, Set<bigint>>();
  for (const { keys, block } of identities.length === 0 ? [] : records) {
    const entries = new CommittedBlock(block);
    for (const { identity, firstRow, endRow } of requestSpans(keyWords(keys))) {
      if (!wanted.has(identity, 0)) continue;
      for (let row = firstRow; row < endRow; row++) {
        const organizationId = entries.organizationId(row);
        const own = ids.get(organizationId) ?? new Set();
        ids.set(organizationId, own.add(entries.id(row)));
      }
    }
  }
  return ids;
}
