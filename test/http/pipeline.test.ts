import { describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { ApiError, DependencyError } from "../../src/errors.ts";
import { route } from "../../src/http/define-route.ts";
import { MemoryRateLimiter } from "../../src/http/rate-limit/memory-limiter.ts";
import { TEST_ORIGIN, testApp } from "../harness/http-app.ts";

const Id = Type.Object({ id: Type.String({ pattern: "^[1-9][0-9]{0,15}$" }) });
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

const routes = [
  route({
    ...described,
    method: "GET",
    path: "/api/v1/things/:id",
    access: { role: "member", scope: "logs:read" },
    params: Id,
    query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })) }),
    handler: (context, { params, query }) => ({
      status: 200,
      body: { id: params.id, limit: query.limit ?? null, organizationId: context.principal.organizationId },
    }),
  }),
  route({
    ...described,
    method: "POST",
    effect: "read",
    path: "/api/v1/things",
    access: { role: "member", scope: "logs:write" },
    body: {
      kind: "json",
      schema: Type.Object({ name: Type.String({ maxLength: 5 }) }, { additionalProperties: false }),
      maxBytes: 1000,
    },
    handler: (_context, { body }) => ({ status: 201, body: { name: body.name } }),
  }),
  route({
    ...described,
    method: "DELETE",
    effect: "read",
    path: "/api/v1/things/:id",
    access: "authenticated",
    params: Id,
    handler: () => ({ status: 204 }),
  }),
  route({
    ...described,
    method: "GET",
    path: "/open",
    access: "public",
    handler: (context) => ({ status: 200, body: { from: context.clientAddress } }),
  }),
  route({
    ...described,
    method: "POST",
    effect: "read",
    path: "/open",
    access: "public",
    handler: () => ({ status: 200, body: {} }),
  }),
  route({
    ...described,
    method: "GET",
    path: "/stream",
    access: "public",
    handler: () =>
      new Response("streamed", { headers: { "cache-control": "public", "content-type": "text/plain" } }),
  }),
  route({
    ...described,
    method: "GET",
    path: "/bug",
    access: "public",
    handler: () => {
      throw new Error("password of the database is hunter2");
    },
  }),
  route({
    ...described,
    method: "GET",
    path: "/cycle",
    access: "public",
    handler: () => {
      const body: Record<string, unknown> = {};
      body.self = body;
      return { status: 200, body };
    },
  }),
  route({
    ...described,
    method: "GET",
    path: "/outage",
    access: "public",
    handler: () => {
      throw new DependencyError("clickhouse", "connect ECONNREFUSED 10.1.2.3:8123", { retryable: true });
    },
  }),
  route({
    ...described,
    method: "GET",
    path: "/full",
    access: "public",
    handler: () => {
      throw new ApiError("UNAVAILABLE", "The log is full.", { retryAfterSeconds: 17 });
    },
  }),
];

const { send } = testApp(routes);

async function codeOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json();
  return typeof body === "object" && body !== null && "code" in body ? body.code : undefined;
}

describe("access", () => {
  test("a route without a public access needs a credential", async () => {
    const response = await send("GET", "/api/v1/things/1");
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(await codeOf(response)).toBe("UNAUTHENTICATED");
  });

  test("a bad credential is refused, and does not keep anyone from public routes", async () => {
    expect((await send("GET", "/api/v1/things/1", { as: "forged" })).status).toBe(401);
    expect((await send("GET", "/open", { as: "forged" })).status).toBe(200);
  });

  test.each([
    ["owner", 200, undefined],
    ["member/logs:read", 200, undefined],
    ["member/logs:*", 200, undefined],
    ["member/logs:write", 403, "PAT_SCOPE_INSUFFICIENT"],
    ["member/monitors:*", 403, "PAT_SCOPE_INSUFFICIENT"],
    ["viewer", 403, "FORBIDDEN"],
    ["viewer/logs:write", 403, "PAT_SCOPE_INSUFFICIENT"],
  ])("%s gets %d %s from a route for members with logs:read", async (as, status, code) => {
    const response = await send("GET", "/api/v1/things/1", { as });
    expect(response.status).toBe(status);
    expect(await codeOf(response)).toBe(code);
  });

  test("role and scope are judged before the id and the body are looked at", async () => {
    expect((await send("GET", "/api/v1/things/nonsense", { as: "viewer" })).status).toBe(403);
    expect((await send("POST", "/api/v1/things", { as: "viewer", body: "not json" })).status).toBe(403);
  });
});

