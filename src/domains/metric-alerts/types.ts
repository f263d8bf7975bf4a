import { type Static, type TSchema, Type } from "typebox";
import { recordId } from "../../http/stored-values.ts";
import { Severity } from "../../problems/events.ts";
import { COMPARATORS } from "../../rules/evaluation/metric-windows.ts";
import { LIVE_STATES } from "../../rules/live/live-states.ts";
import { AGGREGATIONS } from "../../rules/metrics/point.ts";

const Time = Type.String({ format: "date-time" });
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };

const fields = {
  name: Type.String({ minLength: 1, maxLength: 255, examples: ["The queue grows"] }),
  metricName: Type.String({ minLength: 1, maxLength: 255, examples: ["queue.length"] }),
  aggregation: Type.Enum([...AGGREGATIONS], { description: "`avg` by default." }),
  comparator: Type.Enum([...COMPARATORS], { description: "`gt` by default." }),
  threshold: Type.Number({ examples: [100] }),
  windowSec: Type.Integer({ minimum: 60, maximum: 86_400, description: "300 by default.", examples: [300] }),
  severity: Severity,
  enabled: Type.Boolean({ description: "True by default." }),
} as const;
const service = Type.String({ maxLength: 255, examples: ["checkout"] });
const escalationPolicyId = recordId({
  description: "Who is paged; the default policy without one.",
});
const noDataSec = Type.Integer({
  minimum: 60,
  maximum: 604_800,
  description: "After how long without a window that has values somebody is told; never without it.",
  examples: [900],
});

const terms = {
  name: fields.name,
  metricName: fields.metricName,
  threshold: fields.threshold,
  service: Type.Optional(service),
  aggregation: Type.Optional(fields.aggregation),
  comparator: Type.Optional(fields.comparator),
  windowSec: Type.Optional(fields.windowSec),
  severity: Type.Optional(fields.severity),
  enabled: Type.Optional(fields.enabled),
  escalationPolicyId: Type.Optional(escalationPolicyId),
  noDataSec: Type.Optional(noDataSec),
} as const;

export const CreateMetricAlertBody = Type.Object(terms, {
  $id: "CreateMetricAlert",
  ...closed,
  examples: [{ name: "The queue grows", metricName: "queue.length", threshold: 100 }],
});
export type CreateMetricAlertBody = Static<typeof CreateMetricAlertBody>;

export const UpdateMetricAlertBody = Type.Object(
  {
    enabled: Type.Optional(fields.enabled),
    threshold: Type.Optional(fields.threshold),
    noDataSec: Type.Optional(nullable(noDataSec)),
  },
  { $id: "UpdateMetricAlert", ...closed },
);
export type UpdateMetricAlertBody = Static<typeof UpdateMetricAlertBody>;

/** A rule as its table has it. */
export const StoredMetricAlert = Type.Object({
  id: Type.Integer({ examples: [4] }),
  ...fields,
  service: nullable(service),
  escalationPolicyId: nullable(escalationPolicyId),
  noDataSec: nullable(noDataSec),
  createdAt: Time,
  updatedAt: Time,
});
export type StoredMetricAlert = Static<typeof StoredMetricAlert>;

export const MetricAlert = Type.Object(
  {
    ...StoredMetricAlert.properties,
    state: Type.Enum([...LIVE_STATES]),
    evaluatedAt: nullable(Time),
    lastError: nullable(
      Type.String({ description: "Why it could not be evaluated, or that its latest window has no values." }),
    ),
  },
  { $id: "MetricAlert" },
);
export type MetricAlert = Static<typeof MetricAlert>;

export const MetricPreviewBody = Type.Object(
  {
    ...terms,
    from: Type.Optional(Type.String({ format: "date-time", description: "A day before `to` when absent." })),
    to: Type.Optional(Type.String({ format: "date-time", description: "The present when absent." })),
  },
  { $id: "MetricAlertPreview", ...closed },
);
export type MetricPreviewBody = Static<typeof MetricPreviewBody>;

export const MetricPreview = Type.Object(
  {
    matched: Type.Integer({ description: "Windows in which the condition holds." }),
    episodes: Type.Array(
      Type.Object({
        group: Type.Record(Type.String(), nullable(Type.String())),
        startedAt: Time,
        endedAt: Time,
        peak: Type.Number({ description: "How far from the threshold it was." }),
        because: Type.String(),
      }),
    ),
    episodesTotal: Type.Integer(),
    values: Type.Array(Type.Object({ end: Time, value: nullable(Type.Number()) }), {
      description: "What windows came to; null where there were no values.",
    }),
    truncated: Type.Boolean({ description: "There are more episodes or values than are shown." }),
  },
  { $id: "MetricPreview" },
);
export type MetricPreview = Static<typeof MetricPreview>;
