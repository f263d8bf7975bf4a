import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { Type } from "typebox";
import { route } from "../../src/http/define-route.ts";
import { readBody } from "../../src/http/read-body.ts";
import { listen } from "../../src/http/server.ts";
import { CONTENT_ENCODINGS } from "../../src/http/unpack.ts";
import { testApp } from "../harness/http-app.ts";

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
const MAX_BYTES = 100_000;

const { app, logged } = testApp([
  route({
    ...described,
    method: "GET",
    path: "/things/:id",
    access: "public",
    params: Type.Object({ id: Type.String({ pattern: "^[0-9]+$" }) }),
    handler: (context, { params }) => ({ status: 200, body: { id: params.id, from: context.clientAddress } }),
  }),
  route({
    ...described,
    method: "POST",
    effect: "read",
    path: "/raw",
    access: "public",
    body: { kind: "raw", contentTypes: ["*/*"], documented: Type.String() },
    handler: async (context) => {
      const limits = { maxPackedBytes: MAX_BYTES, maxUnpackedBytes: MAX_BYTES, encodings: CONTENT_ENCODINGS };
      const bytes = await readBody(context.request, limits, context.reserveMemory);
      return { status: 200, body: { length: bytes.length } };
    },
  }),
  route({
    ...described,
    method: "GET",
    path: "/long/path/with/slashes",
    access: "public",
    handler: () => ({ status: 200, body: { found: true } }),
  }),
]);
const listener = listen(app, { hostname: "127.0.0.1", port: 0 });
afterAll(() => listener.abort());

/** Sends bytes over a connection of its own and answers what comes back until the server or `enough` ends it. */
function exchange(bytes: string, enough: (received: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(listener.port, "127.0.0.1", () => socket.write(bytes));
    let received = "";
    const finish = () => {
      socket.destroy();
      resolve(received);
    };
    socket.setTimeout(10_000, finish);
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (enough(received)) finish();
    });
    socket.on("close", finish);
    socket.on("error", reject);
  });
}

const hasHead = (received: string) => received.includes("\r\n\r\n");

describe("a request on the wire", () => {
  test("is answered with the address of its peer", async () => {
    const response = await fetch(`${listener.url}/things/5`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ id: "5", from: "127.0.0.1" });
  });

  test.each(["x", "obs", "localhost", "[::1]:8080", "a.b.c.example", "a/b", "a?b", "a#b", "e vil", ""])(
    "finds its route under the host %j",
    async (host) => {
      const received = await exchange(
        `GET /long/path/with/slashes HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
        hasHead,
      );
      expect(received).toStartWith("HTTP/1.1 200");
    },
  );

  test("finds its route without a host, as health checks of HTTP/1.0 send it", async () => {
    const received = await exchange("GET /long/path/with/slashes HTTP/1.0\r\n\r\n", hasHead);
    expect(received).toMatch(/^HTTP\/1\.[01] 200/);
  });

  test("that is a HEAD names the length of what it leaves out", async () => {
    const received = await exchange("HEAD /things/5 HTTP/1.1\r\nHost: localhost\r\n\r\n", hasHead);
    expect(received.toLowerCase()).toContain(`content-length: ${'{"id":"5","from":"127.0.0.1"}'.length}\r\n`);
    expect(received).toEndWith("\r\n\r\n");
  });

  test.each(["PROPFIND", "TRACE", "OPTIONS"])(
    "with the method %s is refused with those there are",
    async (method) => {
      const received = await exchange(`${method} /things/5 HTTP/1.1\r\nHost: localhost\r\n\r\n`, hasHead);
      expect(received).toStartWith("HTTP/1.1 405");
      expect(received.toLowerCase()).toContain("allow: get, head\r\n");
    },
  );

  test.each(["/things/%", "/things/%zz", "/things/%c3%28", "/things/5%00", "/things/..%2f5", "//things/5"])(
    "for %s is not found",
    async (path) => {
      const received = await exchange(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`, hasHead);
      expect(received).toStartWith("HTTP/1.1 404");
      expect(received.toLowerCase()).toContain("x-ratelimit-remaining:");
    },
  );
});

describe("a body on the wire", () => {
  const post = (body: Uint8Array<ArrayBuffer> | ReadableStream) =>
    fetch(`${listener.url}/raw`, { method: "POST", body });

  test("arrives whole, with a length and in chunks", async () => {
    expect(await (await post(new Uint8Array(MAX_BYTES))).json()).toEqual({ length: MAX_BYTES });
    const chunks = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 10; i++) controller.enqueue(new Uint8Array(1000));
        controller.close();
      },
    });
    expect(await (await post(chunks)).json()).toEqual({ length: 10_000 });
  });

  test("that is too large gets our 413 with every header, not the listener's", async () => {
    const response = await post(new Uint8Array(5_000_000));
    expect(response.status).toBe(413);
    expect(response.headers.get("x-ratelimit-limit")).toBe("100000");
    expect(await response.json()).toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
  });

  test("that is too large in chunks gets it as well", async () => {
    const head = "POST /raw HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
    const chunk = `${(60_000).toString(16)}\r\n${"x".repeat(60_000)}\r\n`;
    const received = await exchange(head + chunk + chunk + chunk, hasHead);
    expect(received).toStartWith("HTTP/1.1 413");
  });

  test("whose sender goes away is no fault of ours", async () => {
    const before = logged().length;
    await new Promise<void>((resolve, reject) => {
      const socket = connect(listener.port, "127.0.0.1", () => {
        socket.write("POST /raw HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc", () => {
          socket.destroy();
          resolve();
        });
      });
      socket.on("error", reject);
    });
    const deadline = Date.now() + 180_000;
    while (logged().length === before && Date.now() < deadline)
      await new Promise((resolve) => setImmediate(resolve));
    expect(logged().at(-1)).toMatchObject({ route: "/raw", status: 400 });
    expect((await post(new Uint8Array(1))).status).toBe(200);
  });
});

test("stopping lets a request that is being answered finish", async () => {
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let hasArrived = false;
  const slow = testApp([
    route({
      ...described,
      method: "GET",
      path: "/slow",
      access: "public",
      handler: async () => {
        hasArrived = true;
        await gate;
        return { status: 200, body: { done: true } };
      },
    }),
  ]);
  const server = listen(slow.app, { hostname: "127.0.0.1", port: 0 });
  const answer = fetch(`${server.url}/slow`);
  const deadline = Date.now() + 180_000;
  while (!hasArrived && Date.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
  const stopped = server.stop();
  release();
  expect(await (await answer).json()).toEqual({ done: true });
  await stopped;
  await server.abort();
});