describe("calls that ride on the session cookie", () => {
  const json = { name: "a" };
  test.each([
    ["the origin of the server", { origin: TEST_ORIGIN }, 201],
    ["no origin", {}, 403],
    ["a foreign origin", { origin: "http://evil.example" }, 403],
    ["another port of the same host", { origin: "http://localhost:8081" }, 403],
    ["an opaque origin", { origin: "null" }, 403],
  ])("that change state pass with %s as %j: %d", async (_name, headers, status) => {
    expect((await send("POST", "/api/v1/things", { as: "session", headers, json })).status).toBe(status);
  });

  test("that only read need none", async () => {
    expect((await send("GET", "/api/v1/things/1", { as: "session" })).status).toBe(200);
  });

  test("need one on public routes too, and tokens never do", async () => {
    expect((await send("POST", "/open", { as: "session" })).status).toBe(403);
    expect((await send("POST", "/open", {})).status).toBe(200);
    expect((await send("POST", "/api/v1/things", { as: "owner", json })).status).toBe(201);
  });

  test("accept only the public origin once that is https", async () => {
    const secure = testApp(routes, { publicUrl: "https://obs.example.com" });
    const post = (origin: string) =>
      secure.send("POST", "/api/v1/things", { as: "session", headers: { origin }, json });
    expect((await post("https://obs.example.com")).status).toBe(201);
    expect((await post(TEST_ORIGIN)).status).toBe(403);
  });
});

describe("paths", () => {
  test.each([
    "/api/v1/things/5",
    "/api/v1/things/5/",
    "/api/v1/things/5?limit=3",
    "/api/v1/things/5/?",
    "/api/v1/things/%35",
  ])("%s finds the thing", async (path) => {
    const response = await send("GET", path, { as: "owner" });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: "5" });
  });

  test.each([
    "/api/v1/things/abc",
    "/api/v1/things/0",
    "/api/v1/things/-1",
    "/api/v1/things/1e3",
    "/api/v1/things/%",
    "/api/v1/things/%zz",
    "/api/v1/things/%ff",
    "/api/v1/things/5%2F6",
    "/api/v1/things/99999999999999999999",
    "/api/v1/things/5//",
    "/api/v1/things//5",
    "/api/v2/things/5",
    "/",
    "/%",
  ])("%s is not found", async (path) => {
    const response = await send("GET", path, { as: "owner" });
    expect(response.status).toBe(404);
    expect(await codeOf(response)).toBe("NOT_FOUND");
  });

  test("another method than those of the path is refused with those it has", async () => {
    const response = await send("PATCH", "/api/v1/things/5", { as: "owner" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("DELETE, GET, HEAD");
    expect(await codeOf(response)).toBe("METHOD_NOT_ALLOWED");
    expect((await send("OPTIONS", "/open")).headers.get("allow")).toBe("GET, HEAD, POST");
  });

  test("HEAD answers like GET without the body", async () => {
    const get = await send("GET", "/api/v1/things/5", { as: "owner" });
    const head = await send("HEAD", "/api/v1/things/5", { as: "owner" });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe("");
    expect(head.headers.get("content-length")).toBe(String((await get.text()).length));
    expect((await send("HEAD", "/api/v1/things/5")).status).toBe(401);
    expect((await send("HEAD", "/stream")).status).toBe(200);
  });
});

