import type { Mutant } from "../mutant.ts";

const SEALING = ["test/rules/sealing.proof.test.ts"];
const SIGNALS = ["test/rules/signal-store.test.ts"];
const STREAMS = ["test/rules/streams/stream-store.test.ts"];
const LIVE = ["test/rules/live/live-store.test.ts"];
const DYING = ["test/domains/iocs/iocs.test.ts", "test/domains/log-errors/exactly-once.test.ts"];
const PAST = ["test/rules/past-counting.test.ts"];
const FORGETTING = ["test/rules/forgetting.test.ts"];
const EPISODES = ["test/rules/evaluation/episodes.test.ts"];
const STATES = ["test/rules/evaluation/states.test.ts", "test/rules/evaluation/states.proof.test.ts"];
const CORRELATION = ["test/rules/evaluation/correlation.proof.test.ts"];
const ARRIVAL = ["test/domains/log-alerts/arrival.proof.test.ts"];
const ALERTS = ["test/domains/log-alerts/log-alerts.test.ts"];
const BEGAN = ["test/domains/log-alerts/began.test.ts"];
const SCHEDULED = ["test/domains/log-alerts/scheduled.test.ts"];
const MISSING = ["test/domains/log-alerts/no-data.test.ts"];
const RUNS = ["test/domains/log-alerts/runs.test.ts"];
const METRICS = ["test/domains/log-metrics/log-metrics.test.ts"];
const QUIET = [
  "test/domains/log-alerts/quiet.test.ts",
  "test/domains/log-alerts/no-data.test.ts",
  "test/domains/correlation-rules/correlation-rules.test.ts",
];
const QUIET_FILE = "src/rules/live/quiet-rules.ts";

