import { type ConfigKind, configKind } from "../../configuration/config-kind.ts";
import { oneByOne, recordsOf, verbsOf } from "../../configuration/record-kinds.ts";
import type { RuleDirectory } from "./rule-directory.ts";
import { ingestRules } from "./rules.ts";
import { CreateIngestRuleBody, UpdateIngestRuleBody } from "./types.ts";

/** Ingest rules as files describe them. */
export function ingestRuleKind(rules: Pick<RuleDirectory, "forget">): ConfigKind {
  return configKind({
    kind: "ingest-rules",
    audit: "INGEST_RULE",
    table: "ingest_rules",
    read: { role: "viewer", scope: "sources:read" },
    write: { role: "member", scope: "sources:write" },
    create: CreateIngestRuleBody,
    update: UpdateIngestRuleBody,
    defaults: { enabled: true, position: 0 },
    list: recordsOf(ingestRules),
    ...verbsOf({ ...ingestRules, createAll: oneByOne(ingestRules.create) }, (change) =>
      change.afterCommit(() => rules.forget(change.organizationId)),
    ),
  });
}
