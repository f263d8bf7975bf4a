/** The typed client against a started server; a small peer stands in where a server misbehaves. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ApiClient } from "../../../clients/api/client.ts";
import { ApiError, CallError, UnreachableError } from "../../../clients/api/errors.ts";
import { readPages } from "../../../clients/api/page.ts";
import { EventStreamParser } from "../../../clients/api/stream.ts";
import { eventually } from "../../harness/eventually.ts";
import { serverPort } from "../../harness/server-port.ts";
import { makeToken } from "../../harness/server-process.ts";
import { type SharedServer, sharedServer } from "../../harness/suite-server.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";

const CLIENT = join(import.meta.dir, "../../../clients/api");
const MESSAGES = Array.from({ length: 7 }, (_, index) => `line ${index} \u65e5\u672c`);

let directory: TemporaryDirectory;
let server: SharedServer;
let token: string;
let api: ApiClient;

beforeAll(async () => {
  directory = temporaryDirectory();
  server = await sharedServer();
  token = await makeToken(server.url);
  api = new ApiClient({ baseUrl: server.url, token });
  const entries = MESSAGES.map((message, index) => ({ message, level: index < 2 ? "error" : "info" }));
  const stored = await api.call("POST /api/v1/logs/ingest", {
    body: JSON.stringify(entries),
    headers: { "content-type": "application/json" },
  });
  expect(stored).toEqual({ accepted: MESSAGES.length, duplicates: 0 });
  await eventually(
    "entries can be searched",
    async () => (await api.call("GET /api/v1/logs/search")).total === MESSAGES.length,
  );
});

afterAll(() => directory[Symbol.dispose]());

/** What the promise rejects with, of the class that is wanted. */
async function failureOf<E extends Error>(
  kind: new (...args: never[]) => E,
  call: Promise<unknown>,
): Promise<E> {
  const error: unknown = await call.then(
    () => null,
    (reason) => reason,
  );
  if (error instanceof kind) return error;
  throw new Error(`not a ${kind.name}`, { cause: error });
}

/** A server that answers every request in one way, and what it was asked. */
function peerAnswering(answer: () => Response | Promise<Response>) {
  const asked: string[] = [];
  const peer = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ method, url, headers }) => {
      asked.push(`${method} ${url.slice(peer.url.origin.length)} ${headers.get("authorization")}`);
      return answer();
    },
  });
  return { url: peer.url.origin, asked, [Symbol.asyncDispose]: () => peer.stop(true) };
}

describe("a call", () => {
  test("makes, lists, changes and removes a record", async () => {
    const made = await api.call("POST /api/v1/saved-searches", {
      body: { name: "a", query: "" },
      expect: 201,
    });
    const { status, headers, body } = await api.send("PATCH /api/v1/saved-searches/:id", {
      params: { id: made.id },
      body: { name: "b" },
    });
    expect({ status, body }).toMatchObject({ status: 200, body: { id: made.id, name: "b" } });
    expect(headers.get("content-type")).toStartWith("application/json");
    expect(await api.call("GET /api/v1/saved-searches")).toEqual([body]);
    expect(await api.call("DELETE /api/v1/saved-searches/:id", { params: { id: made.id } })).toBeUndefined();
    expect(await api.call("GET /api/v1/saved-searches")).toEqual([]);
  });

  test("gives parameters and lists to the server as they are, and leaves out what is undefined", async () => {
    await using peer = peerAnswering(() => Response.json({}));
    const other = new ApiClient({ baseUrl: peer.url });
    await other.call("GET /api/v1/ingest/sources/:key", { params: { key: "a/b ?\u00e9" } });
    await other.call("GET /api/v1/logs/search", { query: { q: "a&b=\u65e5 +", limit: 5 } });
    expect(peer.asked).toEqual([
      "GET /api/v1/ingest/sources/a%2Fb%20%3F%C3%A9 null",
      "GET /api/v1/logs/search?q=a%26b%3D%E6%97%A5+%2B&limit=5 null",
    ]);
  });

  test("ends when its caller ends it", async () => {
    const signal = AbortSignal.abort();
    await failureOf(UnreachableError, api.call("GET /api/v1/me", { signal }));
  });
});

test("pages follow each other until the last, each as large as is asked for then", async () => {
  const sizes: number[] = [];
  const found: string[] = [];
  const pages = readPages(api, "GET /api/v1/logs/search", (cursor) => ({
    query: { limit: Math.min(3, MESSAGES.length - found.length + 1), ...cursor },
  }));
  for await (const { entries } of pages) {
    sizes.push(entries.length);
    found.push(...entries.map(({ message }) => message));
  }
  expect(sizes).toEqual([3, 3, 1]);
  expect(found.toSorted()).toEqual(MESSAGES);
});

