import { describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { ERROR_CODES } from "../../src/errors.ts";
import { route } from "../../src/http/define-route.ts";
import { followPointer } from "../../src/http/json-pointer.ts";
import { openApiDocument } from "../../src/http/openapi/document.ts";

const responses = { 200: { description: "It.", schema: Type.Object({ id: Type.String() }) } };
const routes = [
  route({
    method: "GET",
    path: "/api/v1/things/:id",
    tag: "Things",
    summary: "One thing",
    access: { role: "member", scope: "logs:read" },
    params: Type.Object({ id: Type.String({ pattern: "^[0-9]+$" }) }),
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ description: "At most." })),
      from: Type.String(),
    }),
    responses,
    errors: ["QUERY_TIMEOUT"],
    handler: () => ({ status: 200 }),
  }),
  route({
    method: "PATCH",
    path: "/api/v1/things/:id",
    tag: "Things",
    summary: "Change a thing",
    access: { role: "admin", scope: "logs:write" },
    audit: "UPDATE_THING",
    params: Type.Object({ id: Type.String() }),
    body: { kind: "json", schema: Type.Object({ name: Type.String() }), optional: true },
    responses,
    handler: () => ({ status: 200 }),
  }),
  route({
    method: "POST",
    effect: "read",
    path: "/drain/feed.xml",
    tag: "Drains",
    summary: "Drain",
    access: "public",
    rateLimit: "ingest",
    body: { kind: "raw", contentTypes: ["application/x-ndjson", "text/plain"], documented: Type.String() },
    responses: { 202: { description: "Taken." } },
    handler: () => ({ status: 202 }),
  }),
];
const document: unknown = JSON.parse(JSON.stringify(openApiDocument(routes, "https://obs.example.com")));
const at = (pointer: string): unknown => followPointer(document, pointer);

describe("the document", () => {
  test("is OpenAPI 3.1 of version 1.0.0 and names the server", () => {
    expect(at("/openapi")).toBe("3.1.0");
    expect(at("/info/version")).toBe("1.0.0");
    expect(at("/servers/0/url")).toBe("https://obs.example.com");
  });

  test("has every route, those with a dot in their path as well", () => {
    expect(Object.keys(Object(at("/paths")))).toEqual(["/api/v1/things/{id}", "/drain/feed.xml"]);
    expect(Object.keys(Object(at("/paths/~1api~1v1~1things~1{id}")))).toEqual(["get", "patch"]);
  });

  test("shows parameters, bodies and answers as they are enforced", () => {
    const get = "/paths/~1api~1v1~1things~1{id}/get";
    expect(at(`${get}/parameters`)).toEqual([
      { name: "id", in: "path", required: true, schema: { type: "string", pattern: "^[0-9]+$" } },
      {
        name: "limit",
        in: "query",
        required: false,
        description: "At most.",
        schema: { type: "integer", description: "At most." },
      },
      { name: "from", in: "query", required: true, schema: { type: "string" } },
    ]);
    expect(at(`${get}/responses/200/content/application~1json/schema`)).toEqual(
      JSON.parse(JSON.stringify(responses[200].schema)),
    );
    expect(at("/paths/~1api~1v1~1things~1{id}/patch/requestBody/required")).toBe(false);
    expect(Object.keys(Object(at("/paths/~1drain~1feed.xml/post/requestBody/content")))).toEqual([
      "application/x-ndjson",
      "text/plain",
    ]);
  });

  test("shows who may call: security, role and scope", () => {
    expect(at("/paths/~1api~1v1~1things~1{id}/get")).toMatchObject({
      security: [{ token: [] }, { session: [] }],
      "x-required-role": "member",
      "x-required-scope": "logs:read",
    });
    expect(at("/paths/~1api~1v1~1things~1{id}/patch/x-audit-action")).toBe("UPDATE_THING");
    expect(at("/paths/~1drain~1feed.xml/post/security")).toEqual([]);
  });

  test("shows the codes of each status", () => {
    const codes = (status: number) =>
      at(
        `/paths/~1api~1v1~1things~1{id}/get/responses/${status}/content/application~1json/schema/allOf/1/properties/code/enum`,
      );
    expect(codes(403)).toEqual(["PAT_SCOPE_INSUFFICIENT", "FORBIDDEN"]);
    expect(codes(504)).toEqual(["QUERY_TIMEOUT"]);
    expect(codes(404)).toEqual(["NOT_FOUND"]);
    expect(codes(413)).toBeUndefined();
    expect(at("/components/schemas/Error/properties/code/enum")).toEqual(Object.keys(ERROR_CODES));
  });
});

describe("a route that contradicts itself is refused at start", () => {
  const declare = (path: string, names: readonly string[]) => () =>
    route({
      method: "GET",
      path,
      tag: "Things",
      summary: "A thing",
      access: "public",
      params: Type.Object(Object.fromEntries(names.map((name) => [name, Type.String()]))),
      responses,
      handler: () => ({ status: 200 }),
    });
  test.each<[string, readonly string[]]>([
    ["/things/:id", []],
    ["/things", ["id"]],
    ["/things/:id.svg", ["id.svg"]],
    ["things", []],
    ["/things/", []],
    ["/things/*", []],
    ["/Things", []],
  ])("%s with parameters %j", (path, names) => {
    expect(declare(path, names)).toThrow(path);
  });
});
