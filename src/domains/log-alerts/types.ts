import { type Static, Type } from "typebox";
import { LEVEL_NUMBERS } from "../../../ingest/index.ts";
import { recordSchemas } from "../../http/record-schemas.ts";
import { recordId } from "../../http/stored-values.ts";
import { ALERT_CHANNEL_FLAGS, ALERT_CHANNELS } from "../../notify/alert-channels.ts";
import { SEVERITIES } from "../../problems/events.ts";
import { GROUP_FIELDS_MAX } from "../../rules/counters/limits.ts";
import { LIVE_STATES } from "../../rules/live/live-states.ts";
import { PreviewEpisode } from "../../rules/live/preview-episode.ts";
import { CONVERTED_KQL_MAX_CHARS } from "../../rules/sigma/limits.ts";

/** The channels that a rule may have of its own. */
const CHANNELS = {
  alertEmail: ALERT_CHANNELS.alertEmail,
  alertWebhookUrl: ALERT_CHANNELS.alertWebhookUrl,
  alertChatAUrl: ALERT_CHANNELS.alertChatAUrl,
  alertChatBUrl: ALERT_CHANNELS.alertChatBUrl,
  alertChatCUrl: ALERT_CHANNELS.alertChatCUrl,
  alertChatDBotToken: ALERT_CHANNELS.alertChatDBotToken,
  alertChatDChatId: ALERT_CHANNELS.alertChatDChatId,
} as const;

const { hasAlertWebhook, hasAlertChatA, hasAlertChatB, hasAlertChatC, hasAlertChatD } = ALERT_CHANNEL_FLAGS;
const FLAGS = { hasAlertWebhook, hasAlertChatA, hasAlertChatB, hasAlertChatC, hasAlertChatD } as const;

const base = recordSchemas({
  name: "LogAlert",
  required: { name: Type.String({ minLength: 1, maxLength: 255, examples: ["Payments fail"] }) },
  optional: {
    description: Type.String({ maxLength: 2048 }),
    query: Type.String({ maxLength: 1024, description: "As `q` of a search.", examples: ["payment failed"] }),
    kql: Type.String({
      maxLength: 2048,
      description: "Conditions in KQL, which must hold beside `query`: nothing but `where`.",
      examples: ["status >= 500"],
    }),
    service: Type.String({ maxLength: 255, examples: ["checkout"] }),
    level: Type.Enum(Object.keys(LEVEL_NUMBERS), { examples: ["error"] }),
    attackTechnique: Type.String({
      pattern: "^T[0-9]{4}(\\.[0-9]{3})?$",
      maxLength: 16,
      description: "Of MITRE ATT&CK. The incidents of such a rule do not end by themselves.",
      examples: ["T1110.001"],
    }),
    forSec: Type.Integer({
      minimum: 0,
      maximum: 86_400,
      description: "How long the condition must hold before anybody is told; 0 by default.",
    }),
    keepFiringSec: Type.Integer({
      minimum: 0,
      maximum: 86_400,
      description: "How long an incident stays open after the condition has ended; the window by default.",
    }),
    noDataSec: Type.Integer({
      minimum: 60,
      maximum: 604_800,
      description:
        "After how long without an entry that it counts somebody is told, of each group that had any; never without it.",
      examples: [600],
    }),
    everySec: Type.Integer({
      minimum: 60,
      maximum: 86_400,
      description: "Of a scheduled rule: how often its query is asked; the window by default.",
      examples: [300],
    }),
    recoverThreshold: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: "Of a threshold: an incident goes on while so many are reached; less than `threshold`.",
    }),
    escalationPolicyId: recordId({
      description: "Who is paged; the default policy without one.",
    }),
  },
});

