import { expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../../src/errors.ts";
import type { ToolOperation } from "../../src/tools/tool-definition.ts";
import { toolRequest } from "../../src/tools/tool-request.ts";

const OPERATION: ToolOperation = {
  method: "POST",
  path: "/api/v1/things/:id/parts",
  access: "authenticated",
  pathNames: ["id"],
  queryNames: ["limit", "tag"],
  hasBody: true,
};

test("each argument goes where its operation takes it, and what it does not know goes along", () => {
  const given = { id: "a/b c", limit: 5, tag: ["x", "y&z"], name: "n", other: null };
  expect(toolRequest(OPERATION, given)).toEqual({
    method: "POST",
    target: "/api/v1/things/a%2Fb%20c/parts?limit=5&tag=x&tag=y%26z",
    body: JSON.stringify({ name: "n", other: null }),
  });
  const reading = { ...OPERATION, method: "GET" as const, hasBody: false };
  expect(toolRequest(reading, { id: 7, unknown: true, limit: null })).toEqual({
    ...{ method: "GET", target: "/api/v1/things/7/parts?unknown=true", body: null },
  });
});

test("whatever the arguments are, a call stays on the path of its operation", () => {
  const argument = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(".", "..", "../..", "%2e%2e", "/", "?", "#", "\\", "a/../../b", "\ud800", "x\0"),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(fc.record({ id: argument, limit: argument, tag: argument }), (given) => {
      let target: string;
      try {
        ({ target } = toolRequest(OPERATION, given));
      } catch (error) {
        if (error instanceof ApiError && error.code === "VALIDATION_FAILED") return;
        throw error;
      }
      const { pathname, hash } = new URL(target, "http://localhost");
      expect(pathname).toMatch(/^\/api\/v1\/things\/[^/]+\/parts$/);
      expect(hash).toBe("");
    }),
    { numRuns: 500 },
  );
});
