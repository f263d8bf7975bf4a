import { setTimeout as pause } from "node:timers/promises";
import type { Sql } from "postgres";
import { WorkLoop } from "../concurrency/work-loop.ts";
import type { DependencyStatus } from "../health/readiness.ts";
import { backoffMs } from "../jobs/claims/backoff.ts";
import type { Claimant } from "../jobs/claims/claimant.ts";
import { keepRenewed } from "../jobs/claims/keep-renewed.ts";
import type { Claim } from "../jobs/claims/leased-rows.ts";
import { takeTurn, takeTurnBack } from "../jobs/claims/turns.ts";
import type { Logger } from "../log.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import type { ArchiveMetrics } from "./archive-metrics.ts";
import { checkArchived, deleteArchived, type HotDeletionOptions } from "./hot-deletion.ts";
import { archiveToday } from "./hot-retention.ts";
import {
  type ClaimedUnit,
  type CommittedUnit,
  claimCommitted,
  claimPlanned,
  measureOpenUnits,
  takeUnitsBack,
  UNITS,
} from "./ledger/unit-store.ts";
import {
  ARCHIVE_STOP_MS,
  BACKOFF,
  CLOCK_AHEAD_MAX_MS,
  DELETION_MAX_ROWS,
  LEDGER_TIMEOUT_MS,
  POLL_MS,
  ROUND_MAX_UNITS,
  SWEEP_EVERY_MS,
  UNIT_LEASE_MS,
  UNIT_RENEW_MS,
} from "./limits.ts";
import { planExpired, removeLeftovers, type SweepOptions } from "./sweep.ts";
import { archiveUnit, type UnitCommitOptions } from "./unit-commit.ts";

interface ArchiverOptions extends SweepOptions, UnitCommitOptions, HotDeletionOptions {
  readonly sql: Sql;
  readonly claimant: Claimant;
  /** The time by which entries age, milliseconds since 1970; see `BelievedClock`. */
  readonly believedNow: () => Promise<number>;
  /** From when on entries are to stay, whatever their age: rules have not looked at them. Null for none. */
  readonly heldSince: (signal: AbortSignal) => Promise<number | null>;
  /** Milliseconds, see `DELETION_WAIT_MS`. */
  readonly deletionWaitMs: number;
  readonly metrics: ArchiveMetrics;
  readonly log: Logger;
}

/** Work of which there is one of a kind. */
const SWEEP = "archive-sweep";
const DELETION = "archive-deletion";

/**
 * Moves entries whose time in the log store is over to the archive. Any number of instances share the work, each
 * with units of its own; one at a time looks for what there is to do, and one lets the log store go of entries.
 */
export class Archiver {
  readonly #options: ArchiverOptions;
  readonly #loop: WorkLoop;
  #sweptMs: number | null = null;
  /** What this server had when it died is free again. */
  #hasTakenBack = false;
  #failing = false;
  /** How far the machine's clock is ahead of the time that is believed. */
  #aheadMs = 0;
  /** For how many days entries have waited for rules to look at them. */
  #heldDays = 0;

  constructor(options: ArchiverOptions) {
    this.#options = options;
    this.#loop = new WorkLoop({
      work: (signal) => this.#round(signal),
      pollMs: POLL_MS,
      failure: "old log entries could not be archived",
      log: options.log,
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop(ARCHIVE_STOP_MS);
  }

