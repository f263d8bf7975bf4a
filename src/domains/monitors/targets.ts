import { ApiError, type FieldIssue } from "../../errors.ts";
import type { MonitorType } from "../../probes/check.ts";
import type { MonitorSettings } from "./types.ts";

/** What is to be thought of a written target of a type; no name is resolved. */
export type JudgeTarget = (type: MonitorType, text: string) => "ok" | "invalid" | "blocked";

/** Targets by which nothing can be watched. `at` is the JSON pointer of the monitor. */
export function targetIssues(judge: JudgeTarget, settings: MonitorSettings, at: string): FieldIssue[] {
  const { type } = settings;
  return targetsOf(settings)
    .filter(({ text }) => judge(type, text) === "invalid")
    .map(({ field }) => ({
      path: `${at}/${field}`,
      code: "custom",
      message: `is nothing that a monitor of type ${type} can watch`,
    }));
}

/** Throws TARGET_BLOCKED for a target that the server does not connect to. */
export function requireTargets(judge: JudgeTarget, settings: MonitorSettings, at: string): void {
  const blocked = targetsOf(settings).find(({ text }) => judge(settings.type, text) === "blocked");
  if (blocked === undefined) return;
  throw new ApiError(
    "TARGET_BLOCKED",
    `${at}/${blocked.field} leads to this machine, its link or a network that may not be watched; OUTBOUND_ALLOW names what may be all the same, MONITOR_ALLOW_PRIVATE=1 opens private networks.`,
  );
}

/** What the checks of a monitor connect to: of several steps the URL of each, and then not its own. */
function targetsOf({ type, url, steps }: MonitorSettings): { field: string; text: string }[] {
  if (type !== "multi_step") return [{ field: "url", text: url }];
  return (steps ?? []).map((step, index) => ({ field: `steps/${index}/url`, text: step.url }));
}
