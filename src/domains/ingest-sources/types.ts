import { type Static, Type } from "typebox";

export const SOURCE_KEY_PATTERN = "^[a-z0-9][a-z0-9-]{1,62}$";
/** Keys whose paths are taken by other routes. */
export const RESERVED_KEYS: ReadonlySet<string> = new Set(["sources", "presets", "quarantine", "rules"]);

const Name = Type.String({ minLength: 1, maxLength: 255, examples: ["Billing application"] });
const Format = Type.Enum(["json", "ndjson", "cef", "text"]);
const Status = Type.Enum(["active", "learning", "error", "disabled"]);
const Path = Type.String({ minLength: 1, maxLength: 512 });
const EXAMPLE_MAPPING = {
  timestamp: { from: "time", parse: "iso" },
  fields: {
    message: { from: "msg" },
    level: { from: "severity", lowercase: true },
    service: { const: "billing" },
  },
};
const Scalar = Type.Union([Type.String({ maxLength: 8192 }), Type.Number(), Type.Boolean()]);

const FieldMapping = Type.Object(
  {
    from: Type.Optional(Path),
    fromDefault: Type.Optional(Path),
    const: Type.Optional(Scalar),
    default: Type.Optional(Scalar),
    map: Type.Optional(Type.Record(Type.String(), Type.String())),
    lowercase: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

/** docs/ingest-sources.md says what it means. */
const MappingBody = Type.Object(
  {
    format: Type.Optional(Format),
    timestamp: Type.Optional(
      Type.Object(
        {
          from: Path,
          fromDefault: Type.Optional(Path),
          parse: Type.Optional(Type.Enum(["epoch_ms", "epoch_s", "iso", "auto"])),
        },
        { additionalProperties: false },
      ),
    ),
    fields: Type.Optional(Type.Record(Type.String(), FieldMapping)),
    records: Type.Optional(Path),
    keepUnmapped: Type.Optional(Type.Boolean()),
    messageTemplate: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
    zone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        examples: ["Europe/Berlin"],
        description: "Of times in lines of text that name none; UTC unless it is given.",
      }),
    ),
  },
  {
    $id: "Mapping",
    additionalProperties: true,
    description: "How a record becomes an entry.",
    examples: [EXAMPLE_MAPPING],
  },
);

export const CreateSourceBody = Type.Object(
  {
    sourceKey: Type.String({
      pattern: SOURCE_KEY_PATTERN,
      examples: ["billing-app"],
      description: "2 to 63 lowercase letters, digits and hyphens, not a hyphen first.",
    }),
    name: Name,
    format: Type.Optional(Format),
    mapping: Type.Optional(MappingBody),
    preset: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  },
  {
    $id: "CreateSource",
    additionalProperties: false,
    examples: [
      { sourceKey: "billing-app", name: "Billing application", format: "json", mapping: EXAMPLE_MAPPING },
    ],
  },
);
export type CreateSourceBody = Static<typeof CreateSourceBody>;

export const UpdateSourceBody = Type.Object(
  {
    name: Type.Optional(Name),
    format: Type.Optional(Format),
    mapping: Type.Optional(MappingBody),
    status: Type.Optional(Status),
  },
  {
    $id: "UpdateSource",
    additionalProperties: false,
    examples: [{ name: "Billing application", mapping: EXAMPLE_MAPPING }],
  },
);
export type UpdateSourceBody = Static<typeof UpdateSourceBody>;

export const InferBody = Type.Object(
  {
    sample: Type.Unknown({
      description: "One record, several, or the text of some.",
      examples: [{ time: "2026-03-01T12:00:00Z", severity: "ERROR", msg: "payment failed" }],
    }),
    hint: Type.Optional(Type.String({ maxLength: 200, examples: ["billing"] })),
  },
  { $id: "InferMapping", additionalProperties: false },
);

