import { FairShare } from "../../src/concurrency/fair-share.ts";
import { MemoryShare } from "../../src/concurrency/memory-share.ts";
import type { QueryCaller } from "../../src/storage/query-runner.ts";

const UNBOUNDED = 2 ** 40;

/** A caller whose answers may hold any number of bytes. */
export function queryCaller(
  signal: AbortSignal = new AbortController().signal,
  organizationId = 7,
): QueryCaller {
  const memory = new MemoryShare(new FairShare(UNBOUNDED), [organizationId, 1]);
  return { organizationId, userId: 1, signal, memory };
}
