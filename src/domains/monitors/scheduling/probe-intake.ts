import type { Sql } from "postgres";
import { BackgroundWork } from "../../../jobs/background-work.ts";
import { whenDue } from "../../../jobs/due-watch.ts";
import { lateCheck } from "../../../late-check.ts";
import type { Logger } from "../../../log.ts";
import { askPostgres } from "../../../storage/ask-postgres.ts";
import {
  findWaiting,
  type ResultKey,
  takeResults,
  type WaitingResult,
} from "../regions/probe-result-store.ts";
import { ProbeFinding } from "../regions/types.ts";
import { insertBatch } from "./batch-store.ts";
import { PROBE_RESULTS_EVERY_MS, PROBE_RESULTS_MAX_ROWS, STOP_MS } from "./limits.ts";
import type { RegionCheck } from "./rounds.ts";

interface ProbeIntakeOptions {
  readonly sql: Sql;
  readonly shards: () => readonly number[];
  /** Takes what a region found in a slot into the round that is open. */
  readonly report: (monitorId: number, slotMs: number, check: RegionCheck) => void;
  /** How many rounds wait for what comes or for their time to be over. */
  readonly openRounds: () => number;
  /** Closes rounds whose time is over. */
  readonly closeRounds: () => void;
  readonly log: Logger;
}

const finding = lateCheck(ProbeFinding);

/**
 * Brings what probes have handed in, on whichever instance, into the rounds of the instance that runs the monitor. What comes
 * after its round is written no longer decides anything and is recorded all the same.
 */
export class ProbeIntake extends BackgroundWork {
  readonly #options: ProbeIntakeOptions;

  constructor(options: ProbeIntakeOptions) {
    super({
      pollMs: PROBE_RESULTS_EVERY_MS,
      watch: whenDue(
        options.sql,
        (sql) => sql`${options.openRounds() > 0} OR EXISTS (SELECT 1 FROM probe_results WHERE NOT is_taken)`,
      ),
      failure: "results of probes could not be taken",
      stopMs: STOP_MS,
      log: options.log,
    });
    this.#options = options;
  }

  async workOnce(): Promise<boolean> {
    const { sql, shards, report, closeRounds } = this.#options;
    const waiting = await askPostgres(() => findWaiting(sql, shards(), PROBE_RESULTS_MAX_ROWS));
    const valid = waiting.filter(({ result }) => finding.Check(result));
    for (const result of valid.filter(({ is_late }) => !is_late))
      report(Number(result.monitor_id), Number(result.slot), checkOf(result));
    closeRounds();
    await this.#record(valid.filter(({ is_late }) => is_late));
    return false;
  }

  async #record(late: readonly WaitingResult[]): Promise<void> {
    if (late.length === 0) return;
    await askPostgres(() =>
      this.#options.sql.begin(async (tx) => {
        const taken = new Set((await takeResults(tx, late.map(keyOf))).map(nameOf));
        const rows = late.filter((result) => taken.has(nameOf(keyOf(result))));
        await insertBatch(tx, rows.map(rowOf));
      }),
    );
  }
}

function checkOf({ region, result }: WaitingResult): RegionCheck {
  return { region, ...result };
}

function rowOf(result: WaitingResult) {
  const { region, startedAtMs, lateMs, outcome } = checkOf(result);
  const { status, error } = outcome;
  return {
    organizationId: result.organization_id,
    monitorId: Number(result.monitor_id),
    startedAtMs,
    region,
    slotMs: Number(result.slot),
    status,
    error,
    outcome,
    lateMs,
    isInMaintenance: false,
    slots: 1,
  };
}

function keyOf({ monitor_id, region, slot }: WaitingResult): ResultKey {
  return { monitorId: Number(monitor_id), region, slotMs: Number(slot) };
}

function nameOf({ monitorId, region, slotMs }: ResultKey): string {
  return `${monitorId} ${region} ${slotMs}`;
}
