import { type Static, Type } from "typebox";
import { LEVEL_NUMBERS } from "../../../../ingest/index.ts";
import { SEARCH_TEXT_MAX_CHARS } from "../../../../query/index.ts";
import { SERVICE_MAX_CHARS } from "../limits.ts";
import { TAIL_QUERY_MAX_CHARS } from "./limits.ts";

const FILTER = {
  q: Type.Optional(Type.String({ maxLength: SEARCH_TEXT_MAX_CHARS, description: "As in a search." })),
  service: Type.Optional(
    Type.String({ minLength: 1, maxLength: SERVICE_MAX_CHARS, description: "The whole name." }),
  ),
  level: Type.Optional(Type.Enum(Object.keys(LEVEL_NUMBERS))),
};

export const SessionBody = Type.Object(
  {
    ...FILTER,
    query: Type.Optional(
      Type.String({
        maxLength: TAIL_QUERY_MAX_CHARS,
        description: "KQL: a condition, or a pipeline of nothing but `where`.",
      }),
    ),
  },
  {
    $id: "CreateTailSession",
    additionalProperties: false,
    examples: [{ level: "error", query: "status >= 500" }],
  },
);
export type TailParameters = Static<typeof SessionBody>;

export const SessionAnswer = Type.Object(
  {
    token: Type.String({
      description: "Opens the stream, also again after a break. Shown once.",
      examples: ["obt_3kXvQ9wZr5Lm1Tc7YbNsPd2HfJg8Ue4A"],
    }),
    expiresAt: Type.String({ format: "date-time", description: "Moves on with every use." }),
  },
  { $id: "TailSession" },
);

export const StreamParameters = Type.Object(
  {
    ...FILTER,
    token: Type.Optional(
      Type.String({
        maxLength: 128,
        description:
          "Of a tail session; also taken as a bearer token. Without it the caller's own credential opens the stream.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type StreamParameters = Static<typeof StreamParameters>;