describe("an answer that is opened", () => {
  test("is read as it comes", async () => {
    const answer = await api.open("GET /api/v1/logs/export", { query: { q: "line", format: "ndjson" } });
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of answer.chunks()) text += decoder.decode(chunk, { stream: true });
    const lines = text.trimEnd().split("\n");
    expect(lines.map((line): string => JSON.parse(line).message).toSorted()).toEqual(MESSAGES);
  });

  test("tells its events", async () => {
    const answer = await api.open("POST /api/v1/logs/query", {
      body: { query: "logs | count" },
      headers: { accept: "text/event-stream" },
    });
    const data: string[] = [];
    for await (const events of answer.events(new EventStreamParser()))
      data.push(...events.flatMap((event) => (event.type === "result" ? event.data : [])));
    expect(data.map((text): unknown => JSON.parse(text))).toMatchObject([{ rows: [[MESSAGES.length]] }]);
  });

  test("is given up when it is silent for too long", async () => {
    await using peer = peerAnswering(
      () => new Response(new ReadableStream({ start: (c) => c.enqueue("a") })),
    );
    const answer = await new ApiClient({ baseUrl: peer.url }).open("GET /api/v1/logs/tail", {
      silenceMs: 30,
    });
    const error = await failureOf(UnreachableError, answer.read());
    expect([error.message, error.retryable]).toEqual([`${peer.url} has been silent for 0.03 s`, true]);
  });
});

describe("a refusal", () => {
  test("has the status, the code and each field with its place", async () => {
    const error = await failureOf(
      ApiError,
      api.call("POST /api/v1/logs/query", { body: { query: "logs | wher level == 1" } }),
    );
    expect(error).toMatchObject({ status: 400, code: "KQL_INVALID", retryable: false, waitMs: 0 });
    expect(error.fields[0]).toMatchObject({
      path: "/query",
      place: { line: 1, column: 8, text: "wher", suggestion: "where" },
    });
    expect(error.message).toEndWith("(KQL_INVALID, 400)");
  });

  test("is the same of an answer that would have been opened", async () => {
    const stranger = new ApiClient({ baseUrl: server.url, token: `obs_${"A".repeat(43)}` });
    for (const call of [stranger.call("GET /api/v1/me"), stranger.open("GET /api/v1/logs/export")])
      expect(await failureOf(ApiError, call)).toMatchObject({ status: 401, code: "UNAUTHENTICATED" });
  });

  test("says how long the server wants to be left alone", async () => {
    const envelope = { error: "Not now.", code: "UNAVAILABLE" };
    await using peer = peerAnswering(() =>
      Response.json(envelope, { status: 503, headers: { "retry-after": "7" } }),
    );
    const call = new ApiClient({ baseUrl: peer.url }).call("GET /api/v1/me");
    expect(await failureOf(ApiError, call)).toMatchObject({
      message: "Not now. (UNAVAILABLE, 503)",
      retryable: true,
      waitMs: 7000,
    });
  });

  test("is also a success of another kind than the caller expects", async () => {
    await using peer = peerAnswering(() => Response.json({ accepted: 1, duplicates: 0 }));
    const other = new ApiClient({ baseUrl: peer.url });
    const call = other.call("POST /api/v1/logs/ingest", { body: "[]", expect: 202 });
    expect(await failureOf(ApiError, call)).toMatchObject({ status: 200, code: undefined });
  });

  test("is also a redirect, behind which the token does not go", async () => {
    await using target = peerAnswering(() => Response.json({}));
    await using peer = peerAnswering(() => Response.redirect(target.url));
    const call = new ApiClient({ baseUrl: peer.url, token: "secret" }).call("GET /api/v1/me");
    expect((await failureOf(ApiError, call)).message).toContain(`it points to ${target.url}`);
    expect([peer.asked, target.asked]).toEqual([["GET /api/v1/me Bearer secret"], []]);
  });
});

test("another program's answer is a failure, not a value", async () => {
  for (const text of ["hello", "", "null", "1"]) {
    await using peer = peerAnswering(() => new Response(text));
    const call = new ApiClient({ baseUrl: peer.url }).call("GET /api/v1/me");
    expect((await failureOf(CallError, call)).message).toEndWith("is it an obs server?");
  }
});

describe("no answer", () => {
  test("may be tried again when nobody listens, or when it took too long", async () => {
    const url = `http://127.0.0.1:${await serverPort()}`;
    const absent = await failureOf(UnreachableError, new ApiClient({ baseUrl: url }).call("GET /api/v1/me"));
    expect([absent.message, absent.retryable]).toEqual([`cannot reach ${url}: connection refused`, true]);
    await using peer = peerAnswering(() => new Promise(() => undefined));
    const slow = new ApiClient({ baseUrl: peer.url, timeoutMs: 30 });
    for (const call of [slow.call("GET /api/v1/me"), slow.open("GET /api/v1/logs/tail")]) {
      const { message, retryable } = await failureOf(UnreachableError, call);
      expect([message, retryable]).toEqual([`no answer from ${peer.url} within 0.03 s`, true]);
    }
  });
});

test("a bundle for browsers has nothing of the server in it", async () => {
  const entrypoints = ["client.ts", "page.ts", "stream.ts", "backoff.ts"].map((name) => join(CLIENT, name));
  const { outputs } = await Bun.build({ entrypoints, target: "browser", sourcemap: "external" });
  const maps = outputs.filter(({ kind }) => kind === "sourcemap");
  const bundled = (await Promise.all(maps.map((map) => map.json()))).flatMap(
    ({ sources }): string[] => sources,
  );
  expect(bundled.filter((path) => !/clients\/api\/|eventsource-parser/.test(path))).toEqual([]);
  expect(bundled.length).toBeGreaterThan(entrypoints.length);
});
