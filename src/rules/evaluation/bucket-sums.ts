/** The entries of a counter and a group whose event time lies in [startMs, startMs + width). */
export interface BucketSum {
  readonly startMs: number;
  readonly n: number;
  /** The event times of the first and the last of them, where they are known. */
  readonly firstMs?: number;
  readonly lastMs?: number;
}

/** Half-open, in milliseconds since 1970. */
export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Windows up to this long are counted in fine buckets. */
const FINE_WINDOW_MAX_MS = 900_000;
const FINE_BUCKET_MS = 10_000;
const COARSE_BUCKET_MS = 60_000;

/** The width of the buckets in which a window of that length is counted. */
export function bucketMsOf(windowMs: number): number {
  return windowMs <= FINE_WINDOW_MAX_MS ? FINE_BUCKET_MS : COARSE_BUCKET_MS;
}

/** The buckets whose windows new entries may have changed, as spans of points that do not touch each other. */
export function touchedSpans(changedStartsMs: Iterable<number>, windowMs: number): TimeSpan[] {
  const bucketMs = bucketMsOf(windowMs);
  const reachMs = bucketMs + Math.ceil(windowMs / bucketMs) * bucketMs;
  return joinedSpans([...changedStartsMs].map((fromMs) => ({ fromMs, toMs: fromMs + reachMs })));
}

/** What must be known to judge the points of a span: the span and one window before it, in whole buckets. */
export function countedSpan({ fromMs, toMs }: TimeSpan, windowMs: number): TimeSpan {
  const bucketMs = bucketMsOf(windowMs);
  return { fromMs: fromMs - Math.ceil(windowMs / bucketMs) * bucketMs, toMs };
}

/** The same times in as few spans as there can be, in ascending order. */
export function joinedSpans(spans: readonly TimeSpan[]): TimeSpan[] {
  const joined: TimeSpan[] = [];
  for (const span of spans.toSorted((left, right) => left.fromMs - right.fromMs)) {
    const last = joined.at(-1);
    if (last === undefined || last.toMs < span.fromMs) joined.push(span);
    else joined[joined.length - 1] = { fromMs: last.fromMs, toMs: Math.max(last.toMs, span.toMs) };
  }
  return joined;
}

/** Buckets in ascending order, and how many entries any stretch of them holds. */
export class BucketSums {
  /** Those that hold something, each start once. */
  readonly buckets: readonly BucketSum[];
  readonly #starts: Float64Array;
  /** `#before[i]`: the entries of all buckets before the i-th. */
  readonly #before: Float64Array;

  /** In any order; what is said of one bucket in several pieces is added up. */
  constructor(pieces: readonly BucketSum[]) {
    const byStart = new Map<number, BucketSum>();
    for (const piece of pieces) {
      const known = byStart.get(piece.startMs);
      byStart.set(piece.startMs, known === undefined ? piece : together(known, piece));
    }
    this.buckets = [...byStart.values()]
      .filter(({ n }) => n > 0)
      .sort((left, right) => left.startMs - right.startMs);
    this.#starts = Float64Array.from(this.buckets, ({ startMs }) => startMs);
    this.#before = new Float64Array(this.buckets.length + 1);
    for (const [i, { n }] of this.buckets.entries()) this.#before[i + 1] = (this.#before[i] ?? 0) + n;
  }

  /** The entries of the buckets that begin in [fromMs, toMs). */
  count(fromMs: number, toMs: number): number {
    const [from, to] = [this.#firstFrom(fromMs), this.#firstFrom(toMs)];
    return Math.max(0, (this.#before[to] ?? 0) - (this.#before[from] ?? 0));
  }

  /** The buckets that begin in [fromMs, toMs). */
  between(fromMs: number, toMs: number): readonly BucketSum[] {
    return this.buckets.slice(this.#firstFrom(fromMs), this.#firstFrom(toMs));
  }

  /**
   * The start of the bucket that holds the n-th entry from the end, of those in buckets that begin before `beforeMs`;
   * -Infinity when there are fewer.
   */
  nthLast(n: number, beforeMs: number): number {
    const end = this.#firstFrom(beforeMs);
    const wanted = (this.#before[end] ?? 0) - n;
    let low = 0;
    let high = end;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#before[middle] ?? 0) <= wanted) low = middle;
      else high = middle - 1;
    }
    return wanted < 0 ? Number.NEGATIVE_INFINITY : (this.#starts[low] ?? Number.NEGATIVE_INFINITY);
  }

  #firstFrom(startMs: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle] ?? 0) < startMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A time is known of both together only where it is of each. */
function together(one: BucketSum, other: BucketSum): BucketSum {
  const isKnown =
    one.firstMs !== undefined &&
    one.lastMs !== undefined &&
    other.firstMs !== undefined &&
    other.lastMs !== undefined;
  const sum = { startMs: one.startMs, n: one.n + other.n };
  if (!isKnown) return sum;
  return {
    ...sum,
    firstMs: Math.min(one.firstMs, other.firstMs),
    lastMs: Math.max(one.lastMs, other.lastMs),
  };
}
