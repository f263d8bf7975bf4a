import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:http";
import type { Assertion, Step } from "../../src/probes/check.ts";
import { deadlineMsOf } from "../../src/probes/check.ts";
import { checking, specOf, verdict } from "./checking.ts";

let server: Server;
let port: number;
const asked: string[] = [];

const DOCUMENT = { token: "t-1", user: { id: 7, tags: ["a", "b"], manager: null }, total: 12.5, ok: true };

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? "-"} ${body}`);
      const url = new URL(request.url ?? "/", "http://x");
      if (url.pathname === "/json")
        response.writeHead(200, { "x-next": "/page/2", "x-count": "20" }).end(JSON.stringify(DOCUMENT));
      else if (url.pathname === "/text") response.end("no json here");
      else if (url.pathname === "/moved") response.writeHead(302, { location: "/json" }).end();
      else if (url.pathname === "/large") response.end(`begin${"x".repeat(300_000)}`);
      else if (url.pathname === "/silent") return;
      else if (url.pathname === "/error") response.writeHead(500).end();
      else response.end("ok");
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  port = address !== null && typeof address === "object" ? address.port : 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const at = (path: string): string => `http://127.0.0.1:${port}${path}`;
const step = (path: string, more: Partial<Step> = {}): Step => ({
  name: "x",
  method: "GET",
  url: at(path),
  ...more,
});
const run = checking();
const checkOf = (steps: readonly Step[], timeoutMs = 30_000) =>
  run(specOf({ type: "multi_step", url: at("/"), steps, timeoutMs }));
const verdictOf = async (steps: readonly Step[]): Promise<string> => verdict(await checkOf(steps));

describe("steps", () => {
  test("hand on what they found: to the address, its host, headers and bodies of those that follow", async () => {
    const before = asked.length;
    const found = await checkOf([
      step("/json", {
        extract: [
          { var: "token", source: "body_json", path: "token" },
          { var: "id", source: "body_json", path: "user.id" },
          { var: "next", source: "header", path: "X-Next" },
        ],
      }),
      step("/host", { extract: [{ var: "unused", source: "header", path: "date" }] }),
      {
        name: "use",
        method: "POST",
        url: `${at("")}{{next}}?id={{ id }}`,
        headers: { authorization: "Bearer {{token}}" },
        body: '{"id":{{id}}}',
      },
    ]);
    expect([verdict(found), found.failedStep, found.statusCode]).toEqual(["up", null, 200]);
    expect(asked.slice(before).at(-1)).toBe('POST /page/2?id=7 Bearer t-1 {"id":7}');
  });

  test("judge a host that a variable names like any other", async () => {
    const extract = [{ var: "host", source: "header", path: "location" } as const];
    expect(
      await verdictOf([step("/moved", { extract }), { ...step("/"), url: "http://169.254.169.254{{host}}" }]),
    ).toBe("down target_blocked");
  });

  test("that fail say which one it was, and none follows", async () => {
    const before = asked.length;
    const found = await checkOf([step("/json"), step("/error"), step("/after")]);
    expect([verdict(found), found.failedStep]).toEqual(["down status_code", 1]);
    expect(asked.slice(before).some((line) => line.includes("/after"))).toBe(false);
  });

  const taking = (source: "body_json" | "header", path: string): Partial<Step> => ({
    extract: [{ var: "a", source, path }],
  });
  test.each([
    ["an unknown variable", "/{{nothing}}", {}],
    ["a path that leads nowhere", "/json", taking("body_json", "user.name")],
    ["null", "/json", taking("body_json", "user.manager")],
    ["a body that is no JSON", "/text", taking("body_json", "a")],
    ["a header that is not there", "/text", taking("header", "x-none")],
  ])("with %s are down for that", async (_what, path, more) => {
    expect(await verdictOf([step(path, more)])).toBe("down extraction");
  });

  test("have each their time, and five minutes in all", async () => {
    const found = await checkOf([step("/json"), step("/silent")], 400);
    expect([verdict(found), found.failedStep]).toEqual(["down timeout", 1]);
    const steps = Array.from({ length: 20 }, () => step("/"));
    expect(deadlineMsOf(specOf({ type: "multi_step", url: "x", steps, timeoutMs: 30_000 }))).toBe(300_000);
    expect(
      deadlineMsOf(specOf({ type: "multi_step", url: "x", steps: steps.slice(0, 2), timeoutMs: 30_000 })),
    ).toBe(60_000);
  });

  test("follow a redirect unless it is what they ask for", async () => {
    const is = (value: number): Assertion[] => [{ source: "status_code", comparison: "eq", value }];
    expect(await verdictOf([step("/moved", { assertions: is(200) })])).toBe("up");
    expect(await verdictOf([step("/moved", { assertions: is(302) })])).toBe("up");
  });

  test("that expect an error by its status are up by it", async () => {
    expect(
      await verdictOf([
        step("/error", { assertions: [{ source: "status_code", comparison: "eq", value: 500 }] }),
      ]),
    ).toBe("up");
  });

  test("of a body that is not read whole know only what they have read", async () => {
    const asks = (comparison: Assertion["comparison"], value: string): Step =>
      step("/large", { assertions: [{ source: "body_text", comparison, value }] });
    expect(await verdictOf([asks("contains", "begin")])).toBe("up");
    expect(await verdictOf([asks("contains", "end")])).toBe("unknown body_too_large");
    expect(await verdictOf([asks("not_contains", "end")])).toBe("unknown body_too_large");
    expect(await verdictOf([asks("not_contains", "begin")])).toBe("down assertion");
  });
});

