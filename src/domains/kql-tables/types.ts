import { type Static, Type } from "typebox";
import { KEPT_COLUMN_TYPES } from "../../../query/index.ts";

const NAME_PATTERN = "^[A-Za-z_][A-Za-z0-9_]{0,127}$";
const Name = Type.String({
  pattern: NAME_PATTERN,
  description: "What queries call it.",
  examples: ["hosts"],
});

/** What is no name of a table is 404 where one is read, and told where one is made. */
export const KqlTableParams = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 128, examples: ["hosts"] }),
});

export function isTableName(name: string): boolean {
  return new RegExp(NAME_PATTERN).test(name);
}

export const UploadParameters = Type.Object({
  types: Type.Optional(
    Type.String({
      maxLength: 16_384,
      description:
        "Types of columns, as in `externaldata`: `port: long, since: datetime`. The others have the type that all their values have.",
      examples: ["port: long"],
    }),
  ),
});

export const KqlTable = Type.Object(
  {
    id: Type.Integer({ examples: [17] }),
    name: Name,
    columns: Type.Array(
      Type.Object({
        name: Type.String({ examples: ["host"] }),
        type: Type.Enum(KEPT_COLUMN_TYPES, { examples: ["string"] }),
      }),
    ),
    rows: Type.Integer({ examples: [2] }),
    bytes: Type.Integer({ description: "Of the file.", examples: [44] }),
    version: Type.Integer({ description: "From 1; counts up with every upload.", examples: [1] }),
    createdAt: Type.String({ format: "date-time" }),
    updatedAt: Type.String({ format: "date-time" }),
  },
  { $id: "KqlTable" },
);
export type KqlTable = Static<typeof KqlTable>;
