import { BROWSER_WAIT_MAX_MS, STEPS_MAX_MS } from "./limits.ts";

/** The kinds of monitor whose checks the server or a probe makes; of `heartbeat` it only watches the deadline. */
export const MONITOR_TYPES = [
  "http",
  "https",
  "tcp",
  "ping",
  "port",
  "ssl",
  "keyword",
  "heartbeat",
  "dns",
  "smtp",
  "multi_step",
  "browser",
] as const;
export type MonitorType = (typeof MONITOR_TYPES)[number];
export type CheckedType = Exclude<MonitorType, "heartbeat">;

/** `unknown`: nothing was found out, for a reason that is not the target's. */
export type CheckStatus = "up" | "degraded" | "down" | "unknown";

/** Why a check is not `up`: a fixed list, for what a target writes is shown to nobody. */
export const CHECK_ERRORS = [
  "timeout",
  "name_not_resolved",
  "connection_refused",
  "connection_reset",
  "unreachable",
  "target_blocked",
  "target_invalid",
  "too_many_redirects",
  "bad_response",
  "body_too_large",
  "status_code",
  "keyword",
  "tls_failed",
  "certificate_expired",
  "certificate_not_yet_valid",
  "certificate_wrong_name",
  "certificate_self_signed",
  "certificate_untrusted",
  "certificate_expires_soon",
  "dns_no_answer",
  "dns_mismatch",
  "smtp_refused",
  "assertion",
  "extraction",
  "page_failed",
  "slow",
  "heartbeat_missed",
  "heartbeat_failed",
  "not_available",
  "ping_not_permitted",
  "browser_missing",
  "plan_limit",
  "own_uplink",
] as const;
export type CheckError = (typeof CHECK_ERRORS)[number];

/** What one check needs to know, its secrets opened. Times are in milliseconds. */
export interface CheckSpec {
  readonly type: CheckedType;
  /** As the person wrote it: a URL, a host, a name. */
  readonly url: string;
  /** One deadline over everything, from resolving the name to the last byte; of several steps over each. */
  readonly timeoutMs: number;
  readonly degradedResponseTimeMs: number | null;
  readonly method: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly followRedirects: boolean;
  readonly tlsSkipVerify: boolean;
  readonly expectedStatusCode: number | null;
  readonly port: number | null;
  readonly keyword: string | null;
  readonly keywordMatchType: "contains" | "not_contains";
  readonly expiryWarnDays: number;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly assertions?: readonly Assertion[];
  readonly extract?: readonly Extraction[];
}

export interface Assertion {
  readonly source: "status_code" | "response_time_ms" | "body_json" | "body_text" | "header";
  readonly path?: string;
  readonly comparison: "eq" | "ne" | "contains" | "not_contains" | "gt" | "lt" | "exists" | "not_exists";
  readonly value?: string | number;
}

export interface Extraction {
  readonly var: string;
  readonly source: "body_json" | "header";
  readonly path: string;
}

/** What a check found. Nothing in it is text of the target. */
export interface CheckOutcome {
  readonly status: CheckStatus;
  readonly error: CheckError | null;
  /** From the start to the verdict; of a page from when it was asked for, of a ping the round trip. */
  readonly durationMs: number;
  readonly phases: CheckPhases;
  /** Of HTTP, else null. */
  readonly statusCode: number | null;
  /** Until when the certificate that was shown is valid, in milliseconds since 1970; null where none was. */
  readonly certificateNotAfter: number | null;
  /** Which step of several failed, counted from 0. */
  readonly failedStep: number | null;
}

/** Milliseconds that parts of a check took; 0 for what it had not. */
export interface CheckPhases {
  readonly dnsMs: number;
  readonly connectMs: number;
  readonly tlsMs: number;
  readonly firstByteMs: number;
}

/** How long a check takes at most: the time of the spec, which each of several steps has for itself, and a page once there is a browser. */
export function deadlineMsOf(spec: Pick<CheckSpec, "type" | "timeoutMs" | "steps">): number {
  if (spec.type === "browser") return spec.timeoutMs + BROWSER_WAIT_MAX_MS;
  if (spec.type !== "multi_step") return spec.timeoutMs;
  return Math.min(STEPS_MAX_MS, spec.timeoutMs * Math.max(1, spec.steps.length));
}

/** Makes one check. Never throws, ends by `deadlineMsOf`, and leaves nothing open behind. */
export type RunCheck = (spec: CheckSpec) => Promise<CheckOutcome>;
