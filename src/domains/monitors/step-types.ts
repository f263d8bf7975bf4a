import { Type } from "typebox";
import { BODY_MAX_CHARS, HEADERS_MAX, STEPS_MAX } from "./limits.ts";

/** A name or a value of a request header: one line, and nothing that ends it (RFC 9110). */
const HEADER_VALUE = "^[\\t\\u0020-\\u007e\\u0080-\\u00ff]*$";

export const Headers = Type.Record(Type.String(), Type.String({ maxLength: 2048, pattern: HEADER_VALUE }), {
  maxProperties: HEADERS_MAX,
  examples: [{ "X-Probe": "obs" }],
});

const Assertion = Type.Object(
  {
    source: Type.Enum(["status_code", "response_time_ms", "body_json", "body_text", "header"]),
    path: Type.Optional(
      Type.String({
        maxLength: 512,
        description: "Names joined by dots, or that of a header.",
        examples: ["data.id"],
      }),
    ),
    comparison: Type.Enum(["eq", "ne", "contains", "not_contains", "gt", "lt", "exists", "not_exists"]),
    value: Type.Optional(Type.Union([Type.String({ maxLength: 2048 }), Type.Number()], { examples: [200] })),
  },
  { $id: "MonitorAssertion", additionalProperties: false },
);

const Extraction = Type.Object(
  {
    var: Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
      examples: ["token"],
    }),
    source: Type.Enum(["body_json", "header"]),
    path: Type.String({ minLength: 1, maxLength: 512, examples: ["data.token"] }),
  },
  { $id: "MonitorExtraction", additionalProperties: false },
);

const Step = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 128, examples: ["Sign in"] }),
    method: Type.Enum(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]),
    url: Type.String({ minLength: 1, maxLength: 2048, examples: ["https://shop.example.com/login"] }),
    headers: Type.Optional(Headers),
    body: Type.Optional(Type.String({ maxLength: BODY_MAX_CHARS, examples: ['{"user":"probe"}'] })),
    assertions: Type.Optional(Type.Array(Assertion, { maxItems: 20 })),
    extract: Type.Optional(Type.Array(Extraction, { maxItems: 10 })),
  },
  { $id: "MonitorStep", additionalProperties: false },
);
export const Steps = Type.Array(Step, { minItems: 1, maxItems: STEPS_MAX });
export const StoredHeaders = Type.Record(Type.String(), Type.String());
