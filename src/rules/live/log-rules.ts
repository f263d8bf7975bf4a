import type { CountedRules } from "./counted-rules.ts";
import type { RuleFinder } from "./rule-finder.ts";
import type { ScheduledRules } from "./scheduled-rules.ts";

/** Rules about logs: those that count entries, and those that ask a query. */
export function logRules(counted: CountedRules, scheduled: ScheduledRules): RuleFinder {
  return {
    find: (rule, at, signal) =>
      (rule.definition.condition.kind === "scheduled" ? scheduled : counted).find(rule, at, signal),
  };
}
