import { type Static, Type } from "typebox";
import { MASK_PATTERN_NAMES } from "../../../ingest/index.ts";
import { recordSchemas } from "../../http/record-schemas.ts";
import { FIELD_MAX_CHARS, KEEP_ONE_IN_MAX, MASK_FIELDS_MAX, POSITION_MAX } from "./limits.ts";

const base = recordSchemas({
  name: "IngestRule",
  required: {
    name: Type.String({ minLength: 1, maxLength: 255, examples: ["Card numbers"] }),
    action: Type.Enum(["drop", "sample", "mask"], { examples: ["mask"] }),
  },
  optional: {
    query: Type.String({
      maxLength: 2048,
      description: "A predicate in KQL, asked about entries as they were received. Without one: every entry.",
      examples: ['service == "checkout"'],
    }),
    keepOneIn: Type.Integer({
      minimum: 2,
      maximum: KEEP_ONE_IN_MAX,
      description: "Of a sample: one entry in so many is kept, by chance.",
    }),
    fields: Type.Array(Type.String({ minLength: 1, maxLength: FIELD_MAX_CHARS }), {
      maxItems: MASK_FIELDS_MAX,
      description: "Of a mask: columns, attributes, and members of attributes by their path with dots.",
      examples: [["user.email"]],
    }),
    patterns: Type.Array(Type.Enum([...MASK_PATTERN_NAMES]), {
      maxItems: MASK_PATTERN_NAMES.length,
      description: "Of a mask: what has the form of a secret, wherever it stands.",
      examples: [["card", "token"]],
    }),
  },
});

/** What has a value in every rule, and need not be given. */
const enabled = Type.Boolean({ description: "True by default.", examples: [true] });
const position = Type.Integer({
  minimum: 0,
  maximum: POSITION_MAX,
  description: "Rules are asked in this order, those of one position the oldest first. 0 by default.",
  examples: [10],
});
const defaulted = { enabled: Type.Optional(enabled), position: Type.Optional(position) };
const closed = { additionalProperties: false };

export const CreateIngestRuleBody = Type.Object(
  { ...base.create.properties, ...defaulted },
  {
    $id: "CreateIngestRule",
    ...closed,
    examples: [{ name: "Card numbers", action: "mask", patterns: ["card", "token"] }],
  },
);
export type CreateIngestRuleBody = Static<typeof CreateIngestRuleBody>;

export const UpdateIngestRuleBody = Type.Object(
  { ...base.update.properties, ...defaulted },
  { $id: "UpdateIngestRule", ...closed, examples: [{ enabled: false }] },
);
export type UpdateIngestRuleBody = Static<typeof UpdateIngestRuleBody>;

export const IngestRule = Type.Object(
  { ...base.record.properties, enabled, position },
  {
    $id: "IngestRule",
  },
);
export type IngestRule = Static<typeof IngestRule>;

/** What decides what becomes of an entry. */
export type RuleTerms = Pick<IngestRule, "action" | "query" | "keepOneIn" | "fields" | "patterns">;

const Time = Type.String({ format: "date-time", examples: ["2026-03-01T12:00:00Z"] });
const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const RuleCountParameters = Type.Object({
  from: Type.Optional(Type.String({ format: "date-time", description: "A day before `to` when absent." })),
  to: Type.Optional(Type.String({ format: "date-time", description: "The present when absent." })),
});

export const RuleCounts = Type.Object(
  {
    hours: Type.Array(
      Type.Object({
        hour: Time,
        dropped: Count("Entries that were not stored."),
        masked: Count("Entries in which something was masked."),
      }),
      { description: "Hours in which the rule did something, oldest first." },
    ),
    dropped: Count("Of all these hours."),
    masked: Count("Of all these hours."),
  },
  { $id: "IngestRuleCounts" },
);
export type RuleCounts = Static<typeof RuleCounts>;

export const PreviewRuleBody = Type.Object(
  { ...CreateIngestRuleBody.properties, from: Time, to: Time },
  {
    $id: "PreviewIngestRule",
    ...closed,
    examples: [
      {
        name: "Card numbers",
        action: "mask",
        patterns: ["card"],
        from: "2026-03-01T11:00:00Z",
        to: "2026-03-01T12:00:00Z",
      },
    ],
  },
);
export type PreviewRuleBody = Static<typeof PreviewRuleBody>;

const NullableText = Type.Union([Type.String(), Type.Null()]);
const EntryTexts = Type.Object({
  message: Type.String({ examples: ["paid with 4111 1111 1111 1111"] }),
  service: NullableText,
  source: NullableText,
  host: NullableText,
  traceId: NullableText,
  spanId: NullableText,
  event_id: NullableText,
  attrs: Type.Record(Type.String(), Type.String(), {
    description: "A string as it is, any other value as its JSON text.",
    examples: [{ status: "502" }],
  }),
});

export const RulePreview = Type.Object(
  {
    entries: Count("Entries of the range."),
    matching: Count("Those of them that the rule is for."),
    examined: Count("The newest of those, which were tried."),
    changed: Count("Those of the examined that would have been masked, or could have been dropped."),
    samples: Type.Array(
      Type.Object({
        id: Type.String(),
        ts: Time,
        before: EntryTexts,
        after: Type.Union([EntryTexts, Type.Null()], {
          description: "Null where it would not be stored, or of a sample only by chance.",
        }),
      }),
      { description: "The newest of those that would have been changed." },
    ),
    partial: Type.Boolean({ description: "Archived entries could not be read." }),
  },
  { $id: "IngestRulePreview" },
);
export type RulePreview = Static<typeof RulePreview>;
