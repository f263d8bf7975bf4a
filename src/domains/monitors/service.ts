import type { Sql, TransactionSql } from "postgres";
import type { SecretBox } from "../../access/secret-box.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError, type FieldIssue, validationFailed } from "../../errors.ts";
import { requireAlertUrls } from "../../notify/alert-channels.ts";
import type { OutboundPolicy } from "../../outbound/outbound-policy.ts";
import { problemCleared } from "../../problems/events.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { beginPause, endPause } from "../../uptime/pausing.ts";
import type { PlanCaps } from "../../usage/plan.ts";
import { MONITORS_MAX } from "./limits.ts";
import { auditedFields, monitorOf, SENSITIVE_FIELDS } from "./monitor-record.ts";
import { settingsIssues } from "./rules.ts";
import type { HeartbeatToken, MonitorSecrets } from "./secret-types.ts";
import { columnsOf, mintHeartbeatToken, openHeartbeatToken, settingsOf } from "./secrets.ts";
import {
  countMonitorsLocked,
  deleteMonitors,
  findMonitors,
  insertMonitors,
  listMonitors,
  lockMonitors,
  updateMonitor,
  type WatchedMonitorRow,
} from "./store.ts";
import { type JudgeTarget, requireTargets, targetIssues } from "./targets.ts";
import {
  type CreateMonitorBody,
  DEFAULTS,
  type Monitor,
  type MonitorSettings,
  type UpdateMonitorBody,
} from "./types.ts";

export interface MonitorDependencies {
  readonly sql: Sql;
  readonly box: SecretBox;
  readonly plans: Pick<PlanCaps, "plan">;
  /** Where the server's own address is the beginning of those of heartbeats. */
  readonly publicUrl: string;
  /** To which URLs alerts may be sent. */
  readonly alertPolicy: OutboundPolicy;
  readonly judgeTarget: JudgeTarget;
  /** Whether the organisation has an escalation policy of that id. */
  readonly hasEscalationPolicy: (tx: TransactionSql, organizationId: number, id: number) => Promise<boolean>;
  /** Tells what watches monitors, on this instance, that something about them has changed. */
  readonly onMonitorsChanged: () => void;
}

/** The pointer of each monitor of a call into its body. */
type Place = (index: number) => string;

/** What people do with monitors. A call about several does all or nothing. */
export class MonitorService {
  readonly #deps: MonitorDependencies;

  constructor(deps: MonitorDependencies) {
    this.#deps = deps;
  }

  /** Oldest first; those that carry all of the tags. */
  async list(organizationId: number, tags: readonly string[] = []): Promise<Monitor[]> {
    const rows = await this.#reading(organizationId, (tx) => listMonitors(tx, organizationId, tags));
    return rows.map(monitorOf);
  }

  /** Throws NOT_FOUND. */
  async read(organizationId: number, id: number): Promise<Monitor> {
    const [row] = await this.#reading(organizationId, (tx) => findMonitors(tx, organizationId, [id]));
    if (row === undefined) throw noSuchMonitor();
    return monitorOf(row);
  }