/** Every source with every comparison, what holds and what does not. */
const HOLDING: readonly (readonly [
  Assertion["source"],
  string | undefined,
  Assertion["comparison"],
  (string | number) | undefined,
  boolean,
])[] = [
  ["status_code", undefined, "eq", 200, true],
  ["status_code", undefined, "eq", "200", true],
  ["status_code", undefined, "ne", 200, false],
  ["status_code", undefined, "contains", "20", true],
  ["status_code", undefined, "not_contains", "20", false],
  ["status_code", undefined, "gt", 199, true],
  ["status_code", undefined, "lt", 200, false],
  ["status_code", undefined, "exists", undefined, true],
  ["status_code", undefined, "not_exists", undefined, false],
  ["response_time_ms", undefined, "gt", 0, true],
  ["response_time_ms", undefined, "lt", 30_000, true],
  ["response_time_ms", undefined, "eq", -1, false],
  ["response_time_ms", undefined, "ne", -1, true],
  ["response_time_ms", undefined, "contains", "x", false],
  ["response_time_ms", undefined, "not_contains", "x", true],
  ["response_time_ms", undefined, "exists", undefined, true],
  ["response_time_ms", undefined, "not_exists", undefined, false],
  ["body_json", "user.id", "eq", 7, true],
  ["body_json", "user.id", "eq", "7", true],
  ["body_json", "user.id", "ne", 8, true],
  ["body_json", "user.tags", "contains", "a", true],
  ["body_json", "user.tags", "contains", "c", false],
  ["body_json", "user.tags.1", "eq", "b", true],
  ["body_json", "token", "not_contains", "t-", false],
  ["body_json", "total", "gt", 12, true],
  ["body_json", "total", "lt", "12.6", true],
  ["body_json", "ok", "eq", "true", true],
  ["body_json", "user.manager", "exists", undefined, true],
  ["body_json", "user.name", "exists", undefined, false],
  ["body_json", "user.name", "not_exists", undefined, true],
  ["body_json", "user.name", "eq", "undefined", false],
  ["body_text", undefined, "contains", '"total":12.5', true],
  ["body_text", undefined, "not_contains", "error", true],
  ["body_text", undefined, "eq", JSON.stringify(DOCUMENT), true],
  ["body_text", undefined, "ne", "", true],
  ["body_text", undefined, "gt", 1, false],
  ["body_text", undefined, "lt", 1, false],
  ["body_text", undefined, "exists", undefined, true],
  ["body_text", undefined, "not_exists", undefined, false],
  ["header", "X-NEXT", "eq", "/page/2", true],
  ["header", "x-next", "ne", "/page/2", false],
  ["header", "x-next", "contains", "page", true],
  ["header", "x-next", "not_contains", "page", false],
  ["header", "x-count", "gt", 10, true],
  ["header", "x-count", "lt", 10, false],
  ["header", "x-none", "exists", undefined, false],
  ["header", "x-none", "not_exists", undefined, true],
  ["header", "no header", "exists", undefined, false],
  ["body_text", undefined, "eq", undefined, false],
  ["body_text", undefined, "ne", undefined, false],
];

test.each(HOLDING)("the assertion %p %p %p %p is %p", async (source, path, comparison, value, isTrue) => {
  const assertion: Assertion = {
    source,
    comparison,
    ...(path === undefined ? {} : { path }),
    ...(value === undefined ? {} : { value }),
  };
  expect(await verdictOf([step("/json", { assertions: [assertion] })])).toBe(
    isTrue ? "up" : "down assertion",
  );
});

test("of a body that is no JSON no assertion on JSON holds, not even that something is missing", async () => {
  const assertions: Assertion[] = [{ source: "body_json", path: "error", comparison: "not_exists" }];
  expect(await verdictOf([step("/text", { assertions })])).toBe("down assertion");
});
