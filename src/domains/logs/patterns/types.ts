import { type Static, Type } from "typebox";
import { COVERAGE_PROPERTIES } from "../../../archive/reading/coverage.ts";
import { QueryStats, SearchParameters } from "../types.ts";
import { DEFAULT_WINDOW_MS, PATTERNS_DEFAULT_COUNT, PATTERNS_MAX_COUNT, TREND_BUCKETS } from "./limits.ts";

const { cursor: _cursor, limit: _limit, ...FILTER_PARAMETERS } = SearchParameters.properties;

export const PatternParameters = Type.Object(
  {
    ...FILTER_PARAMETERS,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: PATTERNS_MAX_COUNT, default: PATTERNS_DEFAULT_COUNT }),
    ),
  },
  { additionalProperties: false },
);
export type PatternParameters = Static<typeof PatternParameters>;

const Time = Type.String({ format: "date-time" });
const Template = Type.String({
  examples: ["payment <*> failed"],
  description: "The words that the messages share, and `<*>` where they differ.",
});
const ValueCount = Type.Object(
  {
    value: Type.Union([Type.String(), Type.Null()], { examples: ["checkout"] }),
    count: Type.Integer({ examples: [17] }),
  },
  { $id: "ValueCount" },
);
const ValueCounts = Type.Array(ValueCount);

export const Pattern = Type.Object(
  {
    pattern: Template,
    count: Type.Integer({ description: "Entries, exactly.", examples: [17] }),
    share: Type.Number({ description: "Of all entries that match, from 0 to 1." }),
    firstSeen: Time,
    lastSeen: Time,
    levels: ValueCounts,
    services: ValueCounts,
    samples: Type.Array(Type.String({ examples: ["payment 4711 failed"] }), {
      description: "Up to three messages; long ones are cut.",
    }),
    trend: Type.Array(Type.Integer(), {
      description: `Entries in each of ${TREND_BUCKETS} equal parts of the time from \`from\` to \`to\`.`,
    }),
    new: Type.Boolean({ description: "Whether there was none in the equal length of time before." }),
    previousCount: Type.Integer({ description: "Entries in the equal length of time before." }),
  },
  { $id: "Pattern" },
);
export type Pattern = Static<typeof Pattern>;

export const VanishedPattern = Type.Object(
  {
    pattern: Template,
    previousCount: Type.Integer(),
    lastSeen: Time,
  },
  { $id: "VanishedPattern" },
);
export type VanishedPattern = Static<typeof VanishedPattern>;

export const PatternsAnswer = Type.Object(
  {
    patterns: Type.Array(Pattern, {
      description:
        "The most frequent first. One called `(other)` holds messages too many and too different to be told apart.",
    }),
    other: Type.Object(
      { patterns: Type.Integer(), count: Type.Integer() },
      { description: "The patterns beyond `limit` and their entries: with them the counts make up `total`." },
    ),
    vanished: Type.Array(VanishedPattern, {
      description: "Patterns of the equal length of time before of which there is no entry any more.",
    }),
    total: Type.Integer({ description: "Entries that match." }),
    sampled: Type.Boolean({ description: "Never: every entry is counted." }),
    from: Type.String({
      format: "date-time",
      description: `Where the time begins; without the parameter ${DEFAULT_WINDOW_MS / 3_600_000} hours before its end.`,
    }),
    to: Type.String({
      format: "date-time",
      description: "Where it ends, itself included; now without the parameter.",
    }),
    previousTotal: Type.Integer({ description: "Entries that match in the equal length of time before." }),
    ...COVERAGE_PROPERTIES,
    stats: QueryStats,
  },
  { $id: "PatternsAnswer" },
);
export type PatternsAnswer = Static<typeof PatternsAnswer>;
