import { type Static, Type } from "typebox";
import { COVERAGE_PROPERTIES } from "../../../archive/reading/coverage.ts";
import { FIELD_NAME_MAX_CHARS, HISTOGRAM_MAX_GROUPS } from "../limits.ts";
import { FILTER_PARAMETERS } from "../types.ts";

export const HistogramParameters = Type.Object(
  {
    ...FILTER_PARAMETERS,
    bucketSec: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 366 * 86_400,
        description: "Width of a bucket in seconds; without it, one with about a hundred buckets.",
      }),
    ),
    groupBy: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: FIELD_NAME_MAX_CHARS,
        description: "A field of entries, or the name of an attribute.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type HistogramParameters = Static<typeof HistogramParameters>;

const HistogramGroup = Type.Object({
  value: Type.Union([Type.String(), Type.Null()], { examples: ["error"] }),
  count: Type.Integer({ examples: [17] }),
});

export const HistogramAnswer = Type.Object(
  {
    buckets: Type.Array(
      Type.Object({
        start: Type.String({ format: "date-time", description: "The bucket's first moment." }),
        count: Type.Integer(),
        groups: Type.Optional(
          Type.Array(HistogramGroup, {
            description: `The ${HISTOGRAM_MAX_GROUPS} most frequent values of the range, the same in every bucket; null for entries without one.`,
          }),
        ),
        other: Type.Optional(Type.Integer({ description: "Entries with any other value." })),
      }),
      { description: "Without gaps, in order of time; the first may begin before `from`." },
    ),
    bucketSec: Type.Integer({ examples: [60] }),
    total: Type.Integer({ description: "Entries that match, exactly: the sum of the buckets." }),
    ...COVERAGE_PROPERTIES,
  },
  { $id: "HistogramAnswer" },
);
/** Without what it was made of. */
export type Histogram = Omit<Static<typeof HistogramAnswer>, keyof typeof COVERAGE_PROPERTIES>;
