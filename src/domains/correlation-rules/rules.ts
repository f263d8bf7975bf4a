import type { Sql, TransactionSql } from "postgres";
import type { Change } from "../../changes/change.ts";
import { Records } from "../../changes/records.ts";
import { validationFailed } from "../../errors.ts";
import { RuleChannels, type RuleChannelsOptions, withoutChannels } from "../../notify/rule-channels.ts";
import { type KnowsPolicy, requirePolicy } from "../../problems/known-policy.ts";
import { makeCounters } from "../../rules/counters/counter-store.ts";
import { endRule } from "../../rules/live/end-rule.ts";
import { makeLive } from "../../rules/live/rule-lifecycle.ts";
import { CORRELATIONS } from "../../rules/packs/correlations.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import { countersOf, definitionOf, requireTerms } from "./definition.ts";
import { RULES_MAX } from "./limits.ts";
import {
  type CreateCorrelationBody,
  type Seeded,
  StoredCorrelation,
  type UpdateCorrelationBody,
} from "./types.ts";

const TABLE = "correlation_rules";
const KIND = "correlation";

export interface CorrelationDependencies extends RuleChannelsOptions {
  readonly sql: Sql;
  readonly knowsPolicy: KnowsPolicy;
}

/** What is written of a rule: its channels sealed. */
type Written = Partial<Omit<StoredCorrelation, "id" | "createdAt" | "updatedAt">> & {
  readonly sealedChannels?: Buffer | null;
};

/** The terms of a body with what it does not say. */
export function wholeOf(body: CreateCorrelationBody) {
  const { name, kind, joinField, severity = "medium", windowSec = 300, enabled = true } = body;
  const { attackTechnique = null, description = null, escalationPolicyId = null } = body;
  const { steps = null, matchKql = null, distinctField = null, threshold = null } = body;
  return {
    ...{ name, kind, joinField, severity, windowSec, enabled },
    ...{ attackTechnique, description, escalationPolicyId },
    ...{
      steps: steps === null ? null : steps.map(({ kql }) => ({ kql })),
      matchKql,
      distinctField,
      threshold,
    },
  };
}

