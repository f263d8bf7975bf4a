import type { Sql, TransactionSql } from "postgres";
import { NOTHING_KEPT } from "../../../query/index.ts";
import type { Change } from "../../changes/change.ts";
import { makeMany } from "../../changes/make-many.ts";
import { Records } from "../../changes/records.ts";
import { RuleChannels, type RuleChannelsOptions, withoutChannels } from "../../notify/rule-channels.ts";
import { type KnowsPolicy, requirePolicy } from "../../problems/known-policy.ts";
import { makeCounters } from "../../rules/counters/counter-store.ts";
import { endRule } from "../../rules/live/end-rule.ts";
import { makeLive, type NewLiveRule, redefineLive } from "../../rules/live/rule-lifecycle.ts";
import { namesFor, requireFewExpensive, requireFewScheduled } from "./bounds.ts";
import {
  areCountedAlike,
  counterOf,
  definitionOf,
  everyMsOf,
  isExpensive,
  requireTerms,
} from "./definition.ts";
import { ALERTS_MAX } from "./limits.ts";
import { type CreateLogAlertBody, DEFAULTS, StoredLogAlert, type UpdateLogAlertBody } from "./types.ts";

const TABLE = "log_alerts";
const KIND = "log";

export interface LogAlertDependencies extends RuleChannelsOptions {
  readonly sql: Sql;
  readonly knowsPolicy: KnowsPolicy;
}

/** What is written of a rule: its channels sealed. */
type Written = Partial<Omit<StoredLogAlert, "id" | "createdAt" | "updatedAt">> & {
  readonly sealedChannels?: Buffer | null;
};

/** The rules of organisations, and that each that is enabled is evaluated. */
export class LogAlerts {
  readonly #deps: LogAlertDependencies;
  readonly #records = new Records<typeof StoredLogAlert, Written, Written>({
    noun: "log alert",
    table: TABLE,
    schema: StoredLogAlert,
    maxPerOrganization: ALERTS_MAX,
  });

  readonly #channels: RuleChannels;

  constructor(deps: LogAlertDependencies) {
    this.#deps = deps;
    this.#channels = new RuleChannels(deps, TABLE);
  }

  list(organizationId: number): Promise<StoredLogAlert[]> {
    return this.#records.list(this.#deps.sql, organizationId);
  }

  /** At most `limit` within a transaction that is open. */
  listIn(tx: TransactionSql, organizationId: number, limit: number): Promise<StoredLogAlert[]> {
    return this.#records.listIn(tx, organizationId, limit);
  }

  /** Throws NOT_FOUND. */
  read(organizationId: number, id: number): Promise<StoredLogAlert> {
    return this.#records.read(this.#deps.sql, organizationId, id);
  }

  /**
   * `catalogId` is the rule of a pack or of Sigma that it is made of. Throws VALIDATION_FAILED, KQL_INVALID, ALERT_URL_BLOCKED, and CONFLICT
   * for one too many.
   */
  async create(
    change: Change,
    body: CreateLogAlertBody,
    catalogId: string | null = null,
  ): Promise<StoredLogAlert> {
    const whole = wholeOf(body);
    requireTerms(whole, change.nowMs, await namesFor(change, whole.kind));
    await requireFewScheduled(change, whole.kind, null);
    const expensive = await requireFewExpensive(change, whole, null);
    this.#channels.requireUrls(body);
    await requirePolicy(this.#deps.knowsPolicy, change, whole.escalationPolicyId);
    const alert = await this.#records.create(change, this.#written(body, { ...whole, catalogId, expensive }));
    if (alert.enabled) await begin(change, [alert]);
    return alert;
  }

  /** Makes many, and answers them in their order. What one is refused with, all are; throws what `create` does. */
  async createAll(change: Change, bodies: readonly CreateLogAlertBody[]): Promise<StoredLogAlert[]> {
    // Of some an organisation has few, who are counted one after the other.
    const isRare = bodies.map((body) => {
      const whole = wholeOf(body);
      if (whole.kind === "scheduled") return true;
      requireTerms(whole, change.nowMs, NOTHING_KEPT);
      return isExpensive(whole);
    });
    return makeMany(bodies, isRare, {
      together: (most) => this.#createTogether(change, most),
      alone: (body) => this.create(change, body),
    });
  }

  async #createTogether(change: Change, bodies: readonly CreateLogAlertBody[]): Promise<StoredLogAlert[]> {
    for (const body of bodies) this.#channels.requireUrls(body);
    for (const policy of new Set(bodies.map(({ escalationPolicyId = null }) => escalationPolicyId)))
      await requirePolicy(this.#deps.knowsPolicy, change, policy);
    const written = bodies.map((body) =>
      this.#written(body, { ...wholeOf(body), catalogId: null, expensive: false }),
    );
    const alerts = await this.#records.createAll(change, written);
    await begin(
      change,
      alerts.filter(({ enabled }) => enabled),
    );
    return alerts;
  }

  /** The columns of a new rule. */
  #written(body: CreateLogAlertBody, terms: Written): Written {
    const { alertEmail = null, fromSavedSearch: savedSearchId = null } = body;
    return { ...terms, alertEmail, savedSearchId, ...this.#channels.columnsOf(body) };
  }

  /** Throws NOT_FOUND beside what `create` throws. A rule that is counted in another way begins anew. */
  async update(change: Change, id: number, body: UpdateLogAlertBody): Promise<StoredLogAlert> {
    const { tx, organizationId } = change;
    const stored = await this.#channels.lock(tx, organizationId, id);
    const fields = withoutChannels(body);
    const before = stored === null ? null : await this.#records.readIn(tx, organizationId, id);
    let expensive = false;
    if (before !== null) {
      const whole = { ...before, ...fields };
      requireTerms(whole, change.nowMs, await namesFor(change, whole.kind));
      await requireFewScheduled(change, whole.kind, id);
      expensive = await requireFewExpensive(change, whole, id);
    }
    this.#channels.requireUrls(body);
    await requirePolicy(this.#deps.knowsPolicy, change, fields.escalationPolicyId);
    const after = await this.#records.update(change, id, {
      ...{ ...fields, expensive, ...this.#channels.columnsOf(body, stored) },
    });
    if (before === null) return after;
    if (before.enabled && after.enabled && areCountedAlike(before, after))
      await redefineLive(tx, organizationId, { kind: KIND, ruleId: id, definition: definitionOf(after) });
    else {
      if (before.enabled) await endRule(change, { kind: KIND, ruleId: id }, "paused");
      if (after.enabled) await begin(change, [after]);
    }
    return after;
  }

  /**
   * Makes the rule of that key, or changes the one of it to this, which stays switched on or off and tells whom it told. Throws
   * what `create` does.
   */
  async put(
    change: Change,
    key: string,
    body: CreateLogAlertBody,
  ): Promise<{ readonly id: number; readonly updated: boolean }> {
    const { tx, organizationId } = change;
    const [known] = await tx<{ id: number }[]>`
      SELECT id::integer FROM log_alerts WHERE organization_id = ${organizationId} AND catalog_id = ${key}`;
    if (known === undefined) return { id: (await this.create(change, body, key)).id, updated: false };
    const { enabled: _enabled, ...terms } = body;
    const { description = null, attackTechnique = null } = body;
    await this.update(change, known.id, { ...terms, description, attackTechnique });
    return { id: known.id, updated: true };
  }

  /** Throws NOT_FOUND. */
  async remove(change: Change, id: number): Promise<void> {
    await this.#records.remove(change, id);
    await endRule(change, { kind: KIND, ruleId: id }, "deleted");
  }
}

