import type { TransactionSql } from "postgres";
import type { Problem } from "../../problems/events.ts";

/** The part of a rule's keys that all of its groups have; null for what is of no rule. */
export function ruleOf({ key, source }: Pick<Problem, "key" | "source">): string | null {
  return source.kind === "rule" ? key.split(":").slice(0, 3).join(":") : null;
}

/** Whether an incident is of one of the rule's groups. */
export function isOfRule(tx: TransactionSql, rule: string) {
  return tx`(source_key = ${rule} OR starts_with(source_key, ${`${rule}:`}))`;
}