/** What is counted as it is stored, and what becomes of it: seals, counters, episodes and states of rules. */
export const RULES: readonly Mutant[] = [
  {
    name: "a seal that its writer did not survive is taken for written",
    file: "src/rules/seal/sealer.ts",
    find: "sealed === null || sealed < begun.to",
    replace: "sealed !== null && sealed < begun.to",
    tests: SEALING,
  },
  {
    name: "what a seal found is not noted when somebody else ends it",
    file: "src/rules/seal/sealer.ts",
    find: ": await this.#recover(range, signal);",
    replace: ": [];",
    tests: DYING,
  },
  {
    name: "a seal goes beyond what is stored",
    file: "src/rules/seal/sealer.ts",
    find: "if (through === stored) return { to: stored, isAll: true };",
    replace: "if (through === stored) return { to: stored + 1_000_000_000n, isAll: true };",
    tests: [...SEALING, ...METRICS],
  },
  {
    name: "a stream of an earlier start is ended before its log was read",
    file: "src/rules/seal/sealer.ts",
    find: "if (stream.isFormer && !this.#options.isRecovered()) return false;",
    replace: "",
    tests: SEALING,
  },
  {
    name: "a seal is begun though another one is under way",
    file: "src/rules/streams/stream-store.ts",
    find: "sealed_id = ${String(sealedId)} AND intent_to IS NULL`;\n    return begun.count",
    replace: "sealed_id = ${String(sealedId)}`;\n    return begun.count",
    tests: STREAMS,
  },
  {
    name: "a seal is begun by whoever has lost the stream",
    file: "src/rules/streams/stream-store.ts",
    find: "WHERE id = ${id} AND sealer = ${holder} AND sealed_id = ${String(sealedId)} AND intent_to IS NULL`;\n    return begun.count",
    replace:
      "WHERE id = ${id} AND sealed_id = ${String(sealedId)} AND intent_to IS NULL`;\n    return begun.count",
    tests: STREAMS,
  },
  {
    name: "what a seal found is noted once more by a second one who ends it",
    file: "src/rules/streams/stream-store.ts",
    find: "if (ended.count === 0) return;\n    for (const note of notes)",
    replace: "for (const note of notes)",
    tests: STREAMS,
  },
  {
    name: "a stream is ended with entries that nobody has sealed",
    file: "src/rules/streams/stream-store.ts",
    find: "WHERE id = ${id} AND intent_to IS NULL AND sealed_id = ${String(sealedId)}`;\n}",
    replace: "WHERE id = ${id}`;\n}",
    tests: STREAMS,
  },
  {
    name: "a stream is taken from a server that has it",
    file: "src/rules/streams/stream-store.ts",
    find: "ELSE place = ${place} OR lease_until <= now() END",
    replace: "ELSE true END",
    tests: STREAMS,
  },
  {
    name: "a counter begins behind a seal that counts by it",
    file: "src/rules/streams/stream-store.ts",
    find: "coalesce(intent_to, sealed_id)::text AS mark",
    replace: "sealed_id::text AS mark",
    tests: [...SEALING, ...PAST],
  },
  {
    name: "time passes for rules while a server still holds entries of then",
    file: "src/rules/streams/stream-store.ts",
    find: "SELECT min(coalesce(through, created_at)) AS through",
    replace: "SELECT max(coalesce(through, created_at)) AS through",
    tests: STREAMS,
  },
  {
    name: "a series has the counts of other organisations",
    file: "src/rules/seal/signal-store.ts",
    find: "(organization_id = {organization: UInt32} AND kind = 'count' AND key = {key: UInt64}",
    replace: "(kind = 'count'",
    tests: [...METRICS, ...SIGNALS],
  },
  {
    name: "how far a stream is sealed is read as a number of 53 bits",
    file: "src/rules/seal/signal-store.ts",
    find: "return row === undefined ? null : BigInt(String(row[0]));",
    replace: "return row === undefined ? null : BigInt(Number(row[0]));",
    tests: SIGNALS,
  },
  {
    name: "entries are counted by counters from before they began",
    file: "src/rules/counters/counter-store.ts",
    find: "WHERE organization_id = ANY(${[...organizationIds]}) AND from_revision <= ${String(revision)}\n",
    replace: "WHERE organization_id = ANY(${[...organizationIds]})\n",
    tests: SEALING,
  },
  {
    name: "a counter is forgotten while a seal counts by it",
    file: "src/rules/counters/counter-store.ts",
    find: "AND NOT EXISTS (SELECT 1 FROM ingest_streams s WHERE s.intent_revision < c.until_revision)\n",
    replace: "",
    tests: FORGETTING,
  },
  {
    name: "what was before a counter counts what seals count too",
    file: "src/rules/past/past-counting.ts",
    find: 'const past: MadeEntries = { are: "outside", spans };',
    replace: 'const past: MadeEntries = { are: "outside", spans: [] };',
    tests: PAST,
  },
  {
    name: "the past is counted without an archive that cannot be read",
    file: "src/rules/past/past-counting.ts",
    find: "if (coverage.partial)",
    replace: "if (coverage === undefined)",
    tests: PAST,
  },
  {
    name: "two episodes that grew together stay two",
    file: "src/rules/evaluation/episodes.ts",
    find: 'const merged = others.map((other) => ({ kind: "merged", id: other.id, into: id }) as const);',
    replace:
      'const merged = others.slice(1).map((other) => ({ kind: "merged", id: other.id, into: id }) as const);',
    tests: [...EPISODES, ...ARRIVAL],
  },
  {
    name: "an incident is opened once more of an episode that was told",
    file: "src/rules/evaluation/states.ts",
    find: "const untold = members.filter(({ isReported }) => !isReported);",
    replace: "const untold = members;",
    tests: STATES,
  },
  {
    name: "an incident ends before its time of grace",
    file: "src/rules/evaluation/states.ts",
    find: "const endMs = untilMs + keepFiringMs;\n    const isOver",
    replace: "const endMs = untilMs;\n    const isOver",
    tests: STATES,
  },
  {
    name: "what a rule told is forgotten",
    file: "src/rules/live/settle.ts",
    find: "await noteReported(change.tx, organizationId, reported);",
    replace: "",
    tests: [...ALERTS, ...ARRIVAL],
  },
  {
    name: "a finding is settled though somebody else has settled it",
    file: "src/rules/live/live-store.ts",
    find: "AND id = ${id} AND version = ${version}`;\n  if (locked.count === 0) return false;",
    replace: "AND id = ${id}`;\n  if (locked.count === 0) return false;",
    tests: LIVE,
  },
  {
    name: "changes that nobody has looked at are removed with those that somebody has",
    file: "src/rules/live/live-store.ts",
    find: "AND counter_id = ANY(${[...counterIds]}) AND id <= ${last}`;",
    replace: "AND counter_id = ANY(${[...counterIds]})`;",
    tests: LIVE,
  },
  {
    name: "episodes of other rules are taken for those of this one",
    file: "src/rules/live/live-store.ts",
    find: "WHERE organization_id = ${organizationId} AND rule_kind = ${kind} AND rule_id = ${ruleId}\n      AND group_key = ANY",
    replace: "WHERE organization_id = ${organizationId}\n      AND group_key = ANY",
    tests: LIVE,
  },
  {
    name: "a rule is judged before its past is counted",
    file: "src/rules/live/due-rules.ts",
    find: "WHERE rc.live_rule_id = r.id AND c.past <> 'counted')",
    replace: "WHERE rc.live_rule_id = r.id AND c.past = 'failed')",
    tests: LIVE,
  },
  {
    name: "a new rule pages for a group that is only in the past",
    file: "src/rules/live/find-stretches.ts",
    find: "points.fromMs >= start.madeMs) return null;",
    replace: "points.fromMs >= 0) return null;",
    tests: BEGAN,
  },
  {
    name: "what came after a rule was made is lost where it is a little older",
    file: "src/rules/live/find-stretches.ts",
    find: "Math.min(lastMs, atMs) > atMs - windowMs);",
    replace: "Math.min(lastMs, atMs) > atMs);",
    tests: BEGAN,
  },
  {
    name: "a window that was unusual before an anomaly rule was made is told",
    file: "src/rules/live/find-live.ts",
    find: "return counts.length === 0 ? firstMs : null;",
    replace: "return counts.length < 0 ? firstMs : null;",
    tests: BEGAN,
  },
  {
    name: "a scheduled rule asks for the same window twice",
    file: "src/rules/live/scheduled-rules.ts",
    find: "(_, i) => afterMs + (i + 1) * everyMs);",
    replace: "(_, i) => afterMs + i * everyMs);",
    tests: SCHEDULED,
  },
  {
    name: "an entry at the border of two windows of a scheduled rule is in both",
    file: "src/rules/live/scheduled-rules.ts",
    find: "to: BigInt(endMs) * NANOS_PER_MILLI - 1n,",
    replace: "to: BigInt(endMs) * NANOS_PER_MILLI,",
    tests: SCHEDULED,
  },
  {
    name: "missing data are told of again and again",
    file: "src/rules/evaluation/states.ts",
    find: 'if (after?.kind === "no_data" && before?.kind !== "no_data")',
    replace: 'if (after?.kind === "no_data")',
    tests: [...STATES, ...MISSING],
  },
  {
    name: "a look at the past records what is recorded already",
    file: "src/rules/runs/run-store.ts",
    find: "AND d.group_key = x.group_key AND d.started_at <= x.ended_at AND d.until_at >= x.started_at",
    replace: "AND d.group_key = x.group_key AND d.started_at > x.ended_at AND d.until_at >= x.started_at",
    tests: RUNS,
  },
  {
    name: "one entry stands for two steps of a sequence",
    file: "src/rules/evaluation/sequence.ts",
    find: "if (other !== undefined && !serve(other, hits, served, tried)) continue;",
    replace: "",
    tests: CORRELATION,
  },
  {
    name: "a sequence may take longer than its window",
    file: "src/rules/evaluation/sequence.ts",
    find: "if (isNew && atMs - startMs <= windowMs)",
    replace: "if (isNew && startMs > 0)",
    tests: CORRELATION,
  },
  {
    name: "a rule whose time has come is taken for quiet",
    file: QUIET_FILE,
    find: "!isWoken && failures === 0",
    replace: "failures === 0",
    tests: QUIET,
  },
  {
    name: "a rule that could not be evaluated is taken for quiet",
    file: QUIET_FILE,
    find: "!isWoken && failures === 0",
    replace: "!isWoken",
    tests: QUIET,
  },
  {
    name: "a rule that has just enough is taken for quiet",
    file: QUIET_FILE,
    find: "?.[of] ?? 0) < least",
    replace: "?.[of] ?? 0) <= least",
    tests: QUIET,
  },
  {
    name: "a rule is quiet by what came, whatever its window held before",
    file: QUIET_FILE,
    find: "countedSpan(reachedSpan(came, windowMs), windowMs)",
    replace: "countedSpan(came, windowMs)",
    tests: QUIET,
  },
  {
    name: "a rule that waits for data is taken for quiet",
    file: QUIET_FILE,
    find: "if (spans.length === 0 || isAwaited || hasNote) return [];",
    replace: "if (spans.length === 0 || hasNote) return [];",
    tests: QUIET,
  },
  {
    name: "a rule with something to say of itself is taken for quiet",
    file: QUIET_FILE,
    find: "if (spans.length === 0 || isAwaited || hasNote) return [];",
    replace: "if (spans.length === 0 || isAwaited) return [];",
    tests: QUIET,
  },
  {
    name: "what was there before a rule is taken for nothing",
    file: QUIET_FILE,
    find: "  if (span.fromMs < condition.sinceMs) return [];\n",
    replace: "",
    tests: QUIET,
  },
  {
    name: "what is late for a window that was judged is not looked at",
    file: QUIET_FILE,
    find: "spans.every(({ fromMs })",
    replace: "spans.some(({ fromMs })",
    tests: QUIET,
  },
];