/** The terms of a body with what it does not say. */
export function wholeOf(body: CreateLogAlertBody) {
  const { description = null, query = null, kql = null, service = null, level = null } = body;
  const { attackTechnique = null, forSec = null, keepFiringSec = null, escalationPolicyId = null } = body;
  const { noDataSec = null, recoverThreshold = null, everySec = null } = body;
  const { name, kind, severity, groupBy, threshold, windowSec, baselineHours } = { ...DEFAULTS, ...body };
  const { ratioThreshold, minBaselineEvents, direction, enabled } = { ...DEFAULTS, ...body };
  return {
    ...{
      name,
      description,
      query,
      kql,
      service,
      level,
      attackTechnique,
      forSec,
      keepFiringSec,
      noDataSec,
      recoverThreshold,
      everySec,
      escalationPolicyId,
    },
    ...{ kind, severity, groupBy: [...groupBy], threshold, windowSec, baselineHours },
    ...{ ratioThreshold, minBaselineEvents, direction, enabled },
  };
}

async function begin(
  { tx, organizationId, nowMs }: Change,
  alerts: readonly StoredLogAlert[],
): Promise<void> {
  const counted = alerts.filter(({ kind }) => kind !== "scheduled");
  const counters = counted.map((alert) => counterOf(alert, nowMs));
  const ids = await makeCounters(tx, organizationId, counters, nowMs);
  const counterOfAlert = new Map(counted.map(({ id }, i) => [id, ids[i]]));
  const rules = alerts.map((alert): NewLiveRule => {
    const counterId = counterOfAlert.get(alert.id);
    return { kind: KIND, ruleId: alert.id, ...beginning(alert, counterId, nowMs) };
  });
  await makeLive(tx, organizationId, rules, nowMs);
}

/** How a rule begins: by the counter of its entries, or by asking a query from its last turn on. */
function beginning(
  alert: StoredLogAlert,
  counterId: number | undefined,
  nowMs: number,
): Omit<NewLiveRule, "kind" | "ruleId"> {
  if (counterId === undefined) {
    const everyMs = everyMsOf(alert);
    const lookFromMs = Math.floor(nowMs / everyMs) * everyMs;
    return { counterIds: [], definition: definitionOf(alert, lookFromMs), times: { lookFromMs } };
  }
  const { noDataSec, groupBy } = alert;
  const missingFromMs = noDataSec === null || groupBy.length > 0 ? null : nowMs + noDataSec * 1000;
  return { counterIds: [counterId], definition: definitionOf(alert), times: { missingFromMs } };
}
