import { type Static, Type } from "typebox";
import { recordSchemas } from "../../http/record-schemas.ts";
import { recordId } from "../../http/stored-values.ts";
import { ALERT_CHANNEL_FLAGS, ALERT_CHANNELS } from "../../notify/alert-channels.ts";
import { MONITOR_TYPES } from "../../probes/check.ts";
import { BODY_MAX_CHARS, BULK_MAX } from "./limits.ts";
import { Headers, Steps } from "./step-types.ts";

const INTERVALS_SEC = [30, 60, 300, 900, 1800, 3600] as const;
const REGIONS = ["local", "weur", "eeur", "enam", "wnam", "apac", "oc", "sam", "afr"] as const;
const SEC_MAX = 86_400;
const EXAMPLE = {
  name: "Shop",
  url: "https://shop.example.com/health",
  type: "https",
  intervalSec: 60,
  timeoutMs: 10_000,
};

/** What people set: what is optional and not set is null. */
const base = recordSchemas({
  name: "MonitorBase",
  required: {
    name: Type.String({ minLength: 1, maxLength: 255, examples: ["Shop"] }),
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: "A URL, a host or a name, as the type has it.",
      examples: ["https://shop.example.com/health"],
    }),
    type: Type.Enum([...MONITOR_TYPES], { examples: ["https"] }),
    intervalSec: Type.Enum([...INTERVALS_SEC], { examples: [60] }),
    timeoutMs: Type.Integer({ minimum: 1000, maximum: 30_000, examples: [10_000] }),
  },
  optional: {
    headers: Headers,
    expectedStatusCode: Type.Integer({
      minimum: 100,
      maximum: 599,
      description: "Without one 200 to 399 are fine.",
      examples: [200],
    }),
    degradedResponseTimeMs: Type.Integer({ minimum: 100, maximum: 60_000, examples: [2000] }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, examples: [5432] }),
    keyword: Type.String({ maxLength: 1024, examples: ["in stock"] }),
    keywordMatchType: Type.Enum(["contains", "not_contains"]),
    ...ALERT_CHANNELS,
    escalationPolicyId: recordId({ examples: [3] }),
    steps: Steps,
    method: Type.Enum(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"], {
      description: "Of http, https and keyword; GET by default.",
    }),
    body: Type.String({ maxLength: BODY_MAX_CHARS, description: "Of http, https and keyword." }),
    followRedirects: Type.Boolean({ description: "Of http, https and keyword; true by default." }),
    tlsSkipVerify: Type.Boolean({ description: "Of http, https and keyword; false by default." }),
    retryIntervalSec: Type.Integer({
      minimum: 5,
      maximum: 3600,
      description: "To the next check after one that failed; without it the interval.",
      examples: [15],
    }),
    remindEverySec: Type.Integer({
      minimum: 60,
      maximum: 7 * SEC_MAX,
      description: "Says again that it is still down.",
      examples: [3600],
    }),
  },
});

export const Tag = Type.String({
  minLength: 1,
  maxLength: 50,
  pattern: "^[a-z0-9][a-z0-9_-]*$",
  examples: ["shop"],
});

/** What has a value in every monitor, and need not be given. */
const DEFAULTED = {
  alertThreshold: Type.Integer({
    minimum: 1,
    maximum: 10,
    description: "Failures in a row before anybody is told; 2 by default.",
    examples: [2],
  }),
  recoveryThreshold: Type.Integer({
    minimum: 1,
    maximum: 10,
    description: "Successes in a row before it counts as up again; 1 by default.",
    examples: [1],
  }),
  alertOnDegraded: Type.Boolean({ description: "False by default." }),
  paused: Type.Boolean({ description: "Not checked while true; false by default." }),
  heartbeatGraceSec: Type.Integer({
    minimum: 0,
    maximum: SEC_MAX,
    description: "What a heartbeat may be late; 60 by default.",
    examples: [60],
  }),
  uptimeTargetBp: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    description: "The objective in basis points; 9990, which is 99.9 %, by default.",
    examples: [9990],
  }),
  uptimeWindowDays: Type.Integer({
    minimum: 1,
    maximum: 365,
    description: "Of the objective; 30 by default.",
    examples: [30],
  }),
  expiryWarnDays: Type.Integer({
    minimum: 1,
    maximum: 90,
    description: "Before the end of a certificate; 14 by default.",
    examples: [14],
  }),
  tags: Type.Array(Tag, { maxItems: 20 }),
} as const;
const Regions = Type.Array(Type.Enum([...REGIONS]), {
  minItems: 1,
  maxItems: 6,
  description: "`local` by default; the others are probes and for http and https only.",
});

const defaulted = {
  alertThreshold: Type.Optional(DEFAULTED.alertThreshold),
  recoveryThreshold: Type.Optional(DEFAULTED.recoveryThreshold),
  alertOnDegraded: Type.Optional(DEFAULTED.alertOnDegraded),
  paused: Type.Optional(DEFAULTED.paused),
  heartbeatGraceSec: Type.Optional(DEFAULTED.heartbeatGraceSec),
  uptimeTargetBp: Type.Optional(DEFAULTED.uptimeTargetBp),
  uptimeWindowDays: Type.Optional(DEFAULTED.uptimeWindowDays),
  expiryWarnDays: Type.Optional(DEFAULTED.expiryWarnDays),
  tags: Type.Optional(DEFAULTED.tags),
  regions: Type.Optional(Regions),
};
const closed = { additionalProperties: false };

