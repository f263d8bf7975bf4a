import type { Change } from "../../../changes/change.ts";
import { problemCleared, problemRaised } from "../../../problems/events.ts";
import type { Effect } from "../../../uptime/advance.ts";
import type { MonitorState } from "../../../uptime/monitor-state.ts";
import { monitorReminder, monitorUnobserved } from "./events.ts";
import type { RoundSettings } from "./round-facts.ts";

/** Characters of a name within a title, which may have 255. */
const NAME_IN_TITLE_MAX = 220;

/** Emits what is to be told of a monitor. */
export function tellEffects(
  change: Change,
  monitor: RoundSettings,
  state: MonitorState,
  effects: readonly Effect[],
): void {
  for (const effect of effects) tellEffect(change, monitor, state, effect);
}

function tellEffect(change: Change, monitor: RoundSettings, state: MonitorState, effect: Effect): void {
  const { monitorId, name, escalationPolicyId } = monitor;
  const key = `monitor:${monitorId}`;
  const certificateKey = `certificate:${monitorId}`;
  const shortName = [...name].slice(0, NAME_IN_TITLE_MAX).join("");
  const policy = escalationPolicyId === null ? {} : { escalationPolicyId };
  switch (effect.kind) {
    case "raise":
      change.emit(problemRaised, key, {
        key,
        source: { kind: "monitor", id: monitorId, name },
        title: `${shortName} is ${effect.status}`,
        severity: effect.status === "down" ? "high" : "medium",
        since: timeOf(effect.sinceMs),
        monitorIds: [monitorId],
        summary: summaryOf(effect.status, state),
        ...policy,
        evidence: { status: effect.status, error: state.lastError },
      });
      return;
    case "clear":
      change.emit(problemCleared, key, {
        key,
        at: timeOf(effect.atMs),
        cause: "recovered",
        summary: `The monitor is ${state.confirmed ?? "up"} again.`,
      });
      return;
    case "raise_certificate":
      change.emit(problemRaised, certificateKey, {
        key: certificateKey,
        source: { kind: "certificate", id: monitorId, name },
        title: `The certificate of ${shortName} expires soon`,
        severity: "medium",
        since: timeOf(change.nowMs),
        monitorIds: [monitorId],
        summary: `The certificate is valid until ${timeOf(effect.notAfterMs)}.`,
        ...policy,
        evidence: { notAfter: timeOf(effect.notAfterMs) },
      });
      return;
    case "clear_certificate":
      change.emit(problemCleared, certificateKey, {
        key: certificateKey,
        at: timeOf(effect.atMs),
        cause: "recovered",
        summary: "Another certificate is shown, which is valid for longer.",
      });
      return;
    case "unobserved":
      change.emit(monitorUnobserved, key, { monitorId, name, since: timeOf(effect.sinceMs) });
      return;
    case "remind":
      if (state.told === "up") return;
      change.emit(monitorReminder, key, {
        monitorId,
        name,
        status: state.told,
        since: timeOf(effect.sinceMs),
      });
  }
}

function summaryOf(status: "down" | "degraded", { failures, slowRounds, lastError }: MonitorState): string {
  const rounds = status === "down" ? failures : slowRounds;
  const reason = lastError === null ? "" : `, the last because of: ${lastError}`;
  return `${rounds} ${rounds === 1 ? "round" : "rounds"} in a row found it ${status}${reason}.`;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