  /**
   * Throws VALIDATION_FAILED, ALERT_URL_BLOCKED, TARGET_BLOCKED, PLAN_LIMIT_MONITORS, and CONFLICT for more monitors than a
   * list holds.
   */
  async create(change: Change, bodies: readonly CreateMonitorBody[], place: Place): Promise<Monitor[]> {
    const { tx, organizationId, nowMs } = change;
    const all = bodies.map((body): MonitorSettings => ({ ...DEFAULTS, ...body }));
    const { judgeTarget } = this.#deps;
    const issues = all.flatMap((settings, index) => [
      ...settingsIssues(settings, place(index)),
      ...targetIssues(judgeTarget, settings, place(index)),
    ]);
    issues.push(...(await this.#policiesIssues(change, all, place)));
    if (issues.length > 0) throw validationFailed(issues);
    for (const [index, settings] of all.entries()) {
      requireAlertUrls(this.#deps.alertPolicy, settings, place(index));
      requireTargets(judgeTarget, settings, place(index));
    }
    await this.#requireRoom(change, all.length);
    const { box } = this.#deps;
    const stored = all.map((settings) => ({
      ...columnsOf(settings, box),
      ...mintHeartbeatToken(box).columns,
    }));
    const rows = await insertMonitors(tx, organizationId, stored, nowMs);
    const paused = rows.filter((row) => row.paused).map(({ id }) => Number(id));
    if (paused.length > 0) await beginPause(tx, organizationId, paused, nowMs);
    for (const row of rows)
      change.record({
        resource: resourceOf(row),
        after: auditedFields(settingsOf(row, box)),
        sensitive: SENSITIVE_FIELDS,
      });
    change.afterCommit(this.#deps.onMonitorsChanged);
    return rows.map(monitorOf);
  }

  /** Sets the fields that are given, null where that takes one away. Throws NOT_FOUND when one of the ids is unknown. */
  async update(
    change: Change,
    ids: readonly number[],
    patch: UpdateMonitorBody,
    at: string,
  ): Promise<Monitor[]> {
    const { tx, organizationId, nowMs } = change;
    const rows = await this.#lock(change, ids);
    const { box, alertPolicy, judgeTarget } = this.#deps;
    const merged = rows.map((row) => {
      const before = settingsOf(row, box);
      return { row, before, after: { ...before, ...patch } };
    });
    const leadsElsewhere = "url" in patch || "type" in patch || "steps" in patch;
    const issues = merged.flatMap(({ after }) => [
      ...settingsIssues(after, at),
      ...(leadsElsewhere ? targetIssues(judgeTarget, after, at) : []),
    ]);
    issues.push(...(await this.#policyIssues(change, patch.escalationPolicyId ?? null, at)));
    if (issues.length > 0) throw validationFailed(distinct(issues));
    requireAlertUrls(alertPolicy, patch, at);
    for (const { row, before, after } of merged) {
      if (leadsElsewhere) requireTargets(judgeTarget, after, at);
      const resumes = before.paused && !after.paused;
      const columns = { ...columnsOf(after, box), ...(resumes && { resumed_at: new Date(nowMs) }) };
      await updateMonitor(tx, organizationId, Number(row.id), columns, nowMs);
      change.record({
        resource: resourceOf(row),
        before: auditedFields(before),
        after: auditedFields(after),
        sensitive: SENSITIVE_FIELDS,
      });
    }
    const idsWhere = (wasPaused: boolean): number[] =>
      merged
        .filter(({ before, after }) => before.paused === wasPaused && after.paused !== wasPaused)
        .map(({ row }) => Number(row.id));
    await this.#pause(change, idsWhere(false));
    const resumed = idsWhere(true);
    if (resumed.length > 0) await endPause(tx, organizationId, resumed, nowMs);
    change.afterCommit(this.#deps.onMonitorsChanged);
    const byId = new Map((await findMonitors(tx, organizationId, ids)).map((row) => [Number(row.id), row]));
    return ids.flatMap((id) => byId.get(id) ?? []).map(monitorOf);
  }

  /** Throws NOT_FOUND when one of the ids is unknown. What is open about the monitors ends. */
  async remove(change: Change, ids: readonly number[]): Promise<void> {
    const { tx, organizationId } = change;
    const rows = await this.#lock(change, ids);
    for (const row of rows) {
      clearProblems(change, Number(row.id), "deleted", "The monitor was deleted.");
      change.record({
        resource: resourceOf(row),
        before: auditedFields(settingsOf(row, this.#deps.box)),
        sensitive: SENSITIVE_FIELDS,
      });
    }
    await deleteMonitors(tx, organizationId, ids);
    change.afterCommit(this.#deps.onMonitorsChanged);
  }

  /** What the answer of a monitor leaves out; every look is written down. Throws NOT_FOUND. */
  async secrets(change: Change, id: number): Promise<MonitorSecrets> {
    const [row] = await findMonitors(change.tx, change.organizationId, [id]);
    if (row === undefined) throw noSuchMonitor();
    change.record({ resource: resourceOf(row) });
    const settings = settingsOf(row, this.#deps.box);
    const { token, url } = this.#heartbeat(openHeartbeatToken(this.#deps.box, row));
    return {
      headers: settings.headers,
      body: settings.body,
      steps: settings.steps,
      alertWebhookUrl: settings.alertWebhookUrl,
      alertChatAUrl: settings.alertChatAUrl,
      alertChatBUrl: settings.alertChatBUrl,
      alertChatCUrl: settings.alertChatCUrl,
      alertChatDBotToken: settings.alertChatDBotToken,
      alertChatDChatId: settings.alertChatDChatId,
      alertPagingARoutingKey: settings.alertPagingARoutingKey,
      alertPagingBApiKey: settings.alertPagingBApiKey,
      alertSmsNumber: settings.alertSmsNumber,
      alertVoiceNumber: settings.alertVoiceNumber,
      heartbeatToken: token,
      heartbeatUrl: url,
    };
  }

  /** Gives a monitor another token for heartbeats; the old one is unknown from then on. Throws NOT_FOUND. */
  async rotateHeartbeatToken(change: Change, id: number): Promise<HeartbeatToken> {
    const { tx, organizationId, nowMs } = change;
    const [row] = await this.#lock(change, [id]);
    if (row === undefined) throw noSuchMonitor();
    const { token, columns } = mintHeartbeatToken(this.#deps.box);
    await updateMonitor(tx, organizationId, id, columns, nowMs);
    change.record({
      resource: resourceOf(row),
      before: { heartbeatToken: "the old one" },
      after: { heartbeatToken: "the new one" },
      sensitive: SENSITIVE_FIELDS,
    });
    return this.#heartbeat(token);
  }

  /** What a person has set, in the clear. Throws NOT_FOUND. */
  async settings(organizationId: number, id: number): Promise<MonitorSettings> {
    const [row] = await this.#reading(organizationId, (tx) => findMonitors(tx, organizationId, [id]));
    if (row === undefined) throw noSuchMonitor();
    return settingsOf(row, this.#deps.box);
  }

  async #pause(change: Change, ids: readonly number[]): Promise<void> {
    if (ids.length === 0) return;
    for (const id of ids) clearProblems(change, id, "paused", "The monitor was paused.");
    await beginPause(change.tx, change.organizationId, ids, change.nowMs);
  }

  async #lock({ tx, organizationId }: Change, ids: readonly number[]): Promise<WatchedMonitorRow[]> {
    const rows = await lockMonitors(tx, organizationId, ids);
    if (rows.length < new Set(ids).size) throw noSuchMonitor();
    return rows;
  }

  async #requireRoom({ tx, organizationId }: Change, added: number): Promise<void> {
    const { maxMonitors } = this.#deps.plans.plan;
    const total = (await countMonitorsLocked(tx, organizationId)) + added;
    if (maxMonitors !== null && total > maxMonitors)
      throw new ApiError("PLAN_LIMIT_MONITORS", `The plan allows ${maxMonitors} monitors.`);
    if (total > MONITORS_MAX)
      throw new ApiError("CONFLICT", `${MONITORS_MAX} is the most of this kind (monitor); delete one first.`);
  }

  async #policyIssues({ tx, organizationId }: Change, id: number | null, at: string): Promise<FieldIssue[]> {
    if (id === null || (await this.#deps.hasEscalationPolicy(tx, organizationId, id))) return [];
    return [{ path: `${at}/escalationPolicyId`, code: "custom", message: "is no escalation policy" }];
  }

  /** Asks once for each policy, of which many monitors name the same. */
  async #policiesIssues(
    change: Change,
    all: readonly MonitorSettings[],
    place: Place,
  ): Promise<FieldIssue[]> {
    const byPolicy = Map.groupBy(all.entries(), ([, { escalationPolicyId }]) => escalationPolicyId);
    const issues: FieldIssue[] = [];
    for (const [id, monitors] of byPolicy) {
      const found = await this.#policyIssues(change, id, "");
      for (const [index] of monitors)
        issues.push(...found.map((issue) => ({ ...issue, path: `${place(index)}${issue.path}` })));
    }
    return issues;
  }

  #heartbeat(token: string): HeartbeatToken {
    return { token, url: `${this.#deps.publicUrl}/api/v1/heartbeats/${token}` };
  }

  #reading<T>(organizationId: number, read: (tx: TransactionSql) => Promise<T>): Promise<T> {
    return askPostgres(() => inOrganization(this.#deps.sql, organizationId, read));
  }
}

/** In the same words for a monitor of another organisation. */
export function noSuchMonitor(): ApiError {
  return new ApiError("NOT_FOUND", "No such monitor.");
}

/** Ends whatever is open about a monitor that nobody watches any more. */
function clearProblems(change: Change, id: number, cause: "paused" | "deleted", summary: string): void {
  const at = new Date(change.nowMs).toISOString();
  for (const key of [`monitor:${id}`, `certificate:${id}`, `slo:${id}`])
    change.emit(problemCleared, key, { key, at, cause, summary });
}

/** Monitors of one call that lack the same thing say so once. */
function distinct(issues: readonly FieldIssue[]): FieldIssue[] {
  return [...new Map(issues.map((issue) => [`${issue.path} ${issue.message}`, issue])).values()];
}

function resourceOf({ id }: WatchedMonitorRow): string {
  return `monitor:${id}`;
}
