import type { Change } from "../../changes/change.ts";
import { endCounter } from "../counters/counter-store.ts";
import type { LiveRule } from "./live-store.ts";
import { endLive } from "./rule-lifecycle.ts";
import { tellCleared } from "./tell.ts";

/**
 * Evaluates a rule no more, for a while or ever. With it end what counts for it and its incidents, for nobody else will say when
 * they are over.
 */
export async function endRule(
  change: Change,
  rule: Pick<LiveRule, "kind" | "ruleId">,
  cause: "paused" | "deleted",
): Promise<void> {
  const { tx, organizationId, nowMs } = change;
  const ended = await endLive(tx, organizationId, rule, { nowMs, cause });
  if (ended === null) return;
  for (const counterId of ended.counterIds) await endCounter(tx, organizationId, counterId);
  for (const group of ended.groups) tellCleared(change, rule, group, { atMs: nowMs, cause });
  for (const group of ended.missing)
    tellCleared(change, rule, group, { atMs: nowMs, cause, isMissing: true });
}
