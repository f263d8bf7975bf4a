import { type Static, type TSchema, Type } from "typebox";
import { AGGREGATIONS } from "../../rules/metrics/point.ts";
import { NAMES_DEFAULT } from "./limits.ts";

const Time = Type.String({ format: "date-time" });
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const closed = { additionalProperties: false };

export const NamesParameters = Type.Object(
  {
    since: Type.Optional(
      Type.String({
        format: "date-time",
        description: "Entries with numbers are looked for from then on; a day ago when absent.",
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: `${NAMES_DEFAULT} when absent.` }),
    ),
  },
  closed,
);
export type NamesParameters = Static<typeof NamesParameters>;

export const MetricName = Type.Object(
  {
    name: Type.String({ examples: ["queue.length"] }),
    kind: Type.Enum(["attribute", "log_metric", "logs", "monitors"], {
      description:
        "Where its values come from: the attributes `metric.name` and `metric.value` of entries, a log metric, all entries, or monitors.",
    }),
    services: Type.Array(Type.String(), { description: "Of entries with numbers: whose they are." }),
    lastSeen: nullable(Type.String({ format: "date-time", description: "Of entries with numbers." })),
  },
  { $id: "MetricName" },
);
export type MetricName = Static<typeof MetricName>;

export const MetricSeriesParameters = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 255, examples: ["queue.length"] }),
    service: Type.Optional(Type.String({ maxLength: 255, examples: ["checkout"] })),
    from: Type.Optional(Type.String({ format: "date-time", description: "A day before `to` when absent." })),
    to: Type.Optional(Type.String({ format: "date-time", description: "The present when absent." })),
    bucket: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 86_400, description: "Seconds; chosen by the range when absent." }),
    ),
    agg: Type.Optional(Type.Enum([...AGGREGATIONS], { description: "`avg` when absent." })),
  },
  closed,
);
export type MetricSeriesParameters = Static<typeof MetricSeriesParameters>;

export const MetricSeries = Type.Object(
  {
    points: Type.Array(Type.Object({ start: Time, value: Type.Number() }), {
      description: "In order of time; buckets without a value are left out.",
    }),
    bucketSec: Type.Integer({ examples: [60] }),
    completeThrough: Type.String({
      format: "date-time",
      description: "What was stored until then is in it.",
    }),
    truncated: Type.Boolean({ description: "There are more points than an answer may have." }),
  },
  { $id: "MetricSeries" },
);
export type MetricSeries = Static<typeof MetricSeries>;
