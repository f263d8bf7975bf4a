import { cpus } from "node:os";
import { setTimeout as pause } from "node:timers/promises";

interface CpuTimes {
  readonly idleMs: number;
  readonly allMs: number;
}

/** The machine counts in hundredths of a second: over less than this, it says little. */
const SAMPLE_MS = 100;

/** What share of the machine's time is idle now, from 0 to 1. What was before says nothing: a load begins at once. */
export async function idleShare(signal: AbortSignal): Promise<number> {
  const before = readTimes();
  await pause(SAMPLE_MS, undefined, { signal });
  const after = readTimes();
  const passedMs = after.allMs - before.allMs;
  return passedMs <= 0 ? 1 : (after.idleMs - before.idleMs) / passedMs;
}

function readTimes(): CpuTimes {
  let idleMs = 0;
  let allMs = 0;
  for (const { times } of cpus()) {
    idleMs += times.idle;
    allMs += times.user + times.nice + times.sys + times.idle + times.irq;
  }
  return { idleMs, allMs };
}
