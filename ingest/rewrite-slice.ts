import { setImmediate as nextTurn } from "node:timers/promises";
import { appendEntries, UNCHANGED } from "./append-entries.ts";
import { CommittedBlock } from "./committed-block.ts";
import type { EntryColumns } from "./entry-columns.ts";
import { blockOf } from "./entry-record.ts";
import type { EntryRules, JudgedEntries } from "./entry-rules.ts";
import { type EntrySlice, type SliceOwner, takeSlice } from "./entry-slice.ts";
import type { LogBatch } from "./log-batch.ts";

/** The slices of a request as rules leave them. */
interface RuledSlices {
  readonly slices: readonly EntrySlice[];
  /** Entries that are in none of them any more. */
  readonly dropped: number;
  /** To be called when the others are durable. */
  readonly applied: () => void;
}

/** Judges slices in several turns of the event loop. `scratch` is an empty batch between any two of them. */
export async function ruledSlices(
  slices: readonly EntrySlice[],
  owner: SliceOwner,
  rules: EntryRules,
  scratch: LogBatch,
): Promise<RuledSlices> {
  const kept: EntrySlice[] = [];
  const outcomes: JudgedEntries["outcomes"][number][] = [];
  let dropped = 0;
  for (const slice of slices) {
    const entries = new CommittedBlock(blockOf(slice));
    const judging = rules.judge(entries);
    let step = judging.next();
    for (; step.done !== true; step = judging.next()) await nextTurn();
    const judged = step.value;
    outcomes.push(...judged.outcomes);
    dropped += judged.dropped.size;
    kept.push(...rewrite(slice, owner, { entries, ...judged }, scratch));
  }
  return {
    slices: kept,
    dropped,
    applied: () => {
      if (outcomes.length > 0) rules.applied(outcomes);
    },
  };
}

/** A slice without some of those entries that have event ids, by the positions of their keys; none when nothing is left. */
export function withoutEvents(
  slice: EntrySlice,
  owner: SliceOwner,
  repeated: ReadonlySet<number>,
  scratch: LogBatch,
): readonly EntrySlice[] {
  if (repeated.size === 0) return [slice];
  const entries = new CommittedBlock(blockOf(slice));
  const { starts, ends } = entries.details.eventId;
  const dropped = new Set<number>();
  let key = 0;
  for (let row = 0; row < entries.rows; row++)
    if (starts[row] !== ends[row] && repeated.has(key++)) dropped.add(row);
  return rewrite(slice, owner, { entries, dropped, ...UNCHANGED }, scratch);
}

/** Entries, and what becomes of some of them. */
interface Rewriting extends Omit<JudgedEntries, "outcomes"> {
  readonly entries: EntryColumns;
}

function rewrite(
  slice: EntrySlice,
  owner: SliceOwner,
  { entries, dropped, ...changed }: Rewriting,
  scratch: LogBatch,
): readonly EntrySlice[] {
  if (dropped.size === entries.rows) return [];
  const { replaced, messages, values } = changed;
  if (dropped.size + replaced.size + messages.places.length + values.places.length === 0) return [slice];
  // The time of receipt is given when it is written.
  scratch.beginRequest(owner.organizationId, 0);
  appendEntries(scratch, entries, dropped, changed);
  return [takeSlice(scratch, owner)];
}
