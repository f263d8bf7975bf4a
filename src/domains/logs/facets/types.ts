import { type Static, Type } from "typebox";
import { COVERAGE_PROPERTIES } from "../../../archive/reading/coverage.ts";
import {
  FACET_DEFAULT_VALUES,
  FACET_MAX_VALUES,
  FACETS_MAX_FIELDS,
  FIELD_NAME_MAX_CHARS,
  FIELDS_SAMPLE_ENTRIES,
} from "../limits.ts";
import { FILTER_PARAMETERS } from "../types.ts";

export const FacetParameters = Type.Object(
  {
    ...FILTER_PARAMETERS,
    fields: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: FACETS_MAX_FIELDS * (FIELD_NAME_MAX_CHARS + 1),
        description:
          "Fields of entries and names of attributes, separated by commas; without it level, service, source, host and the most frequent attributes.",
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: FACET_MAX_VALUES, default: FACET_DEFAULT_VALUES }),
    ),
  },
  { additionalProperties: false },
);
export type FacetParameters = Static<typeof FacetParameters>;

export const FacetsAnswer = Type.Object(
  {
    facets: Type.Array(
      Type.Object({
        field: Type.String({ examples: ["service"] }),
        values: Type.Array(
          Type.Object({
            value: Type.String({ examples: ["checkout"] }),
            count: Type.Integer({ examples: [17] }),
          }),
          {
            description: "The most frequent first, counted exactly.",
          },
        ),
        other: Type.Integer({ description: "Entries with a value that is not listed." }),
        missing: Type.Integer({ description: "Entries without the field." }),
      }),
    ),
    total: Type.Integer({ description: "Entries that match: what each facet adds up to." }),
    ...COVERAGE_PROPERTIES,
  },
  { $id: "FacetsAnswer" },
);
export type Facets = Omit<Static<typeof FacetsAnswer>, keyof typeof COVERAGE_PROPERTIES>;

export const FieldParameters = Type.Object({ ...FILTER_PARAMETERS }, { additionalProperties: false });
export type FieldParameters = Static<typeof FieldParameters>;

export const FieldsAnswer = Type.Object(
  {
    fields: Type.Array(
      Type.Object({
        name: Type.String({ description: "As a query writes it.", examples: ["status"] }),
        kind: Type.Enum(["column", "attribute"], { examples: ["attribute"] }),
        types: Type.Array(Type.String({ examples: ["number"] }), {
          description: "Of a column its type in KQL; of an attribute the JSON types seen.",
        }),
        count: Type.Integer({ description: "Sampled entries that have it." }),
        share: Type.Number({ description: "Of the sampled entries, from 0 to 1." }),
        examples: Type.Array(Type.String({ examples: ["502"] }), {
          description: "Some of its values; long ones are cut.",
        }),
        hasColumn: Type.Boolean({
          description:
            "Whether it is stored as a column, which queries read quickly. Attributes that queries ask for get one by themselves.",
          examples: [true],
        }),
      }),
    ),
    sampledEntries: Type.Integer({
      description: `Entries looked at: the newest that match, at most ${FIELDS_SAMPLE_ENTRIES}.`,
    }),
    ...COVERAGE_PROPERTIES,
  },
  { $id: "FieldsAnswer" },
);
export type Fields = Omit<Static<typeof FieldsAnswer>, keyof typeof COVERAGE_PROPERTIES>;