describe("every response", () => {
  const requests: [string, string, string, number][] = [
    ["a read", "GET", "/api/v1/things/1", 200],
    ["an empty answer", "DELETE", "/api/v1/things/1", 204],
    ["a response of the handler", "GET", "/stream", 200],
    ["no route", "GET", "/nowhere", 404],
    ["no such method", "PUT", "/open", 405],
    ["a bug", "GET", "/bug", 500],
    ["an outage", "GET", "/outage", 503],
    ["a bad query", "GET", "/api/v1/things/1?limit=0", 400],
    ["a bad type", "POST", "/api/v1/things", 400],
    ["a HEAD", "HEAD", "/open", 200],
  ];
  test.each(requests)(
    "names its request and the rate limit, and forbids sniffing: %s",
    async (_name, method, path, status) => {
      const response = await send(method, path, { as: "owner" });
      expect(response.status).toBe(status);
      expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
      expect(response.headers.get("x-ratelimit-limit")).toBe("100000");
      expect(response.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
      expect(Number(response.headers.get("x-ratelimit-reset"))).toBeGreaterThan(Date.now() / 1000 - 5);
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("referrer-policy")).toBe("no-referrer");
      expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    },
  );

  test("keeps what a handler says about caching", async () => {
    expect((await send("GET", "/stream")).headers.get("cache-control")).toBe("public");
    expect((await send("GET", "/open")).headers.get("cache-control")).toBe("no-store");
  });

  test("closes its connection while the server drains, and only then", async () => {
    let isDraining = false;
    const draining = testApp(routes, { isDraining: () => isDraining });
    for (const now of [false, true]) {
      isDraining = now;
      for (const [_name, method, path, status] of requests) {
        const response = await draining.send(method, path, { as: "owner" });
        expect(response.status).toBe(status);
        expect(response.headers.get("connection")).toBe(now ? "close" : null);
      }
    }
  });

  test("takes over a sane request id and replaces any other", async () => {
    const idFor = async (given: string) =>
      (await send("GET", "/open", { headers: { "x-request-id": given } })).headers.get("x-request-id");
    expect(await idFor("abc-123.DEF_4")).toBe("abc-123.DEF_4");
    for (const given of ["a b", '"},{"', "x".repeat(65), "é"]) expect(await idFor(given)).not.toBe(given);
  });

  test("insists on https only where the server is reached by it", async () => {
    const secure = testApp(routes, { publicUrl: "https://obs.example.com" });
    expect((await secure.send("GET", "/open")).headers.has("strict-transport-security")).toBe(true);
    expect((await send("GET", "/open")).headers.has("strict-transport-security")).toBe(false);
  });
});

describe("failures", () => {
  test("of our own say nothing but the request id, and are logged with their cause", async () => {
    const { send: sendTo, logged } = testApp(routes);
    for (const path of ["/bug", "/cycle"]) {
      const response = await sendTo("GET", path);
      const requestId = response.headers.get("x-request-id") ?? "";
      expect(response.status).toBe(500);
      expect(await response.json()).toEqual({
        error: "An internal error occurred.",
        code: "INTERNAL",
        requestId,
      });
      expect(logged().find((line) => line.level === 50 && line.requestId === requestId)).toBeDefined();
    }
    expect(JSON.stringify(logged())).toContain("hunter2");
  });

  test("of a dependency are 503 with a time to come back, and name no address", async () => {
    const response = await send("GET", "/outage");
    expect(response.status).toBe(503);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await response.text()).not.toContain("10.1.2.3");
    expect((await send("GET", "/full")).headers.get("retry-after")).toBe("17");
  });

  test("of the authenticator's store are 503, not 401", async () => {
    const { send: sendTo } = testApp(routes, {
      authenticator: {
        authenticate: async () => {
          throw new DependencyError("postgres", "down", { retryable: true });
        },
      },
    });
    expect((await sendTo("GET", "/api/v1/things/1", { as: "owner" })).status).toBe(503);
  });
});

