import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { CheckSpec } from "../../src/probes/check.ts";
import { eventually } from "../harness/eventually.ts";
import { checking, listen, specOf, verdict } from "./checking.ts";

let server: Server;
let port: number;
const sockets = new Set<Socket>();
const asked: string[] = [];
const body = "Welcome to the shop.";

/** Answers by the path of the request. */
function answer(path: string, response: ServerResponse): void {
  const url = new URL(path, "http://x");
  const to = url.searchParams.get("to");
  const status = Number(url.searchParams.get("status") ?? 200);
  if (to !== null) response.writeHead(status, { location: to }).end();
  else if (url.pathname === "/endless") void pour(response);
  else if (url.pathname === "/dripping") drip(response);
  else if (url.pathname === "/silent") return;
  else if (url.pathname === "/reset") response.socket?.resetAndDestroy();
  else if (url.pathname === "/cut") {
    response.writeHead(200, { "content-length": "100" });
    response.write("x", () => response.destroy());
  } else if (url.pathname === "/gzip")
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(body));
  else if (url.pathname === "/br")
    response.writeHead(200, { "content-encoding": "br" }).end(brotliCompressSync(body));
  else if (url.pathname === "/not-gzip") response.writeHead(200, { "content-encoding": "gzip" }).end(body);
  else if (url.pathname === "/bomb")
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(100_000_000)));
  else if (url.pathname === "/latin")
    response
      .writeHead(200, { "content-type": "text/html; charset=ISO-8859-1" })
      .end(Buffer.from("caf\xe9", "latin1"));
  else if (url.pathname === "/large") response.end(`${"x".repeat(300_000)}end`);
  else response.writeHead(status).end(body);
}

async function pour(response: ServerResponse): Promise<void> {
  while (!response.destroyed) if (!response.write("x".repeat(65_536))) await drained(response);
}

async function drained(response: ServerResponse): Promise<void> {
  const end = new AbortController();
  const events = ["drain", "close"].map((event) =>
    once(response, event, { signal: end.signal }).catch(() => []),
  );
  await Promise.race(events);
  end.abort();
}

function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write("x"), 5);
  response.on("close", () => clearInterval(timer));
}

