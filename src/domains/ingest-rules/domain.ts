import { type IngestRuleRouteDependencies, ingestRuleRoutes } from "./routes.ts";
import type { RuleCounter } from "./rule-counts.ts";
import { removeOldRuleCounts } from "./store.ts";

interface IngestRuleDependencies extends IngestRuleRouteDependencies {
  readonly ruleCounter: RuleCounter;
}

/** Rules for entries before they are stored: what people do with them, and what they did. */
export function ingestRuleDomain({ ruleCounter, ...deps }: IngestRuleDependencies) {
  return {
    routes: ingestRuleRoutes(deps),
    housekeeping: [removeOldRuleCounts],
    settle: () => ruleCounter.settled(),
  };
}
