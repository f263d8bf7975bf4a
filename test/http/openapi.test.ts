import { describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { ERROR_CODES, FIELD_ISSUE_CODES, QUERY_ISSUE_CODES } from "../../src/errors.ts";
import { route } from "../../src/http/define-route.ts";
import { followPointer } from "../../src/http/json-pointer.ts";
import { openApiDocument } from "../../src/http/openapi/document.ts";

const Part = Type.Object({ size: Type.Integer({ examples: [3] }) }, { $id: "Part" });
const Thing = Type.Object(
  { id: Type.String({ examples: ["17"] }), part: Part, spare: Type.Optional(Part) },
  { $id: "Thing" },
);
const responses = { 200: { description: "It.", schema: Thing, alternatives: { "text/csv": Type.String() } } };
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
const head = {
  serverUrl: "https://obs.example.com",
  description: "Logs in.",
  license: { name: "All rights reserved", identifier: "LicenseRef-all" },
  tags: { Things: "What there is.", Drains: "What comes in." },
};
const document: unknown = JSON.parse(JSON.stringify(openApiDocument(routes, head)));
const at = (pointer: string): unknown => followPointer(document, pointer);

describe("the document", () => {
  test("is OpenAPI 3.1 of version 1.0.0 and names the server", () => {
    expect(at("/openapi")).toBe("3.1.0");
    expect(at("/info/version")).toBe("1.0.0");
    expect(at("/servers/0/url")).toBe("https://obs.example.com");
    expect(at("/info/license")).toEqual(head.license);
    expect(at("/tags/0")).toEqual({ name: "Things", description: "What there is." });
  });

  test("has every route, those with a dot in their path as well", () => {
    expect(Object.keys(Object(at("/paths")))).toEqual(["/api/v1/things/{id}", "/drain/feed.xml"]);
    expect(Object.keys(Object(at("/paths/~1api~1v1~1things~1{id}")))).toEqual(["get", "patch"]);
  });

  test("shows HEAD where a route is meant to be asked so, without a body; a parameter may have an extension behind it", () => {
    const badge = route({
      method: "GET",
      path: "/badges/:id.svg",
      tag: "Things",
      summary: "A badge",
      access: "public",
      showsHead: true,
      params: Type.Object({ id: Type.String() }),
      responses,
      handler: () => ({ status: 200 }),
    });
    const shown: unknown = JSON.parse(JSON.stringify(openApiDocument([...routes, badge], head)));
    const operation = (method: string) => followPointer(shown, `/paths/~1badges~1{id}.svg/${method}`);
    expect(operation("get")).toMatchObject({
      operationId: "getBadgesByIdSvg",
      parameters: [{ name: "id", in: "path" }],
    });
    expect(operation("head")).toMatchObject({
      operationId: "headBadgesByIdSvg",
      parameters: [{ name: "id", in: "path" }],
    });
    expect(followPointer(operation("get"), "/responses/200/content")).toBeDefined();
    expect(followPointer(operation("head"), "/responses/200/content")).toBeUndefined();
    expect(at("/paths/~1api~1v1~1things~1{id}/head")).toBeUndefined();
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
        schema: { type: "integer" },
      },
      { name: "from", in: "query", required: true, schema: { type: "string" } },
    ]);
    expect(Object.keys(Object(at(`${get}/responses/200/content`)))).toEqual(["application/json", "text/csv"]);
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

  test("refers to what has a name, wherever it stands, and has it once", () => {
    const get = "/paths/~1api~1v1~1things~1{id}/get/responses/200/content/application~1json";
    const part = { $ref: "#/components/schemas/Part" };
    expect(at(`${get}/schema`)).toEqual({ $ref: "#/components/schemas/Thing" });
    expect(at("/components/schemas/Thing/properties")).toMatchObject({ part, spare: part });
    expect(at("/components/schemas/Part")).toEqual({
      type: "object",
      required: ["size"],
      properties: { size: { type: "integer", examples: [3] } },
    });
    expect(at(`${get}/example`)).toEqual({ id: "17", part: { size: 3 }, spare: { size: 3 } });
  });

  test("refuses two different schemas of one name", () => {
    const other = Type.Object({ size: Type.String() }, { $id: "Part" });
    const [first] = routes;
    const second = route({
      method: "GET",
      path: "/parts",
      tag: "Things",
      summary: "A part",
      access: "public",
      responses: { 200: { description: "It.", schema: other } },
      handler: () => ({ status: 200 }),
    });
    expect(() => openApiDocument(first === undefined ? [] : [first, second], head)).toThrow("Part");
  });

  test("shows the codes of each status, which operations share", () => {
    const response = (method: string, status: number) =>
      Object(at(`/paths/~1api~1v1~1things~1{id}/${method}/responses/${status}`)).$ref;
    expect(response("get", 403)).toBe("#/components/responses/FORBIDDEN.PAT_SCOPE_INSUFFICIENT");
    expect(response("get", 504)).toBe("#/components/responses/QUERY_TIMEOUT");
    expect(response("get", 404)).toBe("#/components/responses/NOT_FOUND");
    expect(response("get", 413)).toBeUndefined();
    expect(
      at("/components/responses/NOT_FOUND/content/application~1json/schema/allOf/1/properties/code/enum"),
    ).toEqual(["NOT_FOUND"]);
    expect(at("/components/schemas/Error/properties/code/enum")).toEqual(Object.keys(ERROR_CODES));
  });

  test("shows what keys of repetitions and caps of tokens add to a change", () => {
    const patch = "/paths/~1api~1v1~1things~1{id}/patch";
    const names = Object.values(Object(at(`${patch}/responses`))).map((response) =>
      String(Object(response).$ref).replace("#/components/responses/", ""),
    );
    expect(names).toEqual(
      expect.arrayContaining([
        "VALIDATION_FAILED.IDEMPOTENCY_KEY_TOO_LONG",
        "IDEMPOTENCY_KEY_REUSED",
        "IDEMPOTENCY_IN_PROGRESS",
        "PAT_DAILY_LIMIT_EXCEEDED.RATE_LIMITED",
      ]),
    );
    expect(at(`${patch}/parameters/1`)).toEqual({ $ref: "#/components/parameters/IdempotencyKey" });
    expect(at("/paths/~1api~1v1~1things~1{id}/get/responses/422")).toBeUndefined();
  });

  test("describes the place of a problem of a query, and every code of it", () => {
    const issue = Object(at("/components/schemas/FieldIssue/properties"));
    expect(Object.keys(issue)).toEqual(
      expect.arrayContaining(["line", "column", "start", "end", "text", "suggestion"]),
    );
    expect(issue.code.enum).toEqual([...Object.keys(FIELD_ISSUE_CODES), ...Object.keys(QUERY_ISSUE_CODES)]);
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
