import type { CheckOutcome } from "../../../probes/check.ts";

/** The server's own region. */
export const LOCAL_REGION = "local";

/** What one region found in one slot. Times are milliseconds since 1970. */
export interface RegionCheck {
  readonly region: string;
  readonly startedAtMs: number;
  readonly lateMs: number;
  readonly outcome: CheckOutcome;
}

/** One slot of a monitor and what came of it: no checks where nobody reported in time. */
export interface Round {
  readonly monitorId: number;
  readonly shard: number;
  readonly slotMs: number;
  /** When the monitor is due again. */
  readonly nextMs: number;
  readonly checks: readonly RegionCheck[];
  /** When the heartbeat came that it is about; absent where it is about none. */
  readonly heartbeatAtMs?: number;
}

interface OpenRound extends Round {
  readonly checks: RegionCheck[];
  readonly awaited: Set<string>;
  /** By the clock of slots. */
  readonly closesAtMs: number;
}

/** Rounds of several regions, until all have reported or their time is over. */
export class RoundBook {
  readonly #open = new Map<string, OpenRound>();

  get size(): number {
    return this.#open.size;
  }

  /** Begins the round of a slot, which is awaited in `regions` until `closesAtMs`. */
  begin(round: Omit<Round, "checks">, regions: readonly string[], closesAtMs: number): void {
    const key = keyOf(round);
    if (!this.#open.has(key))
      this.#open.set(key, { ...round, checks: [], awaited: new Set(regions), closesAtMs });
  }

  /**
   * Takes what a region found; the rounds that this closes. Those of the monitor before it are closed with it, whoever is
   * silent in them: rounds are recorded in the order of their slots.
   */
  report(monitorId: number, slotMs: number, check: RegionCheck): Round[] {
    const round = this.#open.get(keyOf({ monitorId, slotMs }));
    if (round?.awaited.delete(check.region) !== true) return [];
    round.checks.push(check);
    if (round.awaited.size > 0) return [];
    return this.#take((open) => open.monitorId === monitorId && open.slotMs <= slotMs);
  }

  /** The rounds whose time is over. */
  close(nowMs: number): Round[] {
    return this.#take(({ closesAtMs }) => closesAtMs <= nowMs);
  }

  /** Forgets the rounds of a shard that is run by somebody else. */
  forget(shard: number): void {
    this.#take((round) => round.shard === shard);
  }

  #take(isTaken: (round: OpenRound) => boolean): Round[] {
    const taken = [...this.#open].filter(([, round]) => isTaken(round));
    for (const [key] of taken) this.#open.delete(key);
    return taken.map(([, round]) => roundOf(round)).sort((a, b) => a.slotMs - b.slotMs);
  }
}

function keyOf({ monitorId, slotMs }: Pick<Round, "monitorId" | "slotMs">): string {
  return `${monitorId}:${slotMs}`;
}

function roundOf({ monitorId, shard, slotMs, nextMs, checks }: OpenRound): Round {
  return { monitorId, shard, slotMs, nextMs, checks };
}
