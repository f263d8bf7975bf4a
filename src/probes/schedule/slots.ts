/** Which moments a monitor is due at, for as long as it is not failing. Times are milliseconds since 1970. */
export interface SlotGrid {
  readonly monitorId: number;
  readonly intervalMs: number;
}

/** Where in its interval a monitor is due: those of one interval are spread over it, and each stays at its place. */
function phaseOf({ monitorId, intervalMs }: SlotGrid): number {
  // The end of MurmurHash3 over the lower 32 bits of the id.
  let hash = monitorId | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % intervalMs;
}

/** The last slot that is not after `ms`. */
export function slotAtOrBefore(grid: SlotGrid, ms: number): number {
  const phase = phaseOf(grid);
  return phase + Math.floor((ms - phase) / grid.intervalMs) * grid.intervalMs;
}

/** The first slot after `ms`. */
export function slotAfter(grid: SlotGrid, ms: number): number {
  return slotAtOrBefore(grid, ms) + grid.intervalMs;
}

/**
 * When a monitor is due after its slot `slot`. After a failure every `retryMs`, as long as that is set: the first time that
 * is not over at `nowMs`, for until the check has ended nobody knows that it failed.
 */
export function nextSlot(
  grid: SlotGrid,
  slot: number,
  failed: { readonly retryMs: number | null; readonly nowMs: number } | null,
): number {
  if (failed === null || failed.retryMs === null) return slotAfter(grid, slot);
  const steps = Math.max(1, Math.ceil((failed.nowMs - slot) / failed.retryMs));
  return slot + steps * failed.retryMs;
}

/** Of what is due since `due`, the latest: those before it are missed. */
export function latestDue(grid: SlotGrid, due: number, nowMs: number): number {
  return Math.max(due, slotAtOrBefore(grid, nowMs));
}

/** How many slots were due from `due` on and before `slot`. */
export function missedSlots(grid: SlotGrid, due: number, slot: number): number {
  if (due >= slot) return 0;
  const afterwards = (slotAtOrBefore(grid, slot - 1) - slotAtOrBefore(grid, due)) / grid.intervalMs;
  return 1 + afterwards;
}