describe("rate limits", () => {
  const limited = () =>
    testApp(routes, {
      rateLimiter: new MemoryRateLimiter(),
      rateLimits: { perMinute: 3, ingestPerMinute: 5, anonymousPerMinute: 2 },
    });

  test("are per credential, judged before role and scope, and say when to come back", async () => {
    const { send: sendTo, metrics } = limited();
    for (let i = 0; i < 3; i++)
      expect((await sendTo("GET", "/api/v1/things/1", { as: "viewer" })).status).toBe(403);
    const refused = await sendTo("GET", "/api/v1/things/1", { as: "viewer" });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await codeOf(refused)).toBe("RATE_LIMITED");
    expect((await sendTo("GET", "/api/v1/things/1", { as: "owner" })).status).toBe(200);
    expect((await metrics.expose()).text).toContain('obs_rate_limit_rejections_total{class="default"} 1');
  });

  test("are per address for callers without a credential, wherever they knock", async () => {
    const { send: sendTo } = limited();
    const statuses: number[] = [];
    for (const path of ["/nowhere", "/api/v1/things/1", "/open"])
      statuses.push((await sendTo("GET", path)).status);
    expect(statuses).toEqual([404, 401, 429]);
    expect((await sendTo("GET", "/open", { peerAddress: "192.0.2.2" })).status).toBe(200);
  });

  test("are those of a valid credential on paths and methods that do not exist, too", async () => {
    const { send: sendTo, logged } = limited();
    for (const path of ["/nowhere", "/open"]) {
      const response = await sendTo("PUT", path, { as: "owner" });
      expect(response.status).toBe(path === "/open" ? 405 : 404);
      expect(response.headers.get("x-ratelimit-limit")).toBe("3");
    }
    expect(logged().at(-1)).toMatchObject({ route: "unmatched", userId: 1, tokenId: 3 });
    expect((await sendTo("GET", "/nowhere", { as: "owner" })).headers.get("x-ratelimit-remaining")).toBe("0");
    expect((await sendTo("GET", "/nowhere", { as: "owner" })).status).toBe(429);
    // The address they share has paid for none of it.
    expect((await sendTo("GET", "/nowhere")).headers.get("x-ratelimit-remaining")).toBe("1");
  });

  test("are the address's for a credential that is not valid, and what does not exist stays that", async () => {
    const { send: sendTo } = limited();
    expect((await sendTo("GET", "/nowhere", { as: "forged" })).status).toBe(404);
    const response = await sendTo("PUT", "/open", { as: "forged" });
    expect(response.status).toBe(405);
    expect(response.headers.get("x-ratelimit-remaining")).toBe("0");
    expect((await sendTo("GET", "/nowhere")).status).toBe(429);
  });

  test("count guessed credentials against the address", async () => {
    const { send: sendTo } = limited();
    const statuses: number[] = [];
    for (const as of ["a", "b", "c"]) statuses.push((await sendTo("GET", "/api/v1/things/1", { as })).status);
    expect(statuses).toEqual([401, 401, 429]);
  });
});

describe("the line about a request", () => {
  test("carries route, status, caller and id, but no path, query or body", async () => {
    const { send: sendTo, logged } = testApp(routes);
    await sendTo("GET", "/api/v1/things/424242?limit=7", { as: "owner" });
    await sendTo("GET", "/nowhere/secret-in-the-path?token=secret-in-the-query");
    const [found, missed] = logged();
    expect(found).toMatchObject({
      method: "GET",
      route: "/api/v1/things/:id",
      status: 200,
      userId: 1,
      organizationId: 7,
      tokenId: 3,
      clientAddress: "192.0.2.1",
    });
    expect(missed).toMatchObject({ route: "unmatched", status: 404, code: "NOT_FOUND" });
    expect(JSON.stringify(logged())).not.toMatch(/424242|limit=|secret-in/);
  });
});
