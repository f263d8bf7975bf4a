import { expect, test } from "bun:test";
import * as zlib from "node:zlib";
import fc from "fast-check";
import { Type } from "typebox";
import { route } from "../../src/http/define-route.ts";
import { TEST_ORIGIN, testApp } from "../harness/http-app.ts";

const closed = { additionalProperties: false };
const anything = {
  description: "It.",
  schema: Type.Unknown(),
  alternatives: { "text/plain": Type.String() },
};
const described = {
  tag: "Things",
  summary: "A thing",
  responses: { 200: anything, 201: anything, 204: { description: "Done." } },
};

const { app, send } = testApp([
  route({
    ...described,
    method: "GET",
    path: "/things/:id/parts/:name",
    access: "public",
    params: Type.Object({
      id: Type.String({ pattern: "^[1-9][0-9]{0,15}$" }),
      name: Type.String({ maxLength: 20 }),
    }),
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
      tag: Type.Optional(Type.Array(Type.String())),
      at: Type.Optional(Type.String({ format: "date-time" })),
    }),
    handler: (_context, { params, query }) => ({ status: 200, body: { params, query } }),
  }),
  route({
    ...described,
    method: "POST",
    effect: "read",
    path: "/things",
    access: { role: "member", scope: "logs:write" },
    body: {
      kind: "json",
      maxBytes: 20_000,
      schema: Type.Object(
        {
          name: Type.String({ minLength: 1 }),
          mail: Type.Optional(Type.String({ format: "email" })),
          link: Type.Optional(Type.String({ format: "uri" })),
          steps: Type.Optional(
            Type.Array(
              Type.Union([
                Type.Object(
                  { type: Type.Literal("a"), x: Type.Union([Type.Integer(), Type.Null()]) },
                  closed,
                ),
                Type.Object(
                  { type: Type.Literal("b"), y: Type.Record(Type.String(), Type.Boolean()) },
                  closed,
                ),
              ]),
            ),
          ),
        },
        closed,
      ),
    },
    handler: (_context, { body }) => ({ status: 201, body }),
  }),
]);

/** What every answer has to be, whatever was asked. */
async function expectProperAnswer(response: Response): Promise<void> {
  expect(response.status).toBeLessThan(500);
  expect(response.headers.get("x-request-id")).not.toBeNull();
  expect(response.headers.get("x-ratelimit-limit")).not.toBeNull();
  const text = await response.text();
  if (response.status >= 400 && text !== "") {
    const body: unknown = JSON.parse(text);
    expect(body).toMatchObject({
      error: expect.any(String),
      code: expect.any(String),
      requestId: expect.any(String),
    });
  }
}

const pathText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.webUrl({ withQueryParameters: true }).map((url) => url.replace(/^https?:\/\/[^/]*/, "")),
  fc.constantFrom(
    "%",
    "%zz",
    "%c3%28",
    "..",
    "//",
    "?",
    "?&&==",
    "?limit=1&limit=2",
    "?at=%00",
    "#",
    "/things/1/parts/",
  ),
);

test("no path and no query is answered with a 5xx", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(pathText, { maxLength: 4 }), fc.boolean(), async (parts, isDeep) => {
      const path = (isDeep ? "/things/1/parts/" : "/") + parts.join("");
      const url = `${TEST_ORIGIN}${path}`;
      if (!URL.canParse(url)) return;
      await expectProperAnswer(await app.handle(new Request(url)));
    }),
    { numRuns: 1500 },
  );
});

const bytes = fc.oneof(
  fc.json().map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
  fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
  fc
    .record(
      { name: fc.anything(), steps: fc.array(fc.anything()), mail: fc.string(), link: fc.webUrl() },
      { requiredKeys: [] },
    )
    .map((value) => Buffer.from(safeJson(value))),
  fc.nat(2000).map((depth) => Buffer.from("[{".repeat(depth))),
  fc.nat(40_000).map((length) => Buffer.alloc(length, "a")),
);
const packing = fc.constantFrom<[string, (bytes: Buffer) => Buffer]>(
  ["", (body) => body],
  ["gzip", (body) => zlib.gzipSync(body)],
  ["gzip", (body) => body],
  ["deflate", (body) => zlib.deflateSync(body)],
  ["zstd", (body) => zlib.zstdCompressSync(body)],
  ["zstd", (body) => body],
  ["br", (body) => body],
);
const headerValue = fc.oneof(
  fc.constantFrom(
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=latin1",
    "text/plain",
    "",
  ),
  fc.stringMatching(/^[ -~]{0,40}$/),
);

test("no body, however typed, packed or announced, is answered with a 5xx", async () => {
  await fc.assert(
    fc.asyncProperty(
      bytes,
      packing,
      headerValue,
      headerValue,
      async (body, [encoding, pack], type, length) => {
        const headers: Record<string, string> = { "content-type": type, "content-encoding": encoding };
        if (length !== "") headers["content-length"] = length;
        const response = await send("POST", "/things", {
          as: "owner",
          headers,
          body: new Uint8Array(pack(body)),
        });
        await expectProperAnswer(response);
      },
    ),
    { numRuns: 1500 },
  );
});

test("no header is answered with a 5xx", async () => {
  const names = fc.constantFrom(
    "authorization",
    "cookie",
    "origin",
    "x-request-id",
    "x-forwarded-for",
    "content-type",
  );
  await fc.assert(
    fc.asyncProperty(names, fc.stringMatching(/^[ -~]{0,60}$/), async (name, value) => {
      const headers = { [name]: value };
      await expectProperAnswer(await send("POST", "/things", { headers, json: { name: "a" } }));
    }),
    { numRuns: 500 },
  );
});

function safeJson(value: unknown): string {
  try {
    return (
      JSON.stringify(value, (_name, member: unknown) =>
        typeof member === "bigint" ? String(member) : member,
      ) ?? ""
    );
  } catch {
    return "";
  }
}
