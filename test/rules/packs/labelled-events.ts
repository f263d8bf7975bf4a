import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../../ingest/decode/json-body.ts";
import { type CompiledMapping, compileMapping } from "../../../ingest/mapping/compile-mapping.ts";
import { presetOf } from "../../../ingest/mapping/presets/presets.ts";
import { mapRecord } from "../../../ingest/mapping/preview.ts";
import type { SampleEntry } from "../../../src/rules/packs/pack.ts";

export const LABELLED_EVENTS = join(
  import.meta.dir,
  "../../../../shared/data/security/labelled-events.ndjson",
);

/** An event of which somebody said whether a detection of theirs should tell of it. */
interface LabelledEvent {
  readonly label: string;
  readonly isTrue: boolean;
  /** What a source with the preset of its product stores of it; null for a product without a preset. */
  readonly entry: SampleEntry | null;
}

/** The preset of what a collection calls by these names. */
const PRESETS_BY_LOG: Readonly<Record<string, string>> = {
  "AWS.CloudTrail": "aws-cloudtrail",
  "AWS.WAFWebACL": "aws-waf",
  "Amazon.EKS.Audit": "kubernetes-audit",
  "Azure.MonitorActivity": "azure-activity",
  "Auth0.Events": "auth0",
  "Crowdstrike.EventStreams": "crowdstrike-event-stream",
  "Crowdstrike.FDREvent": "crowdstrike-fdr",
  "Databricks.Audit": "databricks-audit",
  "Duo.Authentication": "duo-authentication",
  "GCP.AuditLog": "gcp-audit",
  "GitHub.Audit": "github-audit",
  "GitHub.Webhook": "github-webhook",
  "GSuite.ActivityEvent": "google-workspace",
  "Okta.SystemLog": "okta-system-log",
  "OneLogin.Events": "onelogin",
  "Slack.AuditLogs": "slack-audit",
  "Snyk.GroupAudit": "snyk-audit",
};

/** The collection writes some names in lower case, and @ in words: this is how the products write them. */
const NAMES = new Map(
  [
    ..."eventName eventSource eventType eventTime eventVersion eventID awsRegion sourceIPAddress".split(" "),
    ..."callerIpAddress correlationId durationMs operationName operationVersion resourceId".split(" "),
    ..."resultType resultSignature tenantId insertId logName receiveTimestamp protoPayload".split(" "),
    ..."authenticationContext debugContext displayMessage legacyEventType securityContext".split(" "),
  ].map((name) => [name.toLowerCase(), name]),
);
const RENAMED = new Map([
  ["at_sign_timestamp", "@timestamp"],
  ["at_sign_type", "@type"],
  ["callerIP", "callerIp"],
]);

export function readLabelledEvents(): LabelledEvent[] {
  const lines = readFileSync(LABELLED_EVENTS, "utf8").trim().split("\n");
  return lines.map((line) => {
    const labelled: unknown = JSON.parse(line);
    if (!isJsonObject(labelled) || !isJsonObject(labelled.event)) throw new Error("no labelled event");
    const { rule_id: label, expected_alert: isTrue, event } = labelled;
    const logs = Array.isArray(labelled.log_types) ? labelled.log_types.map(String) : [];
    return { label: String(label), isTrue: isTrue === true, entry: entryOf(event, logOf(event, logs)) };
  });
}

/** Some detections are about several products: then the event shows whose it is. */
function logOf(event: JsonObject, logs: readonly string[]): string {
  if (typeof event.p_log_type === "string") return event.p_log_type;
  const [only, ...others] = logs;
  if (only === undefined || others.length === 0) return only ?? "";
  if ("protoPayload" in event) return "GCP.AuditLog";
  if ("operationName" in event) return "Azure.MonitorActivity";
  return "apiVersion" in event || "objectRef" in event ? "Amazon.EKS.Audit" : only;
}

function presetNameOf(log: string, record: JsonObject): string | undefined {
  if (log !== "Azure.Audit") return PRESETS_BY_LOG[log];
  return String(record.category).endsWith("SignInLogs") ? "entra-sign-in" : "entra-audit";
}

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
const compiled = new Map<string, CompiledMapping>();

function entryOf(event: JsonObject, log: string): SampleEntry | null {
  // CrowdStrike sends what the collection has put into `event`.
  const sent = log === "Crowdstrike.FDREvent" && isJsonObject(event.event) ? event.event : event;
  const record = asSent(sent);
  const preset = presetOf(presetNameOf(log, record) ?? "");
  if (preset === null) return null;
  const map = compiled.get(preset.name) ?? compileMapping(preset.mapping);
  compiled.set(preset.name, map);
  const { entry } = mapRecord(map, record);
  if (entry === null) throw new Error(`${preset.name} does not take ${JSON.stringify(record)}`);
  const { message, service, source, host, attrs } = entry;
  const level = LEVELS.find((each) => each === entry.level);
  return {
    message,
    ...(level !== undefined && { level }),
    ...(service !== null && { service }),
    ...(source !== null && { source }),
    ...(host !== null && { host }),
    attrs,
  };
}

/** The times of events, which the collection writes in a form of its own: no rule looks at them. */
const TIMES: ReadonlySet<string> = new Set([
  ...["time", "timestamp", "@timestamp", "at_sign_timestamp", "eventTime", "eventtime", "published"],
  ...["created_at", "createdDateTime", "activityDateTime", "receiveTimestamp", "receivetimestamp"],
  ...[
    "stageTimestamp",
    "requestReceivedTimestamp",
    "date",
    "date_create",
    "created",
    "isotimestamp",
    "eventCreationTime",
  ],
]);

/** Without what the collection has added, and without times. */
function asSent(record: JsonObject): JsonObject {
  const sent: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(record)) {
    if (key.startsWith("p_") || TIMES.has(key)) continue;
    const name = NAMES.get(key) ?? RENAMED.get(key) ?? key;
    sent[name] = isJsonObject(value) ? asSent(value) : value;
  }
  return sent;
}