export const CreateMonitorBody = Type.Object(
  { ...base.create.properties, ...defaulted },
  { $id: "CreateMonitor", ...closed, examples: [{ ...EXAMPLE, tags: ["shop"] }] },
);
export type CreateMonitorBody = Static<typeof CreateMonitorBody>;

export const UpdateMonitorBody = Type.Object(
  { ...base.update.properties, ...defaulted },
  { $id: "UpdateMonitor", ...closed, examples: [{ intervalSec: 30, port: null }] },
);
export type UpdateMonitorBody = Static<typeof UpdateMonitorBody>;

const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...given } = base.record.properties;
export const Settings = Type.Object({ ...given, ...DEFAULTED, regions: Type.Union([Regions, Type.Null()]) });
/** Everything that a person has set of a monitor, with its secrets in the clear: never logged, never answered as it is. */
export type MonitorSettings = Static<typeof Settings>;

/** What a monitor is when nothing more is said than what must be. */
export const DEFAULTS: Omit<MonitorSettings, "name" | "url" | "type" | "intervalSec" | "timeoutMs"> = {
  headers: null,
  expectedStatusCode: null,
  degradedResponseTimeMs: null,
  port: null,
  keyword: null,
  keywordMatchType: null,
  alertEmail: null,
  alertWebhookUrl: null,
  alertChatAUrl: null,
  alertChatBUrl: null,
  alertChatCUrl: null,
  alertChatDBotToken: null,
  alertChatDChatId: null,
  alertPagingARoutingKey: null,
  alertPagingBApiKey: null,
  alertSmsNumber: null,
  alertVoiceNumber: null,
  escalationPolicyId: null,
  steps: null,
  method: null,
  body: null,
  followRedirects: null,
  tlsSkipVerify: null,
  retryIntervalSec: null,
  remindEverySec: null,
  alertThreshold: 2,
  recoveryThreshold: 1,
  alertOnDegraded: false,
  paused: false,
  heartbeatGraceSec: 60,
  uptimeTargetBp: 9990,
  uptimeWindowDays: 30,
  expiryWarnDays: 14,
  tags: [],
  regions: null,
};

const Time = Type.String({ format: "date-time" });
const Moment = Type.Union([Time, Type.Null()]);
const secretFree = Settings.properties;

/** A monitor as it is answered: its secrets are not in it. */
export const Monitor = Type.Object(
  {
    id: Type.Integer({ examples: [17] }),
    organizationId: Type.Integer({ examples: [3] }),
    name: secretFree.name,
    url: secretFree.url,
    type: secretFree.type,
    intervalSec: secretFree.intervalSec,
    timeoutMs: secretFree.timeoutMs,
    expectedStatusCode: secretFree.expectedStatusCode,
    degradedResponseTimeMs: secretFree.degradedResponseTimeMs,
    port: secretFree.port,
    keyword: secretFree.keyword,
    keywordMatchType: secretFree.keywordMatchType,
    alertEmail: secretFree.alertEmail,
    alertThreshold: secretFree.alertThreshold,
    alertOnDegraded: secretFree.alertOnDegraded,
    consecutiveFailures: Type.Integer({ minimum: 0, examples: [0] }),
    lastStatus: Type.Union([Type.Enum(["up", "down", "degraded"]), Type.Null()], {
      description: "What the last check found; null before the first.",
    }),
    lastCheckedAt: Moment,
    paused: secretFree.paused,
    heartbeatGraceSec: secretFree.heartbeatGraceSec,
    heartbeatLastReceivedAt: Moment,
    uptimeTargetBp: secretFree.uptimeTargetBp,
    uptimeWindowDays: secretFree.uptimeWindowDays,
    sloBreachOpen: Type.Boolean({
      description: "More time of the window was down than the objective allows.",
    }),
    createdAt: Time,
    ...ALERT_CHANNEL_FLAGS,
    hasHeaders: Type.Boolean(),
    tags: secretFree.tags,
    regions: secretFree.regions,
    escalationPolicyId: secretFree.escalationPolicyId,
    confirmedStatus: Type.Union([Type.Enum(["up", "down", "degraded"]), Type.Null()], {
      description: "What alerts and uptime go by; null before the first verdict.",
    }),
    recoveryThreshold: secretFree.recoveryThreshold,
    retryIntervalSec: secretFree.retryIntervalSec,
    remindEverySec: secretFree.remindEverySec,
    expiryWarnDays: secretFree.expiryWarnDays,
    method: secretFree.method,
    followRedirects: secretFree.followRedirects,
    tlsSkipVerify: secretFree.tlsSkipVerify,
    hasBody: Type.Boolean(),
    hasSteps: Type.Boolean(),
    updatedAt: Time,
  },
  { $id: "Monitor" },
);
export type Monitor = Static<typeof Monitor>;

const Ids = Type.Array(recordId(), {
  minItems: 1,
  maxItems: BULK_MAX,
  examples: [[17, 18]],
});

export const BulkCreateBody = Type.Object(
  { monitors: Type.Array(CreateMonitorBody, { minItems: 1, maxItems: BULK_MAX }) },
  { $id: "CreateMonitors", ...closed },
);
export const BulkUpdateBody = Type.Object(
  { ids: Ids, patch: UpdateMonitorBody },
  { $id: "UpdateMonitors", ...closed },
);
export const BulkDeleteBody = Type.Object({ ids: Ids }, { $id: "DeleteMonitors", ...closed });
