import type { TSchema } from "typebox";
import { ERROR_CODES, type ErrorCode } from "../../errors.ts";
import type { ResponseSpec, Route } from "../route.ts";
import type { Components, JsonObject } from "./components.ts";
import { errorCodesOf } from "./error-codes.ts";
import { ErrorAnswer } from "./error-schemas.ts";
import { exampleOf, givenExample } from "./example.ts";

/** Headers of every response; see the components of the document. */
const COMMON_HEADERS: JsonObject = {
  "X-Request-Id": { $ref: "#/components/headers/RequestId" },
  "X-RateLimit-Limit": { $ref: "#/components/headers/RateLimit" },
  "X-RateLimit-Remaining": { $ref: "#/components/headers/RateLimitRemaining" },
  "X-RateLimit-Reset": { $ref: "#/components/headers/RateLimitReset" },
};
const RETRY_HEADERS: JsonObject = {
  ...COMMON_HEADERS,
  "Retry-After": { $ref: "#/components/headers/RetryAfter" },
};
const EXAMPLE_REQUEST_ID = "0195c3a1-7c5e-7d52-8a3f-2f6b1e9d4c10";

/** The responses of a route by status; what it declares itself stands before what its error codes say. */
export function responsesOf(route: Route, components: Components): JsonObject {
  const byStatus = Map.groupBy(errorCodesOf(route), (code) => ERROR_CODES[code].status);
  const errors = [...byStatus].map(([status, codes]) => [status, errorResponse(route, codes, components)]);
  const own = Object.entries(route.responses).map(([status, spec]) => [
    status,
    ownResponse(spec, Number(status), components),
  ]);
  return Object.fromEntries([...errors, ...own]);
}

/** What a body of a content type is, with an example; of a text only where its schema states one. */
export function mediaType(
  contentType: string,
  schema: TSchema | undefined,
  components: Components,
): JsonObject {
  if (schema === undefined) return {};
  const example = contentType.startsWith("text/") ? givenExample({ ...schema }) : exampleOf(schema);
  return { schema: components.schema(schema), ...(example !== undefined && { example }) };
}

function ownResponse(spec: ResponseSpec, status: number, components: Components): JsonObject {
  const { description, schema, contentType, alternatives = {} } = spec;
  const types = new Map<string, TSchema | undefined>();
  // The document names types without their parameters.
  if (contentType !== undefined) types.set(contentType.replace(/;.*/, ""), schema);
  else if (schema !== undefined) types.set("application/json", schema);
  for (const [type, of] of Object.entries(alternatives)) types.set(type, of);
  const content = Object.fromEntries([...types].map(([type, of]) => [type, mediaType(type, of, components)]));
  return { description, headers: headersOf(status), ...(types.size > 0 && { content }) };
}

/** Routes share the response of the same codes, the same further members and the same other type. */
function errorResponse(
  { refusalSchema, refusalType }: Route,
  codes: readonly ErrorCode[],
  components: Components,
): JsonObject {
  const { $id: refusalName }: JsonObject = { ...refusalSchema };
  const further = [refusalName, refusalType?.replace("/", "-")].filter((part) => part !== undefined);
  const name = [...codes, ...further].join(".");
  return components.response(name, () => {
    const [first = "INTERNAL"] = codes;
    const { status, summary } = ERROR_CODES[first];
    const schema = {
      allOf: [
        components.schema(ErrorAnswer),
        { type: "object", properties: { code: { enum: codes } } },
        ...(refusalSchema === undefined ? [] : [components.schema(refusalSchema)]),
      ],
    };
    const example = { error: summary, code: first, requestId: EXAMPLE_REQUEST_ID };
    const members = refusalSchema === undefined ? {} : exampleOf(refusalSchema);
    return {
      description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].summary}`).join("\n\n"),
      headers: headersOf(status),
      content: {
        "application/json": { schema, example: Object.assign(example, members) },
        ...(refusalType !== undefined && { [refusalType]: {} }),
      },
    };
  });
}

function headersOf(status: number): JsonObject {
  return status === 429 || status === 503 ? RETRY_HEADERS : COMMON_HEADERS;
}
