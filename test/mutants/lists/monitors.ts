import type { Mutant } from "../mutant.ts";

const SLOTS = ["test/probes/schedule/slots.test.ts"];
const SCHEDULE = ["test/probes/schedule/schedule.test.ts"];
const COMMIT = ["test/domains/monitors/scheduling/round-commit.test.ts"];
const SHARDS = ["test/domains/monitors/scheduling/shard-store.test.ts"];
const LEDGER = ["test/domains/monitors/scheduling/ledger.proof.test.ts"];
const OUTAGES = ["test/domains/monitors/scheduling/outages.test.ts"];
const ADVANCE = ["test/uptime/advance.test.ts"];
const SILENT = ["test/domains/monitors/scheduling/silent-instance.test.ts"];
const ROUNDS = ["test/domains/monitors/scheduling/rounds.test.ts"];

/** Slots of monitors that would be lost or doubled, and alarms that would be false. */
export const MONITORS: readonly Mutant[] = [
  {
    name: "a slot that was missed is not counted",
    file: "src/probes/schedule/slots.ts",
    find: "return 1 + afterwards;",
    replace: "return afterwards;",
    tests: SLOTS,
  },
  {
    name: "whoever is late takes the oldest slot that is due",
    file: "src/probes/schedule/slots.ts",
    find: "return Math.max(due, slotAtOrBefore(grid, nowMs));",
    replace: "return due;",
    tests: [...SLOTS, ...SCHEDULE],
  },
  {
    name: "a monitor that is taken again is checked beside its own check",
    file: "src/probes/schedule/schedule.ts",
    find: "entry === undefined || this.#running.has(monitorId)",
    replace: "entry === undefined",
    tests: SCHEDULE,
  },
  {
    name: "checks begin though the lease is over",
    file: "src/probes/schedule/schedule.ts",
    find: "if (this.#monotonicNow() > this.#mayStartUntilMs) return;",
    replace: "",
    tests: SCHEDULE,
  },
  {
    name: "the clock of slots goes back with the clock of the database",
    file: "src/probes/schedule/slot-clock.ts",
    find: "(behindMs > CLOCK_STEP_MS ? behindMs : 0)",
    replace: "behindMs",
    tests: ["test/probes/schedule/slot-clock.test.ts"],
  },
  {
    name: "a slot is recorded again",
    file: "src/domains/monitors/scheduling/judge-rounds.ts",
    find: "slotMs > (last.get(monitorId) ?? state.lastSlotMs)",
    replace: "slotMs >= state.lastSlotMs",
    tests: COMMIT,
  },
  {
    name: "what is recorded under a lease that is another's counts",
    file: "src/domains/monitors/scheduling/judge-rounds.ts",
    find: "facts.epochs.get(shard) === epochOf(shard)",
    replace: "epochOf(shard) !== undefined",
    tests: COMMIT,
  },
  {
    name: "slots that nobody looked at are not recorded",
    file: "src/domains/monitors/scheduling/judge-rounds.ts",
    find: "dueMs === 0 || settings.isHeartbeat ? 0",
    replace: "dueMs >= 0 || settings.isHeartbeat ? 0",
    tests: [...COMMIT, ...LEDGER],
  },
  {
    name: "a restart takes its shards back under the old epoch",
    file: "src/domains/monitors/scheduling/shard-store.ts",
    find: "SET owner = ${owner}, epoch = epoch + 1,",
    replace: "SET owner = ${owner}, epoch = epoch,",
    tests: COMMIT,
  },
  {
    name: "an instance that lives loses its shards to another",
    file: "src/domains/monitors/scheduling/shard-store.ts",
    find: "(owner = ${owner} OR leased_until <= now() OR leased_until > ${fromNow(tx, LEASE_MS)}) AND",
    replace: "",
    tests: SHARDS,
  },
  {
    name: "rounds that could not be written are forgotten",
    file: "src/domains/monitors/scheduling/commit-queue.ts",
    find: "if (error instanceof DependencyError) throw error;",
    replace: "if (error instanceof DependencyError) return;",
    tests: ["test/domains/monitors/scheduling/commit-queue.test.ts"],
  },
  {
    name: "results that are tried again go under another token",
    file: "src/storage/insert-once.ts",
    find: "insert_deduplication_token: token,",
    replace: "insert_deduplication_token: crypto.randomUUID(),",
    tests: OUTAGES,
  },
  {
    name: "results are removed though they are not stored",
    file: "src/domains/monitors/scheduling/batch-sender.ts",
    find: "      throw error;\n    }\n    await askPostgres(() => removeBatches",
    replace: "    }\n    await askPostgres(() => removeBatches",
    tests: OUTAGES,
  },
  {
    name: "a round overtakes an earlier one of its monitor, whose checks are lost then",
    file: "src/domains/monitors/scheduling/rounds.ts",
    find: "open.slotMs <= slotMs",
    replace: "open.slotMs === slotMs",
    tests: ROUNDS,
  },
  {
    name: "a region's second report counts",
    file: "src/domains/monitors/scheduling/rounds.ts",
    find: "round?.awaited.delete(check.region) !== true",
    replace: "round === undefined || (round.awaited.delete(check.region), false)",
    tests: ROUNDS,
  },
  {
    name: "half of the regions are enough for down",
    file: "src/uptime/quorum.ts",
    find: "down > known / 2",
    replace: "down >= known / 2",
    tests: ["test/uptime/quorum.test.ts"],
  },
  {
    name: "one failure more than the threshold is needed",
    file: "src/uptime/advance.ts",
    find: "if (rounds < thresholdOf(",
    replace: "if (rounds <= thresholdOf(",
    tests: ADVANCE,
  },
  {
    name: "an outage begins when it was confirmed",
    file: "src/uptime/advance.ts",
    find: "const sinceMs = counted.runStartedAtMs ?? atMs;",
    replace: "const sinceMs = atMs;",
    tests: ADVANCE,
  },
  {
    name: "maintenance forgets what it did not tell",
    file: "src/uptime/advance.ts",
    find: "if (isInMaintenance) return { state, effects: [], periods };",
    replace: "if (isInMaintenance) return { ...tell(state, config, verdict.atMs), effects: [], periods };",
    tests: [...ADVANCE, ...COMMIT],
  },
  {
    name: "a server that was away calls every heartbeat missed",
    file: "src/domains/monitors/scheduling/heartbeat-watch.ts",
    find: "m.resumed_at, r.run_since)",
    replace: "m.resumed_at)",
    tests: ["test/domains/monitors/scheduling/heartbeat-watch.test.ts"],
  },
  {
    name: "an instance that was stopped in a change keeps what it locked",
    file: "src/changes/changes.ts",
    find: "await endWhenStuck(tx, patient(CHANGE_TIMEOUT_MS));",
    replace: "",
    tests: ["test/changes/changes.test.ts", ...SILENT],
  },
  {
    name: "a statement that nobody waits for goes on",
    file: "src/storage/stuck-transaction.ts",
    find: ",\n           set_config('statement_timeout', ${String(maxMs)}, true)",
    replace: "",
    tests: ["test/changes/changes.test.ts"],
  },
  {
    name: "an instance that was stopped while it shared monitors out keeps them",
    file: "src/domains/monitors/scheduling/shard-store.ts",
    find: "await endWhenStuck(tx, LEASE_MS);",
    replace: "",
    tests: SILENT,
  },
  {
    name: "a period that begins with the one that goes on is lost",
    file: "src/uptime/period-store.ts",
    find: "open.started_at >= given.since",
    replace: "open.started_at > given.since",
    tests: ["test/uptime/period-store.test.ts"],
  },
  {
    name: "two instances both say that an objective is missed",
    file: "src/domains/monitors/scheduling/slo-watch.ts",
    find: "if (count === 0) return;",
    replace: "",
    tests: ["test/domains/monitors/scheduling/slo-watch.test.ts"],
  },
];
