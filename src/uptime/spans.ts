/** A stretch of time, half-open: milliseconds since 1970, the end not included. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The same time without overlaps, in order; what is empty is gone. */
export function mergedSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (span.toMs <= span.fromMs) continue;
    const last = merged.at(-1);
    if (last === undefined || span.fromMs > last.toMs) merged.push(span);
    else merged[merged.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, span.toMs) };
  }
  return merged;
}

/** How much of a span lies outside of others, in milliseconds; those are merged. */
export function lengthOutside({ fromMs, toMs }: Span, merged: readonly Span[]): number {
  if (toMs <= fromMs) return 0;
  let lengthMs = toMs - fromMs;
  for (let index = firstEndingAfter(merged, fromMs); index < merged.length; index += 1) {
    const span = merged[index];
    if (span === undefined || span.fromMs >= toMs) break;
    lengthMs -= Math.min(toMs, span.toMs) - Math.max(fromMs, span.fromMs);
  }
  return lengthMs;
}

/** By halving: a flapping monitor has ten thousands of periods, and a year some hundred windows. */
function firstEndingAfter(merged: readonly Span[], ms: number): number {
  let low = 0;
  let high = merged.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((merged[middle]?.toMs ?? 0) > ms) high = middle;
    else low = middle + 1;
  }
  return low;
}
