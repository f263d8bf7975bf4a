import { type Static, type TSchema, Type } from "typebox";
import { recordId } from "../../http/stored-values.ts";
import { ALERT_CHANNEL_FLAGS, ALERT_CHANNELS } from "../../notify/alert-channels.ts";
import { EvidenceEntry, Severity } from "../../problems/events.ts";
import { LIVE_STATES } from "../../rules/live/live-states.ts";
import { PreviewEpisode } from "../../rules/live/preview-episode.ts";

const Time = Type.String({ format: "date-time" });
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };

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

const fields = {
  name: Type.String({ minLength: 1, maxLength: 255, examples: ["Guessed, then in"] }),
  kind: Type.Enum(["sequence", "cardinality"], {
    description:
      "`sequence`: steps in their order. `cardinality`: many different values of a field. It never changes.",
  }),
  joinField: Type.String({
    minLength: 1,
    maxLength: 255,
    description: "What the entries have in common: a column, a logical field or an attribute.",
    examples: ["auth.sourceAddress"],
  }),
  severity: Severity,
  windowSec: Type.Integer({ minimum: 30, maximum: 86_400, examples: [600] }),
  enabled: Type.Boolean(),
} as const;
const optional = {
  attackTechnique: Type.String({
    pattern: "^T[0-9]{4}(\\.[0-9]{3})?$",
    maxLength: 16,
    examples: ["T1110.001"],
  }),
  description: Type.String({ maxLength: 2048 }),
  steps: Type.Array(Type.Object({ kql: Type.String({ minLength: 1, maxLength: 2048 }) }, closed), {
    minItems: 2,
    maxItems: 6,
    description: "Of a sequence: conditions in KQL.",
    examples: [[{ kql: 'message startswith "Failed password"' }, { kql: 'message startswith "Accepted"' }]],
  }),
  matchKql: Type.String({ minLength: 1, maxLength: 2048, description: "Of a cardinality: which entries." }),
  distinctField: Type.String({
    minLength: 1,
    maxLength: 255,
    description: "Of a cardinality: of which field the values are counted.",
  }),
  threshold: Type.Integer({ minimum: 1, maximum: 1_000_000, description: "Of a cardinality: how many." }),
  escalationPolicyId: recordId(),
} as const;
const cleared = {
  attackTechnique: nullable(optional.attackTechnique),
  description: nullable(optional.description),
  steps: nullable(optional.steps),
  matchKql: nullable(optional.matchKql),
  distinctField: nullable(optional.distinctField),
  threshold: nullable(optional.threshold),
  escalationPolicyId: nullable(optional.escalationPolicyId),
} as const;
const clearedChannels = {
  alertEmail: nullable(CHANNELS.alertEmail),
  alertWebhookUrl: nullable(CHANNELS.alertWebhookUrl),
  alertChatAUrl: nullable(CHANNELS.alertChatAUrl),
  alertChatBUrl: nullable(CHANNELS.alertChatBUrl),
  alertChatCUrl: nullable(CHANNELS.alertChatCUrl),
  alertChatDBotToken: nullable(CHANNELS.alertChatDBotToken),
  alertChatDChatId: nullable(CHANNELS.alertChatDChatId),
} as const;

const terms = {
  ...{ name: fields.name, kind: fields.kind, joinField: fields.joinField },
  ...Type.Partial(
    Type.Object({ severity: fields.severity, windowSec: fields.windowSec, enabled: fields.enabled }),
  ).properties,
  ...Type.Partial(Type.Object(optional)).properties,
};

export const CreateCorrelationBody = Type.Object(
  { ...terms, ...Type.Partial(Type.Object(CHANNELS)).properties },
  { $id: "CreateCorrelationRule", ...closed },
);
export type CreateCorrelationBody = Static<typeof CreateCorrelationBody>;

export const UpdateCorrelationBody = Type.Object(
  {
    ...Type.Partial(Type.Object(fields)).properties,
    ...Type.Partial(Type.Object(cleared)).properties,
    ...Type.Partial(Type.Object(clearedChannels)).properties,
  },
  { $id: "UpdateCorrelationRule", ...closed },
);
export type UpdateCorrelationBody = Static<typeof UpdateCorrelationBody>;

/** A rule as its table has it; the channels by their names. */
export const StoredCorrelation = Type.Object({
  id: Type.Integer({ examples: [6] }),
  ...fields,
  ...cleared,
  alertEmail: nullable(Type.String()),
  channels: Type.Array(Type.String()),
  catalogId: nullable(Type.String({ description: "The rule of the catalogue that it was made of." })),
  createdAt: Time,
  updatedAt: Time,
});
export type StoredCorrelation = Static<typeof StoredCorrelation>;

const { channels: _channels, ...shownFields } = StoredCorrelation.properties;

export const CorrelationRule = Type.Object(
  {
    ...shownFields,
    ...{ hasAlertWebhook, hasAlertChatA, hasAlertChatB, hasAlertChatC, hasAlertChatD },
    state: Type.Enum([...LIVE_STATES]),
    evaluatedAt: nullable(Time),
    lastError: nullable(Type.String()),
  },
  { $id: "CorrelationRule" },
);
export type CorrelationRule = Static<typeof CorrelationRule>;

export const CorrelationPreviewBody = Type.Object(
  {
    ...CreateCorrelationBody.properties,
    from: Type.Optional(Type.String({ format: "date-time", description: "A day before `to` when absent." })),
    to: Type.Optional(Type.String({ format: "date-time", description: "The present when absent." })),
  },
  { $id: "PreviewCorrelationRule", ...closed },
);
export type CorrelationPreviewBody = Static<typeof CorrelationPreviewBody>;

export const CorrelationPreview = Type.Object(
  {
    matched: Type.Integer({ description: "Moments at which the rule finds what it asks for." }),
    episodes: Type.Array(
      Type.Object({
        ...PreviewEpisode.properties,
        entries: Type.Array(EvidenceEntry, { description: "One for each step, or for each value." }),
      }),
    ),
    episodesTotal: Type.Integer(),
    truncated: Type.Boolean(),
  },
  { $id: "CorrelationPreview" },
);
export type CorrelationPreview = Static<typeof CorrelationPreview>;

export const SeedBody = Type.Object(
  {
    enable: Type.Optional(
      Type.Boolean({ description: "Whether the rules are evaluated; false by default." }),
    ),
  },
  { $id: "SeedCorrelationRules", ...closed },
);
export const Seeded = Type.Object(
  { created: Type.Integer(), existing: Type.Integer() },
  { $id: "SeededCorrelationRules" },
);
export type Seeded = Static<typeof Seeded>;

export const CatalogRule = Type.Object(
  {
    id: Type.String(),
    ...{ name: fields.name, kind: fields.kind, joinField: fields.joinField },
    description: Type.String(),
    severity: fields.severity,
    attackTechnique: Type.String(),
    windowSec: fields.windowSec,
    ...Type.Partial(Type.Object({ steps: optional.steps, matchKql: optional.matchKql })).properties,
    ...Type.Partial(Type.Object({ distinctField: optional.distinctField, threshold: optional.threshold }))
      .properties,
  },
  { $id: "CatalogCorrelation" },
);
