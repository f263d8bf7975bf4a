import { Type } from "typebox";
import { ERROR_CODES, FIELD_ISSUE_CODES, MAX_FIELD_ISSUES, QUERY_ISSUE_CODES } from "../../errors.ts";

const ERROR_CODE_NAMES = Object.keys(ERROR_CODES);
const OF_QUERIES = "Only of problems of a KQL text.";

const FieldIssue = Type.Object(
  {
    path: Type.String({
      description:
        "A JSON pointer into the body, or `/name` of a query parameter; empty for the body as a whole.",
      examples: ["/name"],
    }),
    code: Type.Enum([...Object.keys(FIELD_ISSUE_CODES), ...Object.keys(QUERY_ISSUE_CODES)], {
      description: "In capitals those of problems of a KQL text.",
    }),
    message: Type.String({ description: "For people.", examples: ["must be string"] }),
    line: Type.Optional(Type.Integer({ minimum: 1, description: OF_QUERIES })),
    column: Type.Optional(Type.Integer({ minimum: 1, description: `${OF_QUERIES} In UTF-16 units.` })),
    start: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: `${OF_QUERIES} Where it begins, in UTF-16 units of the text.`,
      }),
    ),
    end: Type.Optional(
      Type.Integer({ minimum: 0, description: `${OF_QUERIES} Where it ends, in UTF-16 units of the text.` }),
    ),
    text: Type.Optional(Type.String({ description: `${OF_QUERIES} What stands there.` })),
    suggestion: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: `${OF_QUERIES} What was probably meant; null when nothing is near.`,
      }),
    ),
  },
  {
    $id: "FieldIssue",
    description: "One problem of a request.",
    examples: [{ path: "/name", code: "invalid_type", message: "must be string" }],
  },
);

/** What every answer carries that is not 2xx or a redirect. */
export const ErrorAnswer = Type.Object(
  {
    error: Type.String({ description: "For people; branch on the code." }),
    code: Type.Enum(ERROR_CODE_NAMES),
    fields: Type.Optional(
      Type.Array(FieldIssue, {
        maxItems: MAX_FIELD_ISSUES,
        description: "With `VALIDATION_FAILED` and `KQL_INVALID`: every problem.",
      }),
    ),
    requestId: Type.String({
      description: "Under which the server logs the request; also in the header `X-Request-Id`.",
    }),
  },
  { $id: "Error" },
);
