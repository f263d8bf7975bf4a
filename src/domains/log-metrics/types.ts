import { type Static, Type } from "typebox";
import { LEVEL_NUMBERS } from "../../../ingest/index.ts";
import { recordSchemas } from "../../http/record-schemas.ts";

const base = recordSchemas({
  name: "LogMetric",
  required: { name: Type.String({ minLength: 1, maxLength: 255, examples: ["Failed payments"] }) },
  optional: {
    query: Type.String({ maxLength: 1024, description: "As `q` of a search.", examples: ["payment failed"] }),
    service: Type.String({ maxLength: 255, examples: ["checkout"] }),
    level: Type.Enum(Object.keys(LEVEL_NUMBERS), { examples: ["error"] }),
  },
});

/** Widths of buckets that answers come in, in seconds. */
export const BUCKETS_SEC = [60, 300, 900, 1800, 3600] as const;

/** What has a value in every metric, and need not be given. */
const bucketSec = Type.Enum([...BUCKETS_SEC], {
  description: "Width of the buckets of a series, in seconds, where it asks for no other. 60 by default.",
  examples: [60],
});
const enabled = Type.Boolean({ description: "True by default.", examples: [true] });
const defaulted = { bucketSec: Type.Optional(bucketSec), enabled: Type.Optional(enabled) };
const closed = { additionalProperties: false };

export const CreateLogMetricBody = Type.Object(
  { ...base.create.properties, ...defaulted },
  { $id: "CreateLogMetric", ...closed, examples: [{ name: "Failed payments", query: "payment failed" }] },
);
export type CreateLogMetricBody = Static<typeof CreateLogMetricBody>;

export const UpdateLogMetricBody = Type.Object(
  { ...base.update.properties, ...defaulted },
  { $id: "UpdateLogMetric", ...closed, examples: [{ enabled: false }] },
);
export type UpdateLogMetricBody = Static<typeof UpdateLogMetricBody>;

export const LogMetric = Type.Object({ ...base.record.properties, bucketSec, enabled }, { $id: "LogMetric" });
export type LogMetric = Static<typeof LogMetric>;

export const SeriesParameters = Type.Object(
  {
    from: Type.Optional(
      Type.String({
        format: "date-time",
        description: "A day before `to` when absent.",
        examples: ["2026-03-01T00:00:00Z"],
      }),
    ),
    to: Type.Optional(Type.String({ format: "date-time", description: "The present when absent." })),
    bucketSec: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 3600,
        description: "60, 300, 900, 1800 or 3600; that of the metric when absent.",
      }),
    ),
  },
  closed,
);
export type SeriesParameters = Static<typeof SeriesParameters>;

export const Series = Type.Object(
  {
    points: Type.Array(
      Type.Object({
        start: Type.String({
          format: "date-time",
          description: "The bucket's first moment.",
          examples: ["2026-03-01T12:00:00Z"],
        }),
        value: Type.Number({ examples: [17] }),
      }),
      {
        description:
          "In order of time. Every bucket that `from` and `to` lie in or between, whole; of more than 2 000 those alone that are not 0.",
      },
    ),
    bucketSec: Type.Integer({ examples: [60] }),
    completeThrough: Type.String({
      format: "date-time",
      description: "What was stored until then is in it.",
      examples: ["2026-03-01T12:34:56Z"],
    }),
    truncated: Type.Boolean({
      description: "There are more points than an answer may have: the latest are left out.",
    }),
  },
  { $id: "Series" },
);
export type Series = Static<typeof Series>;