  /** Nothing is lost while archiving fails: entries stay in the log store, which grows. */
  status(): Omit<DependencyStatus, "name"> {
    if (this.#failing)
      return { state: "degraded", detail: "Old entries could not be archived; they stay in the log store." };
    if (this.#heldDays > 0) {
      const detail = `Entries of ${this.#heldDays} days have not been looked through for rules; they stay in the log store until they have.`;
      return { state: "degraded", detail };
    }
    if (this.#aheadMs < CLOCK_AHEAD_MAX_MS) return { state: "up" };
    const days = Math.floor(this.#aheadMs / 86_400_000);
    const detail = `The clock is ${days} days ahead of the time that is known to have passed; entries stay so much longer.`;
    return { state: "degraded", detail };
  }

  /** Does everything that is due, once. Throws what a sweep throws; a unit that fails is put off. */
  async runOnce(signal: AbortSignal): Promise<void> {
    this.#sweptMs = null;
    while (await this.#round(signal));
  }

  /** True when there may be more at once. */
  async #round(signal: AbortSignal): Promise<boolean> {
    const { sql, claimant, metrics, now } = this.#options;
    try {
      await this.#takeBack();
      const today = await this.#today(signal);
      if (this.#sweptMs === null || now() - this.#sweptMs >= SWEEP_EVERY_MS) await this.#sweep(today, signal);
      const archived = await this.#archiveDue(today, signal);
      const deleted = signal.aborted
        ? null
        : await takeTurn(sql, DELETION, () => this.#deleteDue(signal), claimant);
      const { open, failing } = await measureOpenUnits(sql);
      metrics.open.set(open);
      metrics.rounds.inc();
      this.#failing = failing > 0;
      return (archived || deleted === true) && !signal.aborted;
    } catch (error) {
      this.#failing = true;
      throw error;
    }
  }

  async #takeBack(): Promise<void> {
    if (this.#hasTakenBack) return;
    const { sql, claimant } = this.#options;
    for (const turn of [SWEEP, DELETION]) await takeTurnBack(sql, turn, claimant);
    await askPostgres(() => takeUnitsBack(sql, claimant), LEDGER_TIMEOUT_MS);
    this.#hasTakenBack = true;
  }

  /** The present day, by the time that is believed. */
  async #today(signal: AbortSignal): Promise<string> {
    const { now, believedNow, heldSince } = this.#options;
    const believedMs = await askPostgres(believedNow, LEDGER_TIMEOUT_MS);
    this.#aheadMs = now() - believedMs;
    const heldMs = await heldSince(signal);
    this.#heldDays = heldMs === null ? 0 : Math.floor((believedMs - heldMs) / 86_400_000);
    return archiveToday(Math.min(believedMs, heldMs ?? believedMs));
  }

  async #sweep(today: string, signal: AbortSignal): Promise<void> {
    const nowMs = this.#options.now();
    const { sql, claimant } = this.#options;
    const sweep = async (): Promise<void> => {
      await removeLeftovers(this.#options, today, signal);
      await planExpired(this.#options, today, signal);
    };
    await takeTurn(sql, SWEEP, sweep, claimant);
    this.#sweptMs = nowMs;
  }

  /** Brings planned units into the archive, as many as are deleted at once; true when there were any. */
  async #archiveDue(today: string, signal: AbortSignal): Promise<boolean> {
    const { sql, claimant, metrics } = this.#options;
    let units = 0;
    for (let rows = 0; units < ROUND_MAX_UNITS && rows < DELETION_MAX_ROWS && !signal.aborted; units += 1) {
      const unit = await askPostgres(() => claimPlanned(sql, claimant), LEDGER_TIMEOUT_MS);
      if (unit === null) break;
      using _renewal = this.#keepRenewed(unit);
      await this.#orPostpone([unit], signal, async () => {
        const moved = await archiveUnit(this.#options, unit, today, signal);
        metrics.units.inc({ outcome: moved === 0 ? "empty" : "archived" });
        rows += moved;
      });
    }
    return units > 0;
  }

  /** Lets the log store go of what the archive has, of any instance's units; true when there was anything. */
  async #deleteDue(signal: AbortSignal): Promise<boolean> {
    const { sql, claimant, deletionWaitMs, metrics, log } = this.#options;
    const units = await askPostgres(() => claimCommitted(sql, claimant), LEDGER_TIMEOUT_MS);
    const [first] = units;
    if (first === undefined) return false;
    using _renewal = this.#keepRenewed({ claim: first.claim, key: {} });
    // The ledger names all of them by now; whoever reads by an older list of files is done afterwards.
    await this.#orPostpone(units, signal, () => pause(deletionWaitMs, undefined, { signal }));
    const checked: CommittedUnit[] = [];
    for (const unit of units)
      await this.#orPostpone([unit], signal, async () => {
        await checkArchived(this.#options, unit, signal);
        checked.push(unit);
      });
    if (checked.length > 0)
      await this.#orPostpone(checked, signal, async () => {
        await deleteArchived(this.#options, checked, signal);
        const rows = checked.reduce((total, { facts }) => total + facts.rows, 0);
        metrics.rows.inc(rows);
        log.info({ units: checked.length, rows }, "log entries moved to the archive");
      });
    return true;
  }

  #keepRenewed(claim: Claim): Disposable {
    const { sql } = this.#options;
    return keepRenewed(() => askPostgres(() => UNITS.renew(sql, claim, UNIT_LEASE_MS)), UNIT_RENEW_MS);
  }

  /** Does a part of the work; where it fails, the units are put off, or given back when the server stops. */
  async #orPostpone(
    units: readonly ClaimedUnit[],
    signal: AbortSignal,
    work: () => Promise<void>,
  ): Promise<void> {
    const { sql, metrics, log } = this.#options;
    try {
      await work();
    } catch (error) {
      if (signal.aborted) {
        for (const unit of units) await UNITS.giveBack(sql, unit);
        return;
      }
      metrics.units.inc({ outcome: "failed" }, units.length);
      const ids = units.map(({ id }) => id);
      log.warn({ err: error, units: ids }, "log entries could not be archived; it is tried again");
      for (const unit of units) await UNITS.postpone(sql, unit, backoffMs(BACKOFF, unit.attempts));
    }
  }
}
