import type { Sql } from "postgres";
import { MASKABLE_COLUMNS } from "../../../ingest/index.ts";
import { Records } from "../../changes/records.ts";
import { type FieldIssue, validationFailed } from "../../errors.ts";
import { readRule } from "./compile-rule.ts";
import { RULES_MAX } from "./limits.ts";
import { type CreateIngestRuleBody, IngestRule, type RuleTerms, type UpdateIngestRuleBody } from "./types.ts";

/** Columns that say when, how bad and which an entry is: without them it is none. */
const UNMASKABLE_COLUMNS = new Set(["ts", "level", "id", "receivedAt", "attrs"]);
const ATTRIBUTES = "attrs.";

export const ingestRules = new Records<typeof IngestRule, CreateIngestRuleBody, UpdateIngestRuleBody>({
  noun: "ingest rule",
  table: "ingest_rules",
  schema: IngestRule,
  maxPerOrganization: RULES_MAX,
  check: (fields, before) => checkTerms(termsOf({ ...before, ...fields })),
});
export const { create: createRule, update: updateRule, remove: removeRule } = ingestRules;

/** In the order in which they are asked. */
export async function listRules(sql: Sql, organizationId: number): Promise<IngestRule[]> {
  const rules = await ingestRules.list(sql, organizationId);
  return rules.toSorted((left, right) => left.position - right.position || left.id - right.id);
}

/** Throws NOT_FOUND. */
export function readRuleRecord(sql: Sql, organizationId: number, id: number): Promise<IngestRule> {
  return ingestRules.read(sql, organizationId, id);
}

/** What a rule that is to be made would do. Throws VALIDATION_FAILED and KQL_INVALID. */
export function checkedTerms(fields: CreateIngestRuleBody): RuleTerms {
  const terms = termsOf(fields);
  checkTerms(terms);
  return terms;
}

function termsOf(fields: CreateIngestRuleBody | UpdateIngestRuleBody): RuleTerms {
  const { action, query, keepOneIn, fields: names, patterns } = fields;
  if (action === undefined) throw new TypeError("a rule without an action");
  return {
    action,
    query: query ?? null,
    keepOneIn: keepOneIn ?? null,
    fields: names ?? null,
    patterns: patterns ?? null,
  };
}

function checkTerms(terms: RuleTerms): void {
  const issues = [...issuesOfAction(terms), ...(terms.fields ?? []).flatMap(issuesOfField)];
  if (issues.length > 0) throw validationFailed(issues);
  readRule(terms);
}

/** Every action has its own fields, and none of the others'. */
function issuesOfAction({ action, keepOneIn, fields, patterns }: RuleTerms): FieldIssue[] {
  const issues: FieldIssue[] = [];
  if (action === "sample" && keepOneIn === null)
    issues.push(issue("/keepOneIn", "is needed: of how many entries one is kept"));
  if (action !== "sample" && keepOneIn !== null) issues.push(issue("/keepOneIn", "is of rules that sample"));
  if (action === "mask" && (fields ?? []).length + (patterns ?? []).length === 0)
    issues.push(issue("/fields", "or `patterns` has to say what is masked"));
  if (action !== "mask" && fields !== null) issues.push(issue("/fields", "is of rules that mask"));
  if (action !== "mask" && patterns !== null) issues.push(issue("/patterns", "is of rules that mask"));
  return issues;
}

function issuesOfField(field: string, at: number): FieldIssue[] {
  const path = `/fields/${at}`;
  if (UNMASKABLE_COLUMNS.has(field))
    return [issue(path, `cannot be masked; of the columns ${MASKABLE_COLUMNS.join(", ")} can`)];
  if (field.startsWith(ATTRIBUTES))
    return [issue(path, `names an attribute, which is called \`${field.slice(ATTRIBUTES.length)}\` here`)];
  return [];
}

function issue(path: string, message: string): FieldIssue {
  return { path, code: "custom", message };
}
