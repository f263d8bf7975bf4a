/** What /mcp refuses, and how: said to whoever speaks HTTP, without any client in between. */
import { beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { makeToken } from "../../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const VERSION = "io.modelcontextprotocol/protocolVersion";

let server: SharedServer;
let token: string;
beforeAll(async () => {
  server = await sharedServer();
  token = await makeToken(server.url);
});
interface Said {
  readonly as?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

function post(body: unknown, { as = token, headers = {}, method = "POST" }: Said = {}): Promise<Response> {
  const hasBody = method === "POST";
  return fetch(`${server.url}/mcp`, {
    method,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(as !== null && { authorization: `Bearer ${as}` }),
      ...headers,
    },
    ...(hasBody && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

async function refused(body: unknown, said?: Said): Promise<{ status: number; code: unknown }> {
  const response = await post(body, said);
  const answer = JSON.parse(await response.text());
  return { status: response.status, code: answer.code ?? answer.error?.code };
}

/** A message as revision 2026-07-28 has it. */
function modern(method: string, version = "2026-07-28"): [unknown, Said] {
  const _meta = {
    [VERSION]: version,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const headers = { "mcp-protocol-version": version, "mcp-method": method };
  return [{ jsonrpc: "2.0", id: 1, method, params: { _meta } }, { headers }];
}

test("a call without a token, with a cookie alone, or with a token that is revoked is refused with what it needs", async () => {
  const response = await post(LIST, { as: null });
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
  const password = crypto.randomUUID();
  const registered = await fetch(`${server.url}/api/v1/auth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: `${crypto.randomUUID()}@example.com`, password }),
  });
  const cookie = registered.headers.get("set-cookie")?.split(";")[0] ?? "";
  for (const origin of [{}, { origin: server.url }])
    expect(await refused(LIST, { as: null, headers: { cookie, ...origin } })).toEqual({
      status: 401,
      code: "UNAUTHENTICATED",
    });
  // Beside a token a cookie counts for nothing.
  expect((await post(LIST, { headers: { cookie: "session=nonsense" } })).status).toBe(200);
  const made = await fetch(`${server.url}/api/v1/me/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "short" }),
  });
  const short: { id: number; token: string } = JSON.parse(await made.text());
  expect((await post(LIST, { as: short.token })).status).toBe(200);
  await fetch(`${server.url}/api/v1/me/tokens/${short.id}`, {
    method: "DELETE",
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await refused(LIST, { as: short.token })).toEqual({ status: 401, code: "UNAUTHENTICATED" });
});

test("a page of another origin is refused, whatever token it has", async () => {
  for (const origin of ["https://evil.example", "null", "http://localhost:1"])
    expect(await refused(LIST, { headers: { origin } })).toEqual({ status: 403, code: "FORBIDDEN" });
});

test("there are no streams and no sessions", async () => {
  for (const method of ["GET", "DELETE"]) {
    const response = await post(null, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
  }
  const initialize = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  };
  const opened = await post({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize });
  expect(opened.headers.get("mcp-session-id")).toBeNull();
  const listening = modern("subscriptions/listen");
  expect((await post(...listening)).headers.get("content-type")).toStartWith("application/json");
});

test("what is no message is refused as the protocol says", async () => {
  expect(await refused("{")).toEqual({ status: 400, code: -32700 });
  expect(await refused("")).toEqual({ status: 400, code: -32700 });
  expect(await refused("[".repeat(100_000))).toEqual({ status: 400, code: -32700 });
  expect(await refused([LIST, LIST])).toEqual({ status: 400, code: -32600 });
  expect((await refused({})).status).toBe(400);
  expect(await refused(`{"x":"${"y".repeat(1024 * 1024)}"}`)).toEqual({
    status: 413,
    code: "PAYLOAD_TOO_LARGE",
  });
  expect((await post(LIST, { headers: { "content-type": "text/plain" } })).status).toBe(415);
  expect((await post(LIST, { headers: { accept: "text/html" } })).status).toBe(406);
});

test("a revision or a method that there is not is refused", async () => {
  expect((await post(LIST, { headers: { "mcp-protocol-version": "1999-01-01" } })).status).toBe(400);
  expect((await refused(...modern("tools/list", "2199-01-01"))).status).toBe(400);
  expect((await post(...modern("tools/list"))).status).toBe(200);
  const [message] = modern("tools/list");
  expect((await post(message, { headers: { "mcp-protocol-version": "2025-11-25" } })).status).toBe(400);
  expect(await refused({ ...LIST, method: "tools/other" })).toMatchObject({ code: -32601 });
  expect((await refused(...modern("tools/other"))).code).toBe(-32601);
});

test("whatever is sent, the server answers and none of it is its fault", async () => {
  const method = fc.constantFrom(
    "tools/list",
    "tools/call",
    "resources/read",
    "prompts/get",
    "initialize",
    "x",
  );
  const message = fc.oneof(
    fc.json(),
    fc.record({ jsonrpc: fc.constant("2.0"), id: fc.jsonValue(), method, params: fc.jsonValue() }),
    fc.record({
      ...{ jsonrpc: fc.constant("2.0"), id: fc.nat(), method: fc.constant("tools/call") },
      params: fc.record({
        name: fc.constantFrom("getLogsSearch", "call_operation", "find_operation", "getIncidentsById"),
        arguments: fc.dictionary(
          fc.oneof(fc.string(), fc.constantFrom("id", "q", "query", "limit", "operation", "arguments")),
          fc.jsonValue(),
        ),
      }),
    }),
  );
  await fc.assert(
    fc.asyncProperty(message, async (body) => {
      const response = await post(body);
      expect(response.status).toBeLessThan(500);
      const text = await response.text();
      expect(text).not.toContain('"code":-32603');
      expect(text).not.toContain("INTERNAL");
    }),
    { numRuns: 150 },
  );
});
