import { beforeAll, describe, expect, test } from "bun:test";
import { type ApiOperation, type Content, isJsonObject, operationsOf } from "../harness/api-document.ts";
import { DeclaredAnswers } from "../harness/declared-answers.ts";
import { makeToken } from "../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../harness/suite-server.ts";

/** The OpenAPI document of the whole server: that it is complete. That it is true is checked with every answer of the tests. */

let server: SharedServer;
let text: string;
let document: DocumentText;
let operations: readonly ApiOperation[];

interface DocumentText {
  readonly info: { readonly description: string; readonly license: { readonly name: string } };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: unknown;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

beforeAll(async () => {
  server = await sharedServer();
  text = await (await fetch(`${server.url}/openapi.json`)).text();
  document = JSON.parse(text);
  operations = operationsOf(document);
});
/** The bodies of operations that need an example: of requests, and of answers in JSON. */
function exampled(): { readonly place: string; readonly content: Content }[] {
  return operations.flatMap(({ method, path, requestBody, responses }) => [
    ...(requestBody === null ? [] : [{ place: `${method} ${path} request`, content: requestBody.content }]),
    ...Object.entries(responses).flatMap(([status, { content = {} }]) => {
      const json = content["application/json"];
      return json === undefined
        ? []
        : [{ place: `${method} ${path} ${status}`, content: { "application/json": json } }];
    }),
  ]);
}

describe("of the document", () => {
  test("every body has an example that its schema takes, with no name that is not declared", () => {
    const judge = new DeclaredAnswers(document);
    const wrong = exampled().flatMap(({ place, content }) =>
      Object.entries(content).flatMap(([type, { schema, example }]) => {
        if (schema === undefined || example === undefined) return [`${place} ${type}: none`];
        return judge.problemsOf(schema, example).map((problem) => `${place} ${type}: ${problem}`);
      }),
    );
    expect(exampled().length).toBeGreaterThan(operations.length);
    expect(wrong).toEqual([]);
  });

  test("what is a record for several operations has a name", () => {
    const inline = new Map<string, Set<string>>();
    const visit = (value: unknown, place: string): void => {
      if (Array.isArray(value)) for (const item of value) visit(item, place);
      if (!isJsonObject(value)) return;
      if (
        value.type === "object" &&
        isJsonObject(value.properties) &&
        Object.keys(value.properties).length > 1
      ) {
        const key = JSON.stringify(value);
        inline.set(key, (inline.get(key) ?? new Set()).add(place));
      }
      for (const [name, member] of Object.entries(value))
        if (name !== "example" && name !== "examples") visit(member, place);
    };
    for (const [path, methods] of Object.entries(Object(document.paths)))
      for (const [method, operation] of Object.entries(Object(methods)))
        visit(operation, `${method} ${path}`);
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const { properties } = Object(schema);
      visit(properties, name);
    }
    const shared = [...inline].filter(([, places]) => places.size > 1);
    expect(shared.map(([schema, places]) => `${[...places].join()}: ${schema}`)).toEqual([]);
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(["LogEntry", "Source", "Token", "SavedSearch", "Member", "Invite", "Error"]),
    );
  });

  test("every tag is described, and every one described is used", () => {
    const used = new Set(operations.flatMap(({ tags }) => tags));
    expect(document.tags.map(({ name }) => name).toSorted()).toEqual([...used].toSorted());
    for (const { description } of document.tags) expect(description).not.toBe("");
  });

  test("the introduction says how to get a token, and names the one answer that has no envelope", () => {
    expect(document.info.license.name).not.toBe("");
    expect(document.info.description).toContain("/api/v1/me/tokens");
    expect(document.info.description).toContain("431");
  });
});

test("a request too long to be read is answered with 431 and nothing, as the introduction says", async () => {
  const response = await fetch(`${server.url}/api/v1/logs/search?q=${"x".repeat(20_000)}`);
  expect([response.status, await response.text()]).toEqual([431, ""]);
});

test("a wrong query is refused as declared, with its place, by every operation that takes one", async () => {
  const token = await makeToken(server.url);
  const taking = operations.filter(
    ({ method, parameters }) => method === "GET" && parameters.some(({ name }) => name === "query"),
  );
  expect(taking.length).toBeGreaterThan(5);
  for (const { path } of taking) {
    const response = await fetch(`${server.url}${path}?query=${encodeURIComponent("where }")}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await response.json()).toMatchObject({
      code: "KQL_INVALID",
      fields: [
        { path: "/query", code: "SYNTAX", line: 1, start: expect.any(Number), text: expect.any(String) },
      ],
    });
  }
});
