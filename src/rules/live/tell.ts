import { createHash } from "node:crypto";
import type { Change } from "../../changes/change.ts";
import { problemCleared, problemRaised, problemSubject, type RuleEvidence } from "../../problems/events.ts";
import { groupValues } from "../counters/groups.ts";
import type { StepEvidence } from "../evaluation/step-evidence.ts";
import type { RuleDefinition } from "./definition.ts";
import type { LiveRule, RuleKind, StoredEpisode } from "./live-store.ts";

const TITLE_MAX_CHARS = 255;
/** Names of groups up to this long stand in the key of their problem; others by their hash. */
const GROUP_IN_KEY_MAX_CHARS = 200;

/** What the incident of a rule and a group is known by. */
function ruleProblemKey(kind: RuleKind, ruleId: number, group: string): string {
  const name =
    group.length <= GROUP_IN_KEY_MAX_CHARS
      ? group
      : `sha256:${createHash("sha256").update(group).digest("hex")}`;
  return group === "" ? `rule:${kind}:${ruleId}` : `rule:${kind}:${ruleId}:${name}`;
}

/** Tells whoever opens incidents that the condition of a rule holds. */
export function tellRaised(
  change: Change,
  { kind, ruleId, definition }: LiveRule,
  group: string,
  episode: StoredEpisode,
  because: string,
  entries: readonly StepEvidence[] = [],
): void {
  const { name, severity, attackTechnique, escalationPolicyId, windowMs, condition, groupBy } = definition;
  const key = ruleProblemKey(kind, ruleId, group);
  const values = groupValues(group);
  const of = values.length === 0 ? "" : ` (${values.map((value) => value || "none").join(", ")})`;
  change.emit(problemRaised, problemSubject(key), {
    key,
    source: { kind: "rule", id: ruleId, name },
    title: [...`${name}${of}`].slice(0, TITLE_MAX_CHARS).join(""),
    severity,
    since: new Date(episode.fromMs).toISOString(),
    monitorIds: [],
    summary: because,
    ...(escalationPolicyId !== null && { escalationPolicyId }),
    evidence: evidenceOf({
      ...{ ruleId, ruleKind: kind, detectionId: episode.id, condition: condition.kind, attackTechnique },
      groupKey: Object.fromEntries(groupBy.map((field, i) => [field, values[i] ?? null])),
      windowSec: windowMs / 1000,
      from: new Date(episode.fromMs - windowMs).toISOString(),
      to: new Date(episode.toMs).toISOString(),
      peak: episode.peak,
      ...(entries.length > 0 && { entries: [...entries] }),
    }),
  });
}

/** Tells that nothing comes any more of what a rule counts, which is an incident of its own. */
export function tellMissing(
  change: Change,
  { kind, ruleId, definition }: LiveRule,
  group: string,
  atMs: number,
): void {
  const { name, severity, attackTechnique, escalationPolicyId, windowMs, groupBy, noDataMs } = definition;
  const key = missingKey(kind, ruleId, group);
  const values = groupValues(group);
  const of = values.length === 0 ? "" : ` (${values.map((value) => value || "none").join(", ")})`;
  const lastMs = atMs - (noDataMs ?? 0);
  const ending = `${of}: no data`;
  change.emit(problemRaised, problemSubject(key), {
    key,
    source: { kind: "rule", id: ruleId, name },
    title: [...[...name].slice(0, TITLE_MAX_CHARS - 20), ...ending].slice(0, TITLE_MAX_CHARS).join(""),
    severity,
    since: new Date(lastMs).toISOString(),
    monitorIds: [],
    summary: `No entry that the rule counts came after ${new Date(lastMs).toISOString()}; it tells of ${(noDataMs ?? 0) / 1000} s without one.`,
    ...(escalationPolicyId !== null && { escalationPolicyId }),
    evidence: evidenceOf({
      ...{ ruleId, ruleKind: kind, condition: "no_data", attackTechnique },
      groupKey: Object.fromEntries(groupBy.map((field, i) => [field, values[i] ?? null])),
      windowSec: windowMs / 1000,
      from: new Date(lastMs).toISOString(),
      to: new Date(atMs).toISOString(),
      peak: 0,
    }),
  });
}

/** Entries come again. */
export function tellReturned(
  change: Change,
  { kind, ruleId }: Pick<LiveRule, "kind" | "ruleId">,
  group: string,
  atMs: number,
): void {
  const key = missingKey(kind, ruleId, group);
  const at = new Date(atMs).toISOString();
  const summary = "Entries that the rule counts come again.";
  change.emit(problemCleared, problemSubject(key), { key, at, cause: "recovered", summary });
}

function missingKey(kind: RuleKind, ruleId: number, group: string): string {
  return `${ruleProblemKey(kind, ruleId, group)}:no-data`;
}

/** As the record of an incident carries it. */
function evidenceOf(evidence: RuleEvidence): Record<string, unknown> {
  return { ...evidence };
}

export function tellCleared(
  change: Change,
  { kind, ruleId }: Pick<LiveRule, "kind" | "ruleId">,
  group: string,
  cleared: {
    readonly atMs: number;
    readonly cause: "recovered" | "paused" | "deleted";
    /** Whether it is the incident of missing entries. */
    readonly isMissing?: boolean;
  },
): void {
  const key = (cleared.isMissing === true ? missingKey : ruleProblemKey)(kind, ruleId, group);
  const summary = {
    recovered: "The condition of the rule holds no longer.",
    paused: "The rule is not evaluated any more.",
    deleted: "The rule was deleted.",
  }[cleared.cause];
  const at = new Date(cleared.atMs).toISOString();
  change.emit(problemCleared, problemSubject(key), { key, at, cause: cleared.cause, summary });
}

/** Why a threshold is reached, in one sentence. */
export function explainThreshold({ windowMs }: RuleDefinition, threshold: number, peak: number): string {
  const entries = peak === 1 ? "1 entry" : `${peak} entries`;
  return `${entries} in ${windowMs / 1000} s; the rule tells of ${threshold} or more.`;
}
