import { joinedSpans } from "../evaluation/bucket-sums.ts";
import type { CounterChange } from "../streams/stream-store.ts";
import type { CounterCount } from "./count-entries.ts";
import { CHANGED_SPANS_MAX } from "./limits.ts";

/** Where counters by the clock of alerts got entries: of each a few spans. */
export function changesOf(counts: readonly CounterCount[]): CounterChange[] {
  const byCounter = Map.groupBy(
    counts.filter(({ times }) => times !== null),
    ({ counter }) => counter,
  );
  return [...byCounter].flatMap(([{ id, organizationId, bucketSec }, found]) => {
    const width = bucketSec * 1000;
    const spans = joinedSpans(found.map(({ bucketMs }) => ({ fromMs: bucketMs, toMs: bucketMs + width })));
    const [first, last] = [spans[0], spans.at(-1)];
    if (first === undefined || last === undefined) return [];
    const few = spans.length > CHANGED_SPANS_MAX ? [{ fromMs: first.fromMs, toMs: last.toMs }] : spans;
    return few.map((span) => ({ counterId: id, organizationId, ...span }));
  });
}
