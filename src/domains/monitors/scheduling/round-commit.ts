import type { AnonymousChange, Change } from "../../../changes/change.ts";
import type { Changes } from "../../../changes/changes.ts";
import { SERVER_ORIGIN } from "../../../changes/changes.ts";
import { allOf } from "../../../storage/all-of.ts";
import { beginPeriods } from "../../../uptime/period-store.ts";
import { writeStates } from "../../../uptime/state-store.ts";
import { takeResults } from "../regions/probe-result-store.ts";
import { insertBatch } from "./batch-store.ts";
import { admitRounds, type JudgedMonitor, judgeRounds } from "./judge-rounds.ts";
import { addUsage, allAllowed, countByOrganization, usePlan } from "./plan-usage.ts";
import { lockFacts } from "./round-facts.ts";
import { LOCAL_REGION, type Round } from "./rounds.ts";
import { tellEffects } from "./tell-effects.ts";

/** Who runs monitors, in the audit log and for subscribers. */
export const MONITORS_JOB = { kind: "job", name: "monitors" } as const;

interface RoundCommitOptions {
  readonly changes: Changes;
  /** The epoch under which this instance holds a shard. */
  readonly epochOf: (shard: number) => number | undefined;
  /** Checks of a month that an organisation may make. */
  readonly monthlyChecks: number | null;
  /** Tells the owners that these are used up, in the transaction. */
  readonly tellUsedUp: (change: Change, limit: number) => Promise<void>;
}

/** What became of rounds that were handed in together. */
export interface Committed {
  /** Slots that are recorded by it, those that nobody looked at included. */
  readonly recorded: readonly { readonly monitorId: number; readonly slotMs: number }[];
  /** Monitors that were deleted or paused. */
  readonly gone: readonly number[];
  /** Organisations whose checks of the month are used up. */
  readonly usedUp: readonly number[];
}

/**
 * Records rounds, in one transaction: what is known of the monitors, their periods, what of the plan is used, what is told,
 * and the results on their way to the log store. Rounds whose lease is over or whose slot is recorded change nothing.
 */
export class RoundCommit {
  readonly #options: RoundCommitOptions;

  constructor(options: RoundCommitOptions) {
    this.#options = options;
  }

  commit(rounds: readonly Round[]): Promise<Committed> {
    return this.#options.changes.inAnonymousChange(SERVER_ORIGIN, null, (change) =>
      this.#record(rounds, change),
    );
  }

  async #record(rounds: readonly Round[], change: AnonymousChange): Promise<Committed> {
    const { epochOf, monthlyChecks: limit, tellUsedUp } = this.#options;
    const { tx, nowMs, by } = change;
    const facts = await lockFacts(tx, rounds);
    const admitted = admitRounds(rounds, facts, epochOf);
    const counts = countByOrganization(admitted.rounds, facts);
    const use =
      limit === null
        ? allAllowed(admitted.rounds)
        : await usePlan(tx, admitted.rounds, facts, { counts, nowMs, limit });
    const judged = judgeRounds(use.rounds, facts);
    await allOf<unknown>([
      // Other instances that record something of the organisation wait from here on.
      ...(limit === null ? [addUsage(tx, counts, nowMs)] : []),
      writeStates(
        tx,
        judged.map(({ state }) => state),
      ),
      beginPeriods(tx, judged.flatMap(periodsOf)),
      insertBatch(
        tx,
        judged.flatMap(({ rows }) => rows),
      ),
      takeResults(tx, use.rounds.flatMap(probeResultsOf)),
    ]);
    for (const { settings, effects } of judged)
      for (const { effect, state } of effects)
        tellEffects(by(settings.organizationId, MONITORS_JOB), settings, state, [effect]);
    if (limit !== null)
      for (const organizationId of use.untold) await tellUsedUp(by(organizationId, MONITORS_JOB), limit);
    const recorded = judged.flatMap(({ rows }) =>
      rows.map(({ monitorId, slotMs }) => ({ monitorId, slotMs })),
    );
    return { recorded, gone: admitted.gone, usedUp: use.usedUp };
  }
}

/** The results of probes that rounds hold. */
function probeResultsOf({ monitorId, slotMs, checks }: Round) {
  return checks
    .filter(({ region }) => region !== LOCAL_REGION)
    .map(({ region }) => ({ monitorId, region, slotMs }));
}

function periodsOf({ settings, periods }: JudgedMonitor) {
  const { organizationId, monitorId } = settings;
  return periods.map((period) => ({ organizationId, monitorId, ...period }));
}
