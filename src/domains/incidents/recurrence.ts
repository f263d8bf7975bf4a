import { FLAPPING_TIMES, FLAPPING_WITHIN_MS, REOPEN_WITHIN_MS } from "./limits.ts";
import type { Resolution } from "./types.ts";

/** What is remembered of the last incident of a key, which is resolved. Times in milliseconds since 1970. */
interface Past {
  readonly openedAtMs: number;
  readonly resolvedAtMs: number;
  readonly resolution: Resolution;
  /** When it came back, as far as that is still of interest. */
  readonly reopenedAtMs: readonly number[];
}

/** What becomes of something that is wrong and of which no incident is open. */
export type Recurrence =
  | { readonly kind: "opens" }
  | { readonly kind: "reopens"; readonly isFlapping: boolean; readonly reopenedAtMs: readonly number[] };

/**
 * Whether what began at `sinceMs` is the last incident again: if that one ended by itself less than ten minutes before.
 * What a person resolved, or what ended because nobody looks any more, is over. The third time within an hour it flaps.
 */
export function judgeRecurrence(past: Past | null, sinceMs: number, nowMs: number): Recurrence {
  if (past === null || (past.resolution !== "recovered" && past.resolution !== "sender"))
    return { kind: "opens" };
  // A source that dates back behind the end says nothing about when it came back.
  const backAtMs = sinceMs < past.resolvedAtMs ? nowMs : Math.min(sinceMs, nowMs);
  if (backAtMs - past.resolvedAtMs >= REOPEN_WITHIN_MS) return { kind: "opens" };
  const times = [past.openedAtMs, ...past.reopenedAtMs, backAtMs];
  const recent = times.filter((atMs) => backAtMs - atMs < FLAPPING_WITHIN_MS);
  const reopenedAtMs = [...past.reopenedAtMs, backAtMs].filter(
    (atMs) => backAtMs - atMs < FLAPPING_WITHIN_MS,
  );
  return {
    kind: "reopens",
    isFlapping: recent.length >= FLAPPING_TIMES,
    reopenedAtMs: reopenedAtMs.slice(-FLAPPING_TIMES),
  };
}
