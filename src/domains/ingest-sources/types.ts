import { type Static, Type } from "typebox";

export const SOURCE_KEY_PATTERN = "^[a-z0-9][a-z0-9-]{1,62}$";
/** Keys whose paths are taken by other routes. */
export const RESERVED_KEYS: ReadonlySet<string> = new Set(["sources", "presets", "quarantine"]);

const Name = Type.String({ minLength: 1, maxLength: 255 });
const Format = Type.Enum(["json", "ndjson", "cef"]);
const Status = Type.Enum(["active", "learning", "error", "disabled"]);
const Path = Type.String({ minLength: 1, maxLength: 512 });
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
  },
  { additionalProperties: true },
);

export const CreateSourceBody = Type.Object(
  {
    sourceKey: Type.String({
      pattern: SOURCE_KEY_PATTERN,
      description: "2 to 63 lowercase letters, digits and hyphens, not a hyphen first.",
    }),
    name: Name,
    format: Type.Optional(Format),
    mapping: Type.Optional(MappingBody),
    preset: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  },
  { additionalProperties: false },
);
export type CreateSourceBody = Static<typeof CreateSourceBody>;

export const UpdateSourceBody = Type.Object(
  {
    name: Type.Optional(Name),
    format: Type.Optional(Format),
    mapping: Type.Optional(MappingBody),
    status: Type.Optional(Status),
  },
  { additionalProperties: false },
);
export type UpdateSourceBody = Static<typeof UpdateSourceBody>;

export const InferBody = Type.Object(
  {
    sample: Type.Unknown({ description: "One record, several, or the text of some." }),
    hint: Type.Optional(Type.String({ maxLength: 200 })),
  },
  { additionalProperties: false },
);

const OrNull = {
  text: Type.Union([Type.String(), Type.Null()]),
  time: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
};

export const IngestSource = Type.Object({
  sourceKey: Type.String(),
  name: Name,
  format: Format,
  mapping: MappingBody,
  preset: OrNull.text,
  status: Status,
  statusReason: Type.Union([Type.String(), Type.Null()], {
    description: "Why the server set the status; null when a person did.",
  }),
  createdAt: Type.String({ format: "date-time" }),
  updatedAt: Type.String({ format: "date-time" }),
  lastReceivedAt: OrNull.time,
  accepted: Type.Integer({ description: "Records stored, duplicates included." }),
  rejected: Type.Integer({ description: "Records that were neither stored nor kept." }),
  quarantined: Type.Integer({ description: "Records kept in the quarantine." }),
});
export type IngestSource = Static<typeof IngestSource>;

/** A record as it came, and what the present mapping makes of it. */
const LearnedSample = Type.Object({
  receivedAt: Type.String({ format: "date-time" }),
  sample: Type.String({ description: "The record's text." }),
  entry: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
    description: "The entry that the mapping would make of it.",
  }),
  problem: Type.Union([Type.String(), Type.Null()], { description: "Why it would make none." }),
});

export const IngestSourceDetails = Type.Object({
  ...IngestSource.properties,
  samples: Type.Array(LearnedSample, { description: "The last records while the source is learning." }),
});
export type IngestSourceDetails = Static<typeof IngestSourceDetails>;

/** What is stored of a sample. */
export interface StoredSample {
  readonly receivedAt: string;
  readonly text: string;
}
