import { alertChannelFlags, SEALED_CHANNELS } from "../../notify/alert-channels.ts";
import type { WatchedMonitorRow } from "./store.ts";
import type { Monitor, MonitorSettings } from "./types.ts";

/** A monitor as it is answered: which secrets it has, none of them itself. */
export function monitorOf(row: WatchedMonitorRow): Monitor {
  return {
    id: Number(row.id),
    organizationId: row.organization_id,
    name: row.name,
    url: row.url,
    type: row.type,
    intervalSec: row.interval_sec,
    timeoutMs: row.timeout_ms,
    expectedStatusCode: row.expected_status_code,
    degradedResponseTimeMs: row.degraded_response_time_ms,
    port: row.port,
    keyword: row.keyword,
    keywordMatchType: row.keyword_match_type,
    alertEmail: row.alert_email,
    alertThreshold: row.alert_threshold,
    alertOnDegraded: row.alert_on_degraded,
    consecutiveFailures: row.failures,
    lastStatus: row.last_status,
    lastCheckedAt: row.last_checked_at?.toISOString() ?? null,
    paused: row.paused,
    heartbeatGraceSec: row.heartbeat_grace_sec,
    heartbeatLastReceivedAt: row.heartbeat_received_at?.toISOString() ?? null,
    uptimeTargetBp: row.uptime_target_bp,
    uptimeWindowDays: row.uptime_window_days,
    sloBreachOpen: row.slo_breach_open,
    createdAt: row.created_at.toISOString(),
    ...alertChannelFlags(row.channels),
    hasHeaders: row.sealed_headers !== null,
    tags: row.tags,
    regions: row.regions,
    escalationPolicyId: row.escalation_policy_id === null ? null : Number(row.escalation_policy_id),
    confirmedStatus: row.confirmed,
    recoveryThreshold: row.recovery_threshold,
    retryIntervalSec: row.retry_interval_sec,
    remindEverySec: row.remind_every_sec,
    expiryWarnDays: row.expiry_warn_days,
    method: row.method,
    followRedirects: row.follow_redirects,
    tlsSkipVerify: row.tls_skip_verify,
    hasBody: row.sealed_body !== null,
    hasSteps: row.sealed_steps !== null,
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Fields of which the audit log shows only that they changed. */
export const SENSITIVE_FIELDS: readonly string[] = [
  ...SEALED_CHANNELS,
  "headers",
  "body",
  "steps",
  "heartbeatToken",
];

/** What a person has set, for the audit log: a field that is not set is absent. */
export function auditedFields(settings: MonitorSettings): object {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}
