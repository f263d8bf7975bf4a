import { cpus } from "node:os";

interface CpuTimes {
  readonly idleMs: number;
  readonly allMs: number;
}

/** What share of the machine's time was idle since the last time it was asked, from 0 to 1. */
export class IdleShare {
  #last = readTimes();

  take(): number {
    const { idleMs, allMs } = this.#last;
    this.#last = readTimes();
    const passedMs = this.#last.allMs - allMs;
    return passedMs <= 0 ? 1 : (this.#last.idleMs - idleMs) / passedMs;
  }
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