/** What has a value in every rule, and need not be given. */
const settings = {
  kind: Type.Enum(["threshold", "anomaly", "scheduled"], {
    description:
      "`threshold`: so many entries within a window, wherever it lies. `anomaly`: windows side by side, of which one has unusually many or few. `scheduled`: `kql` is a whole query, asked of the window before every `everySec`, and so many rows of its answer.",
    examples: ["threshold"],
  }),
  severity: Type.Enum([...SEVERITIES], { examples: ["high"] }),
  groupBy: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
    maxItems: GROUP_FIELDS_MAX,
    uniqueItems: true,
    description:
      "Fields by whose values entries are counted apart: `service`, `host` or the name of an attribute.",
    examples: [["service"]],
  }),
  threshold: Type.Integer({ minimum: 1, maximum: 1_000_000, examples: [5] }),
  windowSec: Type.Integer({ minimum: 30, maximum: 86_400, examples: [300] }),
  baselineHours: Type.Integer({ minimum: 1, maximum: 720, examples: [168] }),
  ratioThreshold: Type.Number({ minimum: 1.1, maximum: 1000, examples: [3] }),
  minBaselineEvents: Type.Integer({ minimum: 1, maximum: 1_000_000, examples: [50] }),
  direction: Type.Enum(["spike", "drop", "both"], { examples: ["spike"] }),
  enabled: Type.Boolean({ examples: [true] }),
} as const;

/** What a rule has that does not say otherwise. */
export const DEFAULTS = {
  kind: "threshold",
  severity: "medium",
  groupBy: [],
  threshold: 1,
  windowSec: 300,
  baselineHours: 168,
  ratioThreshold: 3,
  minBaselineEvents: 50,
  direction: "spike",
  enabled: true,
} as const satisfies Static<typeof Settings>;

const Settings = Type.Object(settings);
const Given = Type.Partial(Settings);
const Channels = Type.Partial(Type.Object(CHANNELS));
const ClearedChannels = Type.Partial(
  Type.Object({
    alertEmail: Type.Union([CHANNELS.alertEmail, Type.Null()]),
    alertWebhookUrl: Type.Union([CHANNELS.alertWebhookUrl, Type.Null()]),
    alertChatAUrl: Type.Union([CHANNELS.alertChatAUrl, Type.Null()]),
    alertChatBUrl: Type.Union([CHANNELS.alertChatBUrl, Type.Null()]),
    alertChatCUrl: Type.Union([CHANNELS.alertChatCUrl, Type.Null()]),
    alertChatDBotToken: Type.Union([CHANNELS.alertChatDBotToken, Type.Null()]),
    alertChatDChatId: Type.Union([CHANNELS.alertChatDChatId, Type.Null()]),
  }),
);
const closed = { additionalProperties: false };

const fromSavedSearch = recordId({
  description:
    "A saved search whose words, KQL, service and level the rule takes over, where it says none itself.",
  examples: [12],
});
const savedSearchId = Type.Union([Type.Integer(), Type.Null()], {
  description: "The saved search that it was made of.",
  examples: [12],
});

/** What a rule says of itself. */
export const LogAlertTerms = Type.Object(
  { ...base.create.properties, ...Given.properties, ...Channels.properties },
  closed,
);

export const CreateLogAlertBody = Type.Object(
  { ...LogAlertTerms.properties, fromSavedSearch: Type.Optional(fromSavedSearch) },
  {
    $id: "CreateLogAlert",
    ...closed,
    examples: [
      { name: "Payments fail", query: "payment failed", threshold: 5, windowSec: 300, severity: "high" },
    ],
  },
);
export type CreateLogAlertBody = Static<typeof CreateLogAlertBody>;

export const UpdateLogAlertBody = Type.Object(
  { ...base.update.properties, ...Given.properties, ...ClearedChannels.properties },
  { $id: "UpdateLogAlert", ...closed, examples: [{ threshold: 10 }] },
);
export type UpdateLogAlertBody = Static<typeof UpdateLogAlertBody>;

const alertEmail = Type.Union([Type.String(), Type.Null()]);

const catalogId = Type.Union([Type.String(), Type.Null()], {
  description: "The rule of a pack that it was made of.",
  examples: ["ssh-password-guessing"],
});

