import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { CheckStatus } from "../../src/probes/check.ts";
import {
  type AdvanceConfig,
  advance,
  type Effect,
  tell,
  UNOBSERVED_SLOTS,
} from "../../src/uptime/advance.ts";
import {
  type KnownStatus,
  type MonitorState,
  NEW_MONITOR,
  type PeriodStart,
} from "../../src/uptime/monitor-state.ts";

const STEP_MS = 30_000;
const DAY_MS = 86_400_000;

const CONFIG: AdvanceConfig = {
  alertThreshold: 2,
  recoveryThreshold: 1,
  alertOnDegraded: false,
  remindEverySec: null,
  expiryWarnDays: 14,
};

const configs = fc.record({
  alertThreshold: fc.integer({ min: 1, max: 4 }),
  recoveryThreshold: fc.integer({ min: 1, max: 4 }),
  alertOnDegraded: fc.boolean(),
  remindEverySec: fc.constant(null),
  expiryWarnDays: fc.constant(14),
});

interface Step {
  readonly status: CheckStatus;
  readonly isInMaintenance: boolean;
}

const histories = fc.array(
  fc.record({
    status: fc.constantFrom<CheckStatus>("up", "up", "down", "down", "degraded", "unknown"),
    isInMaintenance: fc.constantFrom(false, false, false, true),
  }),
  { maxLength: 60 },
);

function verdict(status: CheckStatus, atMs: number, certificateNotAfterMs: number | null = null) {
  return { status, error: null, atMs, slots: 1, certificateNotAfterMs };
}

/** What a history comes to, round for round. */
function play(history: readonly Step[], config: AdvanceConfig) {
  let state: MonitorState = NEW_MONITOR;
  return history.map(({ status, isInMaintenance }, index) => {
    const after = advance(state, verdict(status, index * STEP_MS), config, isInMaintenance);
    state = after.state;
    return after;
  });
}

/** The last `count` rounds that had a verdict, up to and with the `index`th, if so many of one kind end there. */
function runLength(history: readonly Step[], index: number): number {
  const known = history.slice(0, index + 1).filter(({ status }) => status !== "unknown");
  const last = known.at(-1)?.status;
  return known.length - (known.findLastIndex(({ status }) => status !== last) + 1);
}

/** The same by looking at the whole history each time: slow, and without a counter. */
function confirmedBy(history: readonly Step[], config: AdvanceConfig): (KnownStatus | null)[] {
  let confirmed: KnownStatus | null = null;
  return history.map(({ status }, index) => {
    if (status === "unknown") return confirmed;
    const length = runLength(history, index);
    const isRecovery = status === "up" || (status === "degraded" && confirmed === "down");
    const needed =
      status === "down"
        ? config.alertThreshold
        : confirmed === null
          ? 1
          : isRecovery
            ? config.recoveryThreshold
            : config.alertThreshold;
    if (length >= needed) confirmed = status;
    return confirmed;
  });
}

function wantedOf(confirmed: KnownStatus | null, { alertOnDegraded }: AdvanceConfig): KnownStatus {
  if (confirmed === null) return "up";
  return confirmed === "degraded" && !alertOnDegraded ? "up" : confirmed;
}

function isStatusEffect({ kind }: Effect): boolean {
  return kind === "raise" || kind === "clear";
}

