import type { SecretBox } from "../../access/secret-box.ts";
import { hashToken, mintLinkToken } from "../../access/secret-token.ts";
import { lateCheck } from "../../late-check.ts";
import { openAlertChannels, sealAlertChannels } from "../../notify/alert-channels.ts";
import type { CheckSpec } from "../../probes/check.ts";
import { Steps, StoredHeaders } from "./step-types.ts";
import type { HeartbeatTokenColumns, MonitorRow, SettingColumns } from "./store.ts";
import type { MonitorSettings } from "./types.ts";

const TABLE = "monitors";
const HEADERS = "monitor-headers";
const BODY = "monitor-body";
const STEPS = "monitor-steps";
const HEARTBEAT_TOKEN = "monitor-heartbeat-token";

const storedHeaders = lateCheck(StoredHeaders);
const storedSteps = lateCheck(Steps);

/** A new token for heartbeats: its plaintext, and what is stored of it. */
export function mintHeartbeatToken(box: SecretBox): {
  readonly token: string;
  readonly columns: HeartbeatTokenColumns;
} {
  const token = mintLinkToken();
  const sealed = box.seal(token, HEARTBEAT_TOKEN);
  return { token, columns: { heartbeat_token_hash: hashToken(token), sealed_heartbeat_token: sealed } };
}

export function openHeartbeatToken(
  box: SecretBox,
  { sealed_heartbeat_token }: Pick<MonitorRow, "sealed_heartbeat_token">,
): string {
  return box.open(sealed_heartbeat_token, HEARTBEAT_TOKEN);
}

/** What is stored of what a person has set. */
export function columnsOf(settings: MonitorSettings, box: SecretBox): SettingColumns {
  const channels = sealAlertChannels(box, TABLE, settings);
  return {
    name: settings.name,
    url: settings.url,
    type: settings.type,
    interval_sec: settings.intervalSec,
    timeout_ms: settings.timeoutMs,
    retry_interval_sec: settings.retryIntervalSec,
    method: settings.method,
    sealed_body: settings.body === null ? null : box.seal(settings.body, BODY),
    follow_redirects: settings.followRedirects,
    tls_skip_verify: settings.tlsSkipVerify,
    sealed_headers: settings.headers === null ? null : box.seal(JSON.stringify(settings.headers), HEADERS),
    expected_status_code: settings.expectedStatusCode,
    degraded_response_time_ms: settings.degradedResponseTimeMs,
    port: settings.port,
    keyword: settings.keyword,
    keyword_match_type: settings.keywordMatchType,
    expiry_warn_days: settings.expiryWarnDays,
    sealed_steps: settings.steps === null ? null : box.seal(JSON.stringify(settings.steps), STEPS),
    alert_threshold: settings.alertThreshold,
    recovery_threshold: settings.recoveryThreshold,
    alert_on_degraded: settings.alertOnDegraded,
    remind_every_sec: settings.remindEverySec,
    alert_email: settings.alertEmail,
    sealed_channels: channels.sealed,
    channels: [...channels.names],
    escalation_policy_id: settings.escalationPolicyId === null ? null : String(settings.escalationPolicyId),
    paused: settings.paused,
    heartbeat_grace_sec: settings.heartbeatGraceSec,
    uptime_target_bp: settings.uptimeTargetBp,
    uptime_window_days: settings.uptimeWindowDays,
    tags: settings.tags,
    regions: settings.regions,
  };
}

/** What a person has set, with its secrets opened. Throws an Error for what was sealed with another key. */
export function settingsOf(row: MonitorRow, box: SecretBox): MonitorSettings {
  return {
    name: row.name,
    url: row.url,
    type: row.type,
    intervalSec: row.interval_sec,
    timeoutMs: row.timeout_ms,
    retryIntervalSec: row.retry_interval_sec,
    method: row.method,
    body: row.sealed_body === null ? null : box.open(row.sealed_body, BODY),
    followRedirects: row.follow_redirects,
    tlsSkipVerify: row.tls_skip_verify,
    headers: opened(box, row.sealed_headers, HEADERS, storedHeaders),
    expectedStatusCode: row.expected_status_code,
    degradedResponseTimeMs: row.degraded_response_time_ms,
    port: row.port,
    keyword: row.keyword,
    keywordMatchType: row.keyword_match_type,
    expiryWarnDays: row.expiry_warn_days,
    steps: opened(box, row.sealed_steps, STEPS, storedSteps),
    alertThreshold: row.alert_threshold,
    recoveryThreshold: row.recovery_threshold,
    alertOnDegraded: row.alert_on_degraded,
    remindEverySec: row.remind_every_sec,
    alertEmail: row.alert_email,
    ...openAlertChannels(box, TABLE, row.sealed_channels),
    escalationPolicyId: row.escalation_policy_id === null ? null : Number(row.escalation_policy_id),
    paused: row.paused,
    heartbeatGraceSec: row.heartbeat_grace_sec,
    uptimeTargetBp: row.uptime_target_bp,
    uptimeWindowDays: row.uptime_window_days,
    tags: row.tags,
    regions: row.regions,
  };
}

/** What one check of a monitor needs to know. Throws an Error for a heartbeat, which nobody checks. */
export function checkSpecOf(row: MonitorRow, box: SecretBox): CheckSpec {
  const settings = settingsOf(row, box);
  const { type } = settings;
  if (type === "heartbeat") throw new Error("a heartbeat is received, not checked");
  return {
    type,
    url: settings.url,
    timeoutMs: settings.timeoutMs,
    degradedResponseTimeMs: settings.degradedResponseTimeMs,
    method: settings.method,
    headers: settings.headers ?? {},
    body: settings.body,
    followRedirects: settings.followRedirects ?? true,
    tlsSkipVerify: settings.tlsSkipVerify ?? false,
    expectedStatusCode: settings.expectedStatusCode,
    port: settings.port,
    keyword: settings.keyword,
    keywordMatchType: settings.keywordMatchType ?? "contains",
    expiryWarnDays: settings.expiryWarnDays,
    steps: settings.steps ?? [],
  };
}

function opened<T>(
  box: SecretBox,
  sealed: Uint8Array | null,
  purpose: string,
  checker: { Check(value: unknown): value is T },
): T | null {
  if (sealed === null) return null;
  const value: unknown = JSON.parse(box.open(sealed, purpose));
  if (!checker.Check(value)) throw new Error(`what was sealed as ${purpose} has an unknown form`);
  return value;
}
