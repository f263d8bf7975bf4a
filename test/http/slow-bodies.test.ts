/** Callers that begin requests on many connections and do not send them. */
import { afterAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { Type } from "typebox";
import type { BodyPace } from "../../src/http/body-pace.ts";
import { route } from "../../src/http/define-route.ts";
import { MAX_IN_FLIGHT_REQUESTS } from "../../src/http/limits.ts";
import { readBody } from "../../src/http/read-body.ts";
import { type Listener, listen } from "../../src/http/server.ts";
import { eventually } from "../harness/eventually.ts";
import { type TestApp, testApp } from "../harness/http-app.ts";

const Answer = Type.Object({}, { additionalProperties: true });
const described = {
  tag: "Things",
  summary: "A thing",
  responses: { 200: { description: "It.", schema: Answer } },
};
const RAW = { kind: "raw", contentTypes: ["*/*"], documented: Type.String() } as const;
const LIMITS = { maxPackedBytes: 1e6, maxUnpackedBytes: 1e6, encodings: [] };
const PATIENT = { timeoutMs: 600_000, graceMs: 600_000, minBytesPerSec: 1 };
const STRICT = { timeoutMs: 600_000, graceMs: 500, minBytesPerSec: 100_000 };
/** More than there are slots. */
const CONNECTIONS = MAX_IN_FLIGHT_REQUESTS + 100;

const listeners: Listener[] = [];
const sockets: Socket[] = [];
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await Promise.all(listeners.map((listener) => listener.abort()));
});

/** A server with routes like ours: a body that has time for the test, one that has none, a read, and a probe. */
function startServer(): { url: string; port: number; app: TestApp } {
  const take = (path: string, pace: BodyPace) =>
    route({
      ...described,
      method: "POST",
      effect: "read",
      path,
      access: "authenticated",
      body: RAW,
      handler: async ({ request, reserveMemory }) => {
        const limits = { ...LIMITS, pace };
        return { status: 200, body: { length: (await readBody(request, limits, reserveMemory)).length } };
      },
    });
  const answer = { ...described, method: "GET", handler: () => ({ status: 200, body: {} }) } as const;
  const app = testApp([
    take("/take", PATIENT),
    take("/take-fast", STRICT),
    route({ ...answer, path: "/me", access: "authenticated" }),
    route({ ...answer, path: "/live", access: "public", isProbe: true }),
  ]);
  const listener = listen(app.app, { hostname: "127.0.0.1", port: 0 });
  listeners.push(listener);
  return { url: listener.url, port: listener.port, app };
}

/** Begins a request on a connection of its own and sends one byte of its body; what is answered. */
async function beginRequest(port: number, path: string, credential: string): Promise<{ answer: string }> {
  const begun = { answer: "" };
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("data", (chunk) => {
    begun.answer += chunk.toString("latin1");
  });
  socket.on("error", () => undefined);
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${credential}\r\n`;
  await new Promise<void>((resolve) => {
    socket.on("connect", () => socket.write(`${head}Content-Length: 1000\r\n\r\n{`, () => resolve()));
  });
  return begun;
}

async function gauge(app: TestApp): Promise<number> {
  const { text } = await app.metrics.expose();
  return Number(/^obs_http_requests_in_flight (\d+)$/m.exec(text)?.[1]);
}

const get = (url: string, credential: string) =>
  fetch(url, { headers: { authorization: `Bearer ${credential}`, connection: "close" } });

describe("bodies that do not come", () => {
  test.each([
    ["three tokens", ["viewer/*/1/1", "viewer/logs:read/1/1", "viewer/logs:*/1/1"]],
    ["one token", ["member/*/1/1"]],
  ])(
    "of one person with %s on more connections than there are slots keep nobody else waiting",
    async (_name, tokens) => {
      const { url, port, app } = startServer();
      const begun = await Promise.all(
        Array.from({ length: CONNECTIONS }, (_, index) =>
          beginRequest(port, "/take", tokens[index % tokens.length] ?? ""),
        ),
      );
      await eventually("the person has used up their share", async () => (await gauge(app)) > 300);
      for (let round = 0; round < 10; round++) {
        expect((await get(`${url}/me`, "viewer/*/2/2")).status).toBe(200);
        expect((await get(`${url}/me`, "viewer/*/3/1")).status).toBe(200);
        expect((await fetch(`${url}/live`)).status).toBe(200);
      }
      expect(begun.some(({ answer }) => answer.startsWith("HTTP/1.1 503"))).toBe(false);
      const [refused] = begun.filter(({ answer }) => answer.startsWith("HTTP/1.1 429"));
      expect(refused?.answer.toLowerCase()).toContain("retry-after: 1\r\n");
    },
  );

  test("that trickle are answered with 408, their connections closed and their slots free again", async () => {
    const { url, port, app } = startServer();
    const begun = await Promise.all(
      Array.from({ length: 50 }, () => beginRequest(port, "/take-fast", "viewer/*/1/1")),
    );
    const trickle = setInterval(() => {
      for (const socket of sockets.slice(-50)) if (socket.writable) socket.write("x");
    }, 20);
    await eventually("every one is answered", () => begun.every(({ answer }) => answer !== ""));
    clearInterval(trickle);
    for (const { answer } of begun) {
      expect(answer).toStartWith("HTTP/1.1 408");
      expect(answer.toLowerCase()).toContain("connection: close\r\n");
      expect(answer).toContain("REQUEST_TIMEOUT");
    }
    await eventually("connections are closed", () => sockets.slice(-50).every((socket) => socket.destroyed));
    expect(await gauge(app)).toBe(0);
    expect((await get(`${url}/me`, "viewer/*/1/1")).status).toBe(200);
  });
});
