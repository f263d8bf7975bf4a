import type { TimeSpan } from "../evaluation/bucket-sums.ts";
import type { StepEvidence } from "../evaluation/step-evidence.ts";
import type { Stretch } from "../evaluation/stretches.ts";
import type { KeptGroup, LiveRule } from "./live-store.ts";

/** What an evaluation found of a group. */
export interface GroupFinding {
  readonly stretches: readonly Stretch[];
  /** From when on the stretches are all that there is, so that what is recorded beside them is wrong; null where they add to it. */
  readonly wholeFromMs: number | null;
  /** Why, of a stretch that begins then. */
  readonly because: (fromMs: number) => string;
  /** Which entries show it, of a stretch that begins then; absent where no single ones do. */
  readonly evidence?: (fromMs: number) => readonly StepEvidence[];
  readonly judgedMs: number | null;
  /** When it is to be looked at again whatever comes; null for never. */
  readonly nextMs: number | null;
  /** The newest entry that came; absent where none did, or nobody asks. */
  readonly lastDataMs?: number;
  /** Where the condition on which an incident ends does not hold yet, where it is not that on which it begins. */
  readonly holds?: readonly { readonly fromMs: number; readonly untilMs: number }[];
}

/** What came and what is known when a live rule is evaluated. */
export interface Moment {
  /** Buckets that got entries. */
  readonly spans: readonly TimeSpan[];
  readonly kept: ReadonlyMap<string, KeptGroup>;
  /** Up to when everything is known. */
  readonly throughMs: number;
}

/** What a live rule finds where something came or a time is over. */
export interface Findings {
  /** By the names of groups. */
  readonly groups: ReadonlyMap<string, GroupFinding>;
  /** What the rule's owner has to know: that there are more groups than were looked at; null for nothing. */
  readonly note: string | null;
  /** For how long it is so though what comes later says nothing of it; absent where the next look decides. */
  readonly noteForMs?: number;
}

/** Finds what rules of a kind ask for. */
export interface RuleFinder {
  /** Null where what counts for the rule is no more. Throws an ApiError for what is the rule's own fault. */
  readonly find: (rule: LiveRule, at: Moment, signal: AbortSignal) => Promise<Findings | null>;
}
