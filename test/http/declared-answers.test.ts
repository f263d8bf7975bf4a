import { describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { ApiError } from "../../src/errors.ts";
import { route } from "../../src/http/define-route.ts";
import type { HandlerResult } from "../../src/http/route.ts";
import { testApp } from "../harness/http-app.ts";

/** That the harness of the tests lets no answer pass that the OpenAPI document does not describe. */

const Part = Type.Object({ size: Type.Integer() }, { $id: "Part" });
const Thing = Type.Object(
  {
    id: Type.String(),
    at: Type.String({ format: "date-time" }),
    parts: Type.Array(Part),
    more: Type.Unknown(),
  },
  { $id: "Thing" },
);
const THING = { id: "17", at: "2026-03-01T12:00:00Z", parts: [{ size: 3 }], more: { any: 1 } };

function appThatAnswers(answer: () => HandlerResult) {
  return testApp([
    route({
      method: "GET",
      path: "/things",
      tag: "Things",
      summary: "A thing",
      access: "public",
      responses: {
        200: { description: "It.", schema: Thing, alternatives: { "text/csv": Type.String() } },
        202: { description: "Nothing yet." },
      },
      errors: ["CONFLICT"],
      handler: answer,
    }),
  ]);
}

const refusal = (error: ApiError) => (): never => {
  throw error;
};

describe("an answer passes", () => {
  test.each<[string, () => HandlerResult, number]>([
    ["as its schema has it", () => ({ status: 200, body: THING }), 200],
    [
      "of another declared type",
      () => new Response("id", { headers: { "content-type": "text/csv; header=present" } }),
      200,
    ],
    ["without a body", () => ({ status: 202 }), 202],
    ["that refuses with a code of the route", refusal(new ApiError("CONFLICT", "Taken.")), 409],
    ["that refuses with a code of every route", refusal(new ApiError("UNAVAILABLE", "Later.")), 503],
  ])("%s", async (_name, answer, status) => {
    const { send } = appThatAnswers(answer);
    expect((await send("GET", "/things")).status).toBe(status);
    expect((await send("HEAD", "/things")).status).toBe(status);
    expect((await send("GET", "/nothing")).status).toBe(404);
  });
});

describe("an answer fails the test", () => {
  test.each<[string, () => HandlerResult, string]>([
    ["with a wrong value", () => ({ status: 200, body: { ...THING, at: "yesterday" } }), "/at"],
    [
      "with a wrong value deep inside",
      () => ({ status: 200, body: { ...THING, parts: [{ size: "3" }] } }),
      "/parts/0/size",
    ],
    ["with a name too many", () => ({ status: 200, body: { ...THING, secret: 1 } }), "secret"],
    [
      "with a name too many deep inside",
      () => ({ status: 200, body: { ...THING, parts: [{ size: 3, hue: 1 }] } }),
      "hue",
    ],
    ["without a name that is required", () => ({ status: 200, body: { id: "17" } }), "parts"],
    ["with a status of its own", () => ({ status: 201, body: THING }), "no such status"],
    [
      "of a type of its own",
      () => new Response("x", { headers: { "content-type": "text/html" } }),
      "text/html",
    ],
    ["with a body where none is declared", () => ({ status: 202, body: {} }), "application/json"],
    ["that refuses with another status", refusal(new ApiError("LINK_INVALID", "Old.")), "LINK_INVALID"],
    ["that refuses with another code", refusal(new ApiError("NOT_FOUND", "None.")), "404"],
    [
      "that refuses with a member too many",
      () => Response.json({ error: "x", code: "CONFLICT", requestId: "r", hint: "y" }, { status: 409 }),
      "hint",
    ],
  ])("%s", async (_name, answer, place) => {
    const { send } = appThatAnswers(answer);
    await expect(send("GET", "/things")).rejects.toThrow(place);
  });
});
