import type { BucketSum, TimeSpan } from "../evaluation/bucket-sums.ts";
import type { CountsSource } from "./find-stretches.ts";
import { SILENT_GROUPS_MAX } from "./limits.ts";

/**
 * The newest entry of each group in the spans, milliseconds since 1970. Of very many groups those that are known already, and of
 * others as many as there is room for: each is kept until it comes again, and a rule may group by what is new in each entry.
 */
export async function newestEntries(
  spans: readonly TimeSpan[],
  known: ReadonlySet<string>,
  source: Pick<CountsSource, "sums">,
): Promise<{ readonly newest: ReadonlyMap<string, number>; readonly isCut: boolean }> {
  const newest = new Map<string, number>();
  let room = SILENT_GROUPS_MAX - known.size;
  let isCut = false;
  for (const span of spans) {
    const { groups } = await source.sums(span, 1);
    for (const [group, sums] of groups) {
      if (!newest.has(group) && !known.has(group)) {
        if (room <= 0) {
          isCut = true;
          continue;
        }
        room -= 1;
      }
      const lastMs = sums.reduce((last, sum) => Math.max(last, lastOf(sum)), 0);
      newest.set(group, Math.max(newest.get(group) ?? 0, lastMs));
    }
  }
  return { newest, isCut };
}

/** Times without an entry that are at least so long: from when on somebody is told, and until when. */
export function silences(
  sums: readonly BucketSum[],
  { fromMs, toMs }: TimeSpan,
  noDataMs: number,
): TimeSpan[] {
  const found: TimeSpan[] = [];
  let lastMs = fromMs;
  for (const sum of sums.toSorted((one, other) => one.startMs - other.startMs)) {
    const firstMs = sum.firstMs ?? sum.startMs;
    if (firstMs - lastMs >= noDataMs) found.push({ fromMs: lastMs + noDataMs, toMs: firstMs });
    lastMs = Math.max(lastMs, lastOf(sum));
  }
  if (toMs - lastMs >= noDataMs) found.push({ fromMs: lastMs + noDataMs, toMs });
  return found;
}

function lastOf({ lastMs, startMs }: BucketSum): number {
  return lastMs ?? startMs;
}