beforeAll(async () => {
  server = createServer((request, response) => {
    const { host, authorization = "-", "x-key": key = "-" } = request.headers;
    asked.push(`${request.method} ${request.url} ${host} ${authorization} ${key}`);
    answer(request.url ?? "/", response);
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
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
const run = checking();
const webCheck = (path: string, given: Partial<CheckSpec> = {}) =>
  run(specOf({ type: "http", url: at(path), ...given }));
const verdictOf = async (path: string, given: Partial<CheckSpec> = {}): Promise<string> =>
  verdict(await webCheck(path, given));

describe("a check of HTTP", () => {
  test("is up when the server answers, and tells the status and how long each part took", async () => {
    const outcome = await webCheck("/");
    expect(outcome).toMatchObject({
      status: "up",
      error: null,
      statusCode: 200,
      certificateNotAfter: null,
      failedStep: null,
    });
    expect(outcome.phases.connectMs).toBeGreaterThan(0);
    expect(outcome.phases.firstByteMs).toBeGreaterThan(0);
    expect(outcome.phases.tlsMs).toBe(0);
    const { dnsMs, connectMs, firstByteMs } = outcome.phases;
    expect(outcome.durationMs).toBeGreaterThanOrEqual(dnsMs + connectMs + firstByteMs);
  });

  test.each([
    [200, null, "up"],
    [204, null, "up"],
    [399, null, "up"],
    [400, null, "down status_code"],
    [503, null, "down status_code"],
    [503, 503, "up"],
    [200, 201, "down status_code"],
  ])("that gets %p where %p is expected is %p", async (status, expectedStatusCode, found) => {
    expect(await verdictOf(`/?status=${status}`, { expectedStatusCode })).toBe(found);
  });

  test("sends the method, the headers and the body that were set, also another host", async () => {
    await webCheck("/sent", {
      method: "PUT",
      body: "x",
      headers: { Authorization: "Bearer a", Host: "shop.example" },
    });
    expect(asked.at(-1)).toBe("PUT /sent shop.example Bearer a -");
  });

  test("with a header that would begin another one is not sent", async () => {
    const before = asked.length;
    expect(await verdictOf("/", { headers: { "x-key": "a\r\nx-other: b" } })).toBe("down target_invalid");
    expect(asked).toHaveLength(before);
  });

  test("is degraded when it took longer than it may, and only then", async () => {
    expect(await verdictOf("/", { degradedResponseTimeMs: 0.001 })).toBe("degraded slow");
    expect(await verdictOf("/", { degradedResponseTimeMs: 60_000 })).toBe("up");
    expect(await verdictOf("/?status=500", { degradedResponseTimeMs: 0.001 })).toBe("down status_code");
  });

  test.each(["/silent", "/dripping"])("of %s is down when its time is over", async (path) => {
    expect(await verdictOf(path, { timeoutMs: 300 })).toBe("down timeout");
  });

  test("is down when the server resets, breaks off, refuses, or does not speak HTTP", async () => {
    expect(await verdictOf("/reset")).toBe("down connection_reset");
    expect(await verdictOf("/cut")).toBe("down connection_reset");
    expect(verdict(await run(specOf({ type: "http", url: "http://127.0.0.1:1/" })))).toBe(
      "down connection_refused",
    );
    const other = await listen((socket) => socket.end("220 mail.example ESMTP\r\n"));
    expect(verdict(await run(specOf({ type: "http", url: `http://127.0.0.1:${other.port}/` })))).toBe(
      "down bad_response",
    );
    await other.close();
  });

  test.each([
    ["a status beyond the last", "HTTP/1.1 999 far out\r\ncontent-length: 0\r\n\r\n"],
    ["a status before the first", "HTTP/1.1 099 too early\r\ncontent-length: 0\r\n\r\n"],
    ["another protocol", "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"],
    ["a header with a null", "HTTP/1.1 200 OK\r\nx: \u0000\r\n\r\n"],
    ["endless headers", `HTTP/1.1 200 OK\r\nx: ${"x".repeat(200_000)}\r\n\r\n`],
    ["a chunk without a length", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n"],
  ])("is down when the answer is none but %s", async (_what, text) => {
    const other = await listen((socket) => socket.once("data", () => socket.end(text)));
    const outcome = await run(specOf({ type: "http", url: `http://127.0.0.1:${other.port}/` }));
    expect(["down bad_response", "down connection_reset"]).toContain(verdict(outcome));
    await other.close();
  });

  test("of a body without an end reads no more than it must, and is up", async () => {
    expect(await verdictOf("/endless")).toBe("up");
  });

  test("leaves no connection open, whatever came of it", async () => {
    const paths = [
      "/",
      "/endless",
      "/dripping",
      "/silent",
      "/cut",
      "/large",
      `/?status=302&to=${encodeURIComponent("/")}`,
    ];
    await Promise.all(paths.map((path) => webCheck(path, { timeoutMs: 500 })));
    await eventually("every connection is closed", () => sockets.size === 0);
  });

  test("needs no scheme, and takes no other and no password in the address", async () => {
    expect(verdict(await run(specOf({ type: "http", url: `127.0.0.1:${port}/` })))).toBe("up");
    for (const url of ["ftp://127.0.0.1/", "http://u:p@127.0.0.1/", "file:///etc/passwd", "http://"])
      expect(verdict(await run(specOf({ type: "http", url })))).toBe("down target_invalid");
  });
});

describe("a redirect", () => {
  const leading = (to: string, status = 302): string => `/?status=${status}&to=${encodeURIComponent(to)}`;

  test("is followed, five times at most", async () => {
    let path = "/here";
    for (let hops = 1; hops <= 5; hops += 1) path = leading(path);
    expect(await verdictOf(path)).toBe("up");
    expect(await verdictOf(leading(path))).toBe("down too_many_redirects");
  });

  test("is the answer where it is expected, or is not to be followed", async () => {
    const before = asked.length;
    expect(await verdictOf(leading("/there"), { expectedStatusCode: 302 })).toBe("up");
    expect(await verdictOf(leading("/there"), { followRedirects: false })).toBe("up");
    expect(asked.slice(before).some((line) => line.includes("GET /there"))).toBe(false);
  });

  test.each(["http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://127.0.0.2/"])(
    "to %p is not followed",
    async (to) => {
      expect(await verdictOf(leading(to))).toBe("down target_blocked");
    },
  );

  test("to another origin carries none of the headers of the monitor, also not back home", async () => {
    const resolve = async () => ["127.0.0.1"];
    const check = checking({ allow: ["127.0.0.1", "other.example"], resolve });
    const back = at("/back");
    const there = `http://other.example:${port}${leading(back)}`;
    const before = asked.length;
    const headers = { Authorization: "Bearer a", "X-Key": "secret" };
    await check(specOf({ type: "http", url: at(leading(there)), headers }));
    const seen = asked.slice(before).map((line) => line.split(" ").slice(2).join(" "));
    expect(seen).toEqual([
      `127.0.0.1:${port} Bearer a secret`,
      `other.example:${port} - -`,
      `127.0.0.1:${port} - -`,
    ]);
  });
});

describe("a keyword", () => {
  const found = (path: string, keyword: string, more: Partial<CheckSpec> = {}) =>
    verdictOf(path, { type: "keyword", keyword, ...more });

  test("must be in the body, to the letter, or must not be", async () => {
    expect(await found("/", "Welcome")).toBe("up");
    expect(await found("/", "welcome")).toBe("down keyword");
    expect(await found("/", "Welcome", { keywordMatchType: "not_contains" })).toBe("down keyword");
    expect(await found("/", "Fatal error", { keywordMatchType: "not_contains" })).toBe("up");
  });

  test("does not make up for the status", async () => {
    expect(await found("/?status=500", "Welcome")).toBe("down status_code");
  });

  test.each(["/gzip", "/br"])("is looked for in what %s has packed", async (path) => {
    expect(await found(path, "Welcome")).toBe("up");
    expect(await found(path, "Goodbye")).toBe("down keyword");
  });

  test("is looked for in the character set of the answer", async () => {
    expect(await found("/latin", "café")).toBe("up");
  });

  test("in a bomb, or beyond what is read, is not known", async () => {
    expect(await found("/bomb", "Welcome")).toBe("unknown body_too_large");
    expect(await found("/endless", "Welcome")).toBe("unknown body_too_large");
    expect(await found("/large", "end", { keywordMatchType: "not_contains" })).toBe("unknown body_too_large");
    expect(await found("/large", "xxx")).toBe("up");
  });

  test("in what was packed wrongly is not there", async () => {
    expect(await found("/not-gzip", "Welcome")).toBe("down bad_response");
  });
});

describe("a target that points inward", () => {
  test.each([
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "[::ffff:127.0.0.1]",
    "169.254.169.254",
    "[::1]",
    "localhost",
  ])("is not asked when %p spells it, with private networks open", async (host) => {
    const check = checking({ allow: [], allowPrivate: true });
    const before = asked.length;
    for (const type of ["http", "tcp", "ssl", "smtp", "ping"] as const)
      expect(
        verdict(await check(specOf({ type, url: type === "http" ? `http://${host}:${port}/` : host, port }))),
      ).toBe("down target_blocked");
    expect(asked).toHaveLength(before);
  });

  test("is judged each time it is resolved: a name that led elsewhere before is not followed inward", async () => {
    const answers = [["127.0.0.1"], ["127.0.0.2"]];
    const check = checking({ allow: ["127.0.0.1"], resolve: async () => answers.shift() ?? [] });
    const spec = specOf({ type: "http", url: `http://rebinding.example:${port}/` });
    expect(verdict(await check(spec))).toBe("up");
    expect(verdict(await check(spec))).toBe("down target_blocked");
    expect(verdict(await check(spec))).toBe("down name_not_resolved");
  });

  test("that does not resolve in time is down by our deadline", async () => {
    const check = checking({ resolve: () => new Promise(() => undefined) });
    expect(verdict(await check(specOf({ type: "http", url: "http://slow.example/", timeoutMs: 100 })))).toBe(
      "down timeout",
    );
  });
});

describe("a port", () => {
  test.each(["tcp", "port"] as const)(
    "of type %p is up when somebody takes connections there",
    async (type) => {
      expect(verdict(await run(specOf({ type, url: "127.0.0.1", port })))).toBe("up");
      expect(verdict(await run(specOf({ type, url: `tcp://127.0.0.1:${port}` })))).toBe("up");
      expect(verdict(await run(specOf({ type, url: "127.0.0.1", port: 1 })))).toBe("down connection_refused");
      expect(verdict(await run(specOf({ type, url: "127.0.0.1" })))).toBe("down target_invalid");
    },
  );

  test("of a name with several addresses is up when one of them answers", async () => {
    const check = checking({ allow: ["127.0.0.0/8"], resolve: async () => ["127.0.0.9", "127.0.0.1"] });
    expect(verdict(await check(specOf({ type: "tcp", url: "several.example", port })))).toBe("up");
  });
});

test("checks are made in a worker as they are here", async () => {
  const worker = new Worker(new URL("checks-in-worker.ts", import.meta.url));
  const said = async (spec: CheckSpec): Promise<unknown> => {
    const answered = Promise.withResolvers<unknown>();
    worker.onmessage = ({ data }: MessageEvent<unknown>) => answered.resolve(data);
    worker.onerror = ({ message }) => answered.reject(new Error(message));
    worker.postMessage(spec);
    return answered.promise;
  };
  expect(await said(specOf({ type: "http", url: at("/") }))).toBe("up");
  expect(await said(specOf({ type: "tcp", url: "127.0.0.1", port: 1 }))).toBe("down connection_refused");
  expect(await said(specOf({ type: "http", url: at("/silent"), timeoutMs: 200 }))).toBe("down timeout");
  worker.terminate();
});
