import { type Static, Type } from "typebox";
import { recordSchemas } from "../../http/record-schemas.ts";
import { FUNCTION_BODY_MAX_CHARS, FUNCTION_PARAMETERS_MAX_CHARS } from "../../kql/kept/limits.ts";

const KeptName = Type.String({
  pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$",
  description: "What queries call it.",
  examples: ["ErrorsOf"],
});

const Parameters = Type.String({
  maxLength: FUNCTION_PARAMETERS_MAX_CHARS,
  description:
    "As in the brackets of a `let` function: `name: type`, with a default behind `=`, or a table: `T: (ts: datetime)`, `T: (*)`. Empty for none.",
  examples: ["name: string, most: long = 100"],
});
const Body = Type.String({
  minLength: 1,
  maxLength: FUNCTION_BODY_MAX_CHARS,
  description: "KQL: statements, and a table or a value at the end.",
  examples: ['logs | where service == name and level == "error" | take most'],
});

const schemas = recordSchemas({
  name: "KqlFunction",
  required: { name: KeptName, body: Body },
  optional: {
    parameters: Parameters,
    description: Type.String({ maxLength: 2000, examples: ["What failed in a service"] }),
  },
});
export const { create: CreateKqlFunctionBody, update: UpdateKqlFunctionBody } = schemas;
export type CreateKqlFunctionBody = Static<typeof CreateKqlFunctionBody>;
export type UpdateKqlFunctionBody = Static<typeof UpdateKqlFunctionBody>;

const Version = Type.Integer({
  description: "From 1; counts up with every change of `parameters` or `body`.",
  examples: [1],
});

export const KqlFunction = Type.Object(
  {
    ...schemas.record.properties,
    parameters: Parameters,
    version: Version,
  },
  { $id: "KqlFunction" },
);
export type KqlFunction = Static<typeof KqlFunction>;

export const KqlFunctionVersion = Type.Object(
  {
    version: Version,
    parameters: Parameters,
    body: Body,
    createdAt: Type.String({ format: "date-time" }),
  },
  { $id: "KqlFunctionVersion" },
);
export type KqlFunctionVersion = Static<typeof KqlFunctionVersion>;