export const IngestSource = Type.Object(
  {
    sourceKey: Type.String({ examples: ["billing-app"] }),
    name: Name,
    format: Format,
    mapping: MappingBody,
    preset: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
    status: Status,
    statusReason: Type.Union([Type.String(), Type.Null()], {
      description: "Why the server set the status; null when a person did.",
      examples: [null],
    }),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
    lastReceivedAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
    accepted: Type.Integer({ description: "Records stored, duplicates included." }),
    rejected: Type.Integer({ description: "Records that were neither stored nor kept." }),
    quarantined: Type.Integer({ description: "Records kept in the quarantine." }),
  },
  { $id: "Source" },
);
export type IngestSource = Static<typeof IngestSource>;

export const Preset = Type.Object(
  {
    name: Type.String({ description: "What a source's `preset` says.", examples: ["journald"] }),
    title: Type.String({ examples: ["systemd journal"] }),
    description: Type.String({
      description: "What sends it, and what has to be set there.",
      examples: ["journalctl -o json, one record a line."],
    }),
    format: Format,
    mapping: MappingBody,
    sample: Type.Unknown({
      description: "One invented record: a JSON value, a text for CEF.",
      examples: [{ MESSAGE: "payment failed", PRIORITY: "3" }],
    }),
  },
  { $id: "Preset" },
);

const Confidence = Type.Number({ minimum: 0, maximum: 1, examples: [0.95] });
const EntryFields = Type.Record(Type.String(), Type.Unknown(), {
  examples: [{ message: "payment failed", level: "error" }],
});

/** A mapping that is proposed for a sample, and how sure that is. */
export const InferredMapping = Type.Object(
  {
    format: Format,
    mapping: MappingBody,
    preset: Type.Union([Type.String(), Type.Null()], {
      description: "The preset that the mapping is of; null when it was made for the sample.",
      examples: [null],
    }),
    confidence: Confidence,
    fields: Type.Array(
      Type.Object({
        field: Type.String({ examples: ["message"] }),
        from: Type.Union([Type.String(), Type.Null()], {
          description: "The path, template or constant that makes the field; null where nothing was found.",
          examples: ["msg"],
        }),
        confidence: Confidence,
        reason: Type.String({ examples: ["the name is one of messages"] }),
      }),
    ),
    preview: Type.Array(
      Type.Object({
        entry: Type.Union([EntryFields, Type.Null()]),
        problem: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
      }),
      { description: "What the first records would be stored as, or why they would not." },
    ),
    alternatives: Type.Array(
      Type.Object({
        field: Type.String({ description: "`preset` for another preset that fits.", examples: ["service"] }),
        from: Type.String({ examples: ["app"] }),
        confidence: Confidence,
      }),
    ),
    unmapped: Type.Array(Type.String({ examples: ["amount"] }), {
      description: "Paths that become attributes.",
    }),
  },
  { $id: "InferredMapping" },
);

/** A record as it came, and what the present mapping makes of it. */
const LearnedSample = Type.Object(
  {
    receivedAt: Type.String({ format: "date-time" }),
    sample: Type.String({
      description: "The record's text.",
      examples: ['{"time":"2026-03-01T12:00:00Z","severity":"ERROR","msg":"payment failed"}'],
    }),
    entry: Type.Union(
      [
        Type.Object(
          {},
          { additionalProperties: true, examples: [{ message: "payment failed", level: "error" }] },
        ),
        Type.Null(),
      ],
      {
        description: "The entry that the mapping would make of it.",
      },
    ),
    problem: Type.Union([Type.String(), Type.Null()], {
      description: "Why it would make none.",
      examples: [null],
    }),
  },
  { $id: "LearnedSample" },
);

export const IngestSourceDetails = Type.Object(
  {
    ...IngestSource.properties,
    samples: Type.Array(LearnedSample, { description: "The last records while the source is learning." }),
  },
  { $id: "SourceDetails" },
);
export type IngestSourceDetails = Static<typeof IngestSourceDetails>;

/** What is stored of a sample. */
export interface StoredSample {
  readonly receivedAt: string;
  readonly text: string;
}
