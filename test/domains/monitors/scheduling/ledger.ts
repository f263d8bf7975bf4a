import { missedSlots } from "../../../../src/probes/schedule/slots.ts";
import type { StoredCheck } from "./monitor-fixture.ts";

/** What is wrong with the slots that were recorded of one monitor that never failed: nothing when the list is empty. */
export function faultsOfLedger(
  checks: readonly StoredCheck[],
  monitorId: number,
  intervalMs: number,
): string[] {
  const own = checks.filter((check) => check.monitorId === monitorId).sort((a, b) => a.slotMs - b.slotMs);
  const [first] = own;
  const last = own.at(-1);
  if (first === undefined || last === undefined) return [`monitor ${monitorId} has no slots`];
  const grid = { monitorId, intervalMs };
  const doubled = own.filter(({ slotMs }, index) => index > 0 && slotMs === own[index - 1]?.slotMs);
  // The first one is at once and on no grid; from the one behind it on all are.
  const [, second] = own;
  const due = second === undefined ? 0 : missedSlots(grid, second.slotMs, last.slotMs + 1);
  const recorded = own.slice(1).reduce((sum, { slots }) => sum + slots, 0);
  return [
    ...doubled.map(({ slotMs }) => `monitor ${monitorId}: slot ${slotMs} is recorded twice`),
    ...(recorded === due ? [] : [`monitor ${monitorId}: ${due} slots were due, ${recorded} are recorded`]),
  ];
}