/** What was imported may be longer than what a body says. */
const kql = Type.Union([Type.String(), Type.Null()], {
  description: "Conditions in KQL, which must hold beside `query`.",
});

const expensive = Type.Boolean({
  description:
    "Whether every entry has to be looked at for it, since no word, value or attribute says which can count; 50 rules that are enabled may be so.",
  examples: [false],
});

/** As it is stored; the channels by their names. */
export const StoredLogAlert = Type.Object({
  ...base.record.properties,
  kql,
  ...settings,
  alertEmail,
  catalogId,
  savedSearchId,
  expensive,
  channels: Type.Array(Type.String()),
});
export type StoredLogAlert = Static<typeof StoredLogAlert>;

export const LogAlert = Type.Object(
  {
    ...base.record.properties,
    kql,
    ...settings,
    alertEmail,
    catalogId,
    savedSearchId,
    expensive,
    ...FLAGS,
    state: Type.Enum([...LIVE_STATES], {
      description:
        "Of the worst of its groups. `starting`: what was before it is not counted yet. `error`: it cannot be evaluated; `lastError` says why.",
    }),
    evaluatedAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
      description: "When something came last that it had to look at.",
    }),
    lastError: Type.Union([Type.String(), Type.Null()]),
  },
  { $id: "LogAlert" },
);
export type LogAlert = Static<typeof LogAlert>;

export const PreviewBody = Type.Object(
  {
    ...LogAlertTerms.properties,
    kql: Type.Optional(
      Type.String({
        maxLength: CONVERTED_KQL_MAX_CHARS,
        description: "As of a rule, or as an import says that a rule of Sigma becomes.",
        examples: ["status >= 500"],
      }),
    ),
    from: Type.Optional(Type.String({ format: "date-time", description: "A day before `to` when absent." })),
    to: Type.Optional(Type.String({ format: "date-time", description: "The present when absent." })),
  },
  { $id: "PreviewLogAlert", ...closed, examples: [{ name: "Payments fail", query: "payment failed" }] },
);
export type PreviewBody = Static<typeof PreviewBody>;

const Time = Type.String({ format: "date-time" });

const Episode = Type.Object({
  ...PreviewEpisode.properties,
  isHistoric: Type.Boolean({
    description: "Nobody would have been told: its entries were older than a day when they came.",
    examples: [false],
  }),
});

export const Preview = Type.Object(
  {
    matched: Type.Integer({
      description: "Entries of the range that the rule counts: the same as of a search.",
    }),
    episodes: Type.Array(Episode, {
      description: "When somebody would have been told, in order of time; of many the first 500.",
    }),
    episodesTotal: Type.Integer(),
    episodesPerDay: Type.Number(),
    band: Type.Array(
      Type.Object({
        start: Time,
        value: Type.Number(),
        expected: Type.Number(),
        low: Type.Number(),
        high: Type.Number(),
      }),
      { description: "Of an anomaly: each window, and what was usual." },
    ),
    samples: Type.Array(Type.Object({ id: Type.String(), ts: Time, message: Type.String() })),
    channels: Type.Array(Type.String(), {
      description:
        "Whom it would tell, by the names of its channels, or of the organisation's where it has none.",
    }),
    pages: Type.Array(
      Type.Object({
        offsetSec: Type.Integer({ description: "Seconds after the incident opened.", examples: [300] }),
        userId: Type.Union([Type.Integer(), Type.Null()], {
          description: "Null where nobody is on call.",
        }),
      }),
      {
        description:
          "Who would be paged when, if it fired at once and nobody answered: by its policy, or the organisation's.",
      },
    ),
    expensive: Type.Boolean({ description: "Whether every entry has to be looked at for it." }),
    noData: Type.Array(
      Type.Object({
        group: PreviewEpisode.properties.group,
        from: Time,
        to: Time,
      }),
      { description: "With `noDataSec`: when it would have told that entries are missing." },
    ),
    truncated: Type.Boolean(),
  },
  { $id: "LogAlertPreview" },
);
export type Preview = Static<typeof Preview>;