/** The rules of organisations, and that each that is enabled is evaluated. */
export class Correlations {
  readonly #deps: CorrelationDependencies;
  readonly #records = new Records<typeof StoredCorrelation, Written, Written>({
    noun: "correlation rule",
    table: TABLE,
    schema: StoredCorrelation,
    maxPerOrganization: RULES_MAX,
  });

  readonly #channels: RuleChannels;

  constructor(deps: CorrelationDependencies) {
    this.#deps = deps;
    this.#channels = new RuleChannels(deps, TABLE);
  }

  list(organizationId: number): Promise<StoredCorrelation[]> {
    return this.#records.list(this.#deps.sql, organizationId);
  }

  /** At most `limit` within a transaction that is open. */
  listIn(tx: TransactionSql, organizationId: number, limit: number): Promise<StoredCorrelation[]> {
    return this.#records.listIn(tx, organizationId, limit);
  }

  /** Throws NOT_FOUND. */
  read(organizationId: number, id: number): Promise<StoredCorrelation> {
    return this.#records.read(this.#deps.sql, organizationId, id);
  }

  /** Throws VALIDATION_FAILED, KQL_INVALID, ALERT_URL_BLOCKED, and CONFLICT for one too many. */
  async create(
    change: Change,
    body: CreateCorrelationBody,
    catalogId: string | null = null,
  ): Promise<StoredCorrelation> {
    const whole = wholeOf(body);
    requireTerms(whole);
    this.#channels.requireUrls(body);
    await requirePolicy(this.#deps.knowsPolicy, change, whole.escalationPolicyId);
    const { alertEmail = null } = body;
    const rule = await this.#records.create(change, {
      ...{ ...whole, alertEmail, catalogId, ...this.#channels.columnsOf(body) },
    });
    if (rule.enabled) await begin(change, rule);
    return rule;
  }

  /** Throws NOT_FOUND beside what `create` throws. What is changed begins anew: nothing from before tells. */
  async update(change: Change, id: number, body: UpdateCorrelationBody): Promise<StoredCorrelation> {
    const { tx, organizationId } = change;
    const channels = await this.#channels.lock(tx, organizationId, id);
    const fields = withoutChannels(body);
    const before = channels === null ? null : await this.#records.readIn(tx, organizationId, id);
    if (before !== null) {
      if (fields.kind !== undefined && fields.kind !== before.kind)
        throw validationFailed([{ path: "/kind", code: "custom", message: "of a rule never changes" }]);
      requireTerms({ ...before, ...fields });
    }
    this.#channels.requireUrls(body);
    await requirePolicy(this.#deps.knowsPolicy, change, fields.escalationPolicyId);
    const after = await this.#records.update(change, id, {
      ...{ ...fields, ...this.#channels.columnsOf(body, channels) },
    });
    if (before?.enabled === true) await endRule(change, { kind: KIND, ruleId: id }, "paused");
    if (after.enabled) await begin(change, after);
    return after;
  }

  /**
   * Makes the rule of that key, or changes the one of it to this, which stays switched on or off and tells whom it told; one of
   * another kind takes its place. Throws what `create` does.
   */
  async put(
    change: Change,
    key: string,
    body: CreateCorrelationBody,
  ): Promise<{ readonly id: number; readonly updated: boolean }> {
    const { tx, organizationId } = change;
    const [known] = await tx<{ id: number; kind: string }[]>`
      SELECT id::integer, kind FROM correlation_rules
      WHERE organization_id = ${organizationId} AND catalog_id = ${key}`;
    if (known !== undefined && known.kind === body.kind) {
      const { enabled: _enabled, ...terms } = body;
      const { description = null, attackTechnique = null } = body;
      await this.update(change, known.id, { ...terms, description, attackTechnique });
      return { id: known.id, updated: true };
    }
    if (known !== undefined) await this.remove(change, known.id);
    return { id: (await this.create(change, body, key)).id, updated: known !== undefined };
  }

  /** Throws NOT_FOUND. */
  async remove(change: Change, id: number): Promise<void> {
    await this.#records.remove(change, id);
    await endRule(change, { kind: KIND, ruleId: id }, "deleted");
  }

  /** Makes a rule of each of the catalogue that the organisation has none of yet; others stay as they are. Throws CONFLICT. */
  async seed(change: Change, enabled: boolean): Promise<Seeded> {
    const { tx, organizationId } = change;
    await lockOrganization(tx, organizationId);
    const rows = await tx<{ catalogId: string }[]>`
      SELECT catalog_id AS "catalogId" FROM correlation_rules
      WHERE organization_id = ${organizationId} AND catalog_id IS NOT NULL`;
    const known = new Set(rows.map(({ catalogId }) => catalogId));
    const missing = CORRELATIONS.filter(({ id }) => !known.has(id));
    for (const { id, condition, chain: _chain, ...rule } of missing) {
      const asked =
        condition.kind === "sequence"
          ? { kind: condition.kind, steps: condition.steps.map((kql) => ({ kql })) }
          : condition;
      await this.create(change, { ...rule, ...asked, enabled }, id);
    }
    const counts = { created: missing.length, existing: CORRELATIONS.length - missing.length };
    change.record({ resource: "correlation-rules", after: counts });
    return counts;
  }
}

async function begin({ tx, organizationId, nowMs }: Change, rule: StoredCorrelation): Promise<void> {
  const counterIds = await makeCounters(tx, organizationId, countersOf(rule, nowMs), nowMs);
  const definition = definitionOf(rule, nowMs);
  await makeLive(
    tx,
    organizationId,
    [{ kind: KIND, ruleId: rule.id, counterIds, definition, times: {} }],
    nowMs,
  );
}