describe("a monitor", () => {
  test("is in a state only after as many rounds as the threshold says, as a look at its whole history says", () => {
    fc.assert(
      fc.property(histories, configs, (history, config) => {
        const confirmed = play(history, config).map(({ state }) => state.confirmed);
        expect(confirmed).toEqual(confirmedBy(history, config));
      }),
      { numRuns: 500 },
    );
  });

  test("tells what a naive model tells: what is confirmed, whenever that is not what was told, and nothing in maintenance", () => {
    fc.assert(
      fc.property(histories, configs, (history, config) => {
        let told: KnownStatus = "up";
        const confirmed = confirmedBy(history, config);
        for (const [index, { effects }] of play(history, config).entries()) {
          const step = history[index];
          const wanted = wantedOf(confirmed[index] ?? null, config);
          const isQuiet = step === undefined || step.isInMaintenance || step.status === "unknown";
          const expected: KnownStatus[] = isQuiet || wanted === told ? [] : [wanted];
          const said = effects
            .filter(isStatusEffect)
            .map((effect) => (effect.kind === "raise" ? effect.status : "up"));
          expect(said).toEqual(expected);
          told = expected[0] ?? told;
        }
      }),
      { numRuns: 500 },
    );
  });

  test("raises and clears in turns: a raise of what is open changes it, and nothing is cleared that is not open", () => {
    fc.assert(
      fc.property(histories, configs, (history, config) => {
        let open: KnownStatus = "up";
        for (const { effects } of play(history, config))
          for (const effect of effects.filter(isStatusEffect)) {
            const next: KnownStatus = effect.kind === "raise" ? effect.status : "up";
            expect(next).not.toBe(open);
            open = next;
          }
      }),
    );
  });

  test("has periods that follow each other, begin with its first round or later, and end in what is confirmed", () => {
    fc.assert(
      fc.property(histories, configs, (history, config) => {
        const rounds = play(history, config);
        const periods: PeriodStart[] = rounds.flatMap((round) => round.periods);
        for (const [index, period] of periods.entries()) {
          const before = periods[index - 1];
          if (before !== undefined) {
            expect(period.sinceMs).toBeGreaterThanOrEqual(before.sinceMs);
            expect(period.status).not.toBe(before.status);
          }
        }
        const last = rounds.at(-1)?.state;
        if (last === undefined || last.confirmed === null) expect(periods).toEqual([]);
        else {
          const isUnobserved = last.unknownRounds >= UNOBSERVED_SLOTS;
          expect(periods.at(-1)?.status).toBe(isUnobserved ? "unknown" : last.confirmed);
          const firstKnown = history.findIndex(({ status }) => status !== "unknown");
          expect(periods[0]?.sinceMs).toBeGreaterThanOrEqual(firstKnown * STEP_MS);
          // What goes on after nobody looked is dated back no further than to where somebody looked again.
          if (!rounds.some(({ state }) => state.unknownRounds >= UNOBSERVED_SLOTS))
            expect(periods[0]?.sinceMs).toBe(firstKnown * STEP_MS);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("that failed is down from its first failure on, and not before its threshold", () => {
    const steps = ["up", "down", "down", "down"] as const;
    const history = steps.map((status) => ({ status, isInMaintenance: false }));
    const rounds = play(history, { ...CONFIG, alertThreshold: 3 });
    expect(rounds.map(({ state }) => state.confirmed)).toEqual(["up", "up", "up", "down"]);
    expect(rounds[3]?.periods).toEqual([{ status: "down", sinceMs: STEP_MS }]);
    expect(rounds[3]?.effects).toEqual([{ kind: "raise", status: "down", sinceMs: STEP_MS }]);
    expect(rounds[3]?.state.lastStatus).toBe("down");
    expect(rounds[1]?.state.failures).toBe(1);
  });

  test("of which nothing is known for three slots is not observed: said once, and what follows is no part of it", () => {
    const steps = ["up", "unknown", "unknown", "unknown", "unknown", "down", "down"] as const;
    const rounds = play(
      steps.map((status) => ({ status, isInMaintenance: false })),
      CONFIG,
    );
    expect(rounds.map(({ effects }) => effects.map(({ kind }) => kind))).toEqual([
      [],
      [],
      [],
      ["unobserved"],
      [],
      [],
      ["raise"],
    ]);
    expect(rounds.flatMap(({ periods }) => periods)).toEqual([
      { status: "up", sinceMs: 0 },
      { status: "unknown", sinceMs: STEP_MS },
      { status: "up", sinceMs: 5 * STEP_MS },
      { status: "down", sinceMs: 5 * STEP_MS },
    ]);
    const missed = advance(
      rounds[0]?.state ?? NEW_MONITOR,
      { ...verdict("unknown", STEP_MS), slots: 500 },
      CONFIG,
      false,
    );
    expect(missed.effects).toEqual([{ kind: "unobserved", sinceMs: STEP_MS }]);
  });

  test("in maintenance says at the end what is true still, once, and nothing of what is over", () => {
    const steps = ["up", "down", "down"] as const;
    const quiet = steps.map((status, index) => ({ status, isInMaintenance: index > 0 }));
    const down = play(quiet, CONFIG).at(-1)?.state ?? NEW_MONITOR;
    expect(down.confirmed).toBe("down");
    const said = tell(down, CONFIG, 10 * STEP_MS);
    expect(said.effects).toEqual([{ kind: "raise", status: "down", sinceMs: STEP_MS }]);
    expect(tell(said.state, CONFIG, 11 * STEP_MS).effects).toEqual([]);
    const over = advance(down, verdict("up", 3 * STEP_MS), CONFIG, true).state;
    expect(tell(over, CONFIG, 10 * STEP_MS).effects).toEqual([]);
  });

  test("that is down still is said again as often as was asked for", () => {
    const config = { ...CONFIG, alertThreshold: 1, remindEverySec: 60 };
    const history: Step[] = Array.from({ length: 6 }, () => ({ status: "down", isInMaintenance: false }));
    expect(play(history, config).map(({ effects }) => effects.map(({ kind }) => kind))).toEqual([
      ["raise"],
      [],
      ["remind"],
      [],
      ["remind"],
      [],
    ]);
  });

  test("whose certificate expires soon says so once, and once that another one has taken its place", () => {
    let state = NEW_MONITOR;
    const kinds = [30, 13, 12, 13, 90, 90].map((days, index) => {
      const at = index * STEP_MS;
      const after = advance(state, verdict("up", at, at + days * DAY_MS), CONFIG, false);
      state = after.state;
      return after.effects.map(({ kind }) => kind);
    });
    expect(kinds).toEqual([[], ["raise_certificate"], [], [], ["clear_certificate"], []]);
  });

  test("that is degraded tells it where that is asked for, and a down one becomes degraded", () => {
    const steps = ["up", "degraded", "degraded", "down", "down", "degraded", "up"] as const;
    const history = steps.map((status) => ({ status, isInMaintenance: false }));
    const told = (config: AdvanceConfig) =>
      play(history, config).flatMap(({ effects }) =>
        effects.map((effect) => (effect.kind === "raise" ? effect.status : effect.kind)),
      );
    expect(told({ ...CONFIG, alertOnDegraded: true })).toEqual(["degraded", "down", "degraded", "clear"]);
    expect(told(CONFIG)).toEqual(["down", "clear"]);
  });
});
