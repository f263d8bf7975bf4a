import { afterEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { Type } from "typebox";
import { FairShare } from "../../src/concurrency/fair-share.ts";
import { piecesOf } from "../../src/concurrency/thread-turns.ts";
import { answerWith } from "../../src/http/answer-stream.ts";
import { route } from "../../src/http/define-route.ts";
import type { Route } from "../../src/http/route.ts";
import { type Listener, listen } from "../../src/http/server.ts";
import { eventually } from "../harness/eventually.ts";
import { testApp } from "../harness/http-app.ts";

const MEBIBYTE = 1024 * 1024;
const ALL_BYTES = 60 * MEBIBYTE;
/** More than the kernel takes for a connection that nobody reads. */
const ANSWER_BYTES = 8 * MEBIBYTE;
const Answer = Type.Object({}, { additionalProperties: true });
const shared = { tag: "Test", summary: "", responses: { 200: { description: "", schema: Answer } } } as const;

/** Answers with 8 MiB, as one JSON value. */
const large = route({
  ...shared,
  method: "GET",
  path: "/large",
  access: "public",
  handler: () => ({ status: 200, body: { text: "x".repeat(ANSWER_BYTES) } }),
});
const small = route({
  ...shared,
  method: "GET",
  path: "/small",
  access: "public",
  handler: () => ({ status: 200, body: {} }),
});

const sockets: Socket[] = [];
let listener: Listener | null = null;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener?.abort();
});

interface Server {
  readonly url: string;
  readonly answers: FairShare;
  /** Asks and reads nothing but the head; the status. */
  readonly ask: (path: string, address: string) => Promise<number>;
}

function start(...routes: Route[]): Server {
  const answers = new FairShare(ALL_BYTES);
  const { unchecked } = testApp([large, small, ...routes], { answers, trustedProxies: ["127.0.0.1"] });
  const opened = listen(unchecked, { hostname: "127.0.0.1", port: 0 });
  listener = opened;
  return {
    url: opened.url,
    answers,
    ask: (path, address) =>
      new Promise((resolve, reject) => {
        const socket = connect(opened.port, "127.0.0.1");
        sockets.push(socket);
        socket.on("error", reject);
        socket.once("data", (head) => {
          socket.pause();
          resolve(Number(head.toString("latin1").split(" ")[1]));
        });
        socket.write(`GET ${path} HTTP/1.1\r\nhost: obs\r\nx-forwarded-for: ${address}\r\n\r\n`);
      }),
  };
}

describe("answers that nobody reads", () => {
  test("hold no more than a caller may, and leave room to others", async () => {
    const { ask, answers } = start();
    const statuses: number[] = [];
    for (let i = 0; i < 10; i++) {
      statuses.push(await ask("/large", "192.0.2.1"));
      expect(answers.used).toBeLessThanOrEqual(ALL_BYTES / 3);
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    expect(statuses.filter((status) => status === 429)).toHaveLength(8);
    expect(await ask("/small", "192.0.2.1")).toBe(200);
    expect(await ask("/large", "192.0.2.2")).toBe(200);
  });

  test("of many strangers hold no more than their part, and what they hold is given back when their readers go", async () => {
    const { ask, answers } = start();
    const statuses: number[] = [];
    for (let i = 0; i < 10; i++) statuses.push(await ask("/large", `192.0.2.${i}`));
    expect(statuses.filter((status) => status === 429)).toHaveLength(7);
    expect(answers.used).toBeLessThanOrEqual(ALL_BYTES / 2);
    for (const socket of sockets.splice(0)) socket.destroy();
    await eventually("everything is given back", () => answers.used === 0);
    expect(await ask("/large", "192.0.2.1")).toBe(200);
  });

  test("are given up when nothing is taken for too long, and never look whole", async () => {
    let made = 0;
    const streamed = route({
      ...shared,
      method: "GET",
      path: "/streamed",
      access: "public",
      handler: ({ answerMemory }) => {
        function* texts(): Generator<string> {
          for (; made < ANSWER_BYTES; made += 1000) yield "x".repeat(1000);
        }
        answerMemory.take(1000);
        const pieces = piecesOf(texts(), 64 * 1024);
        return answerWith({ pieces, memory: answerMemory, headers: {}, stallMs: 100 });
      },
    });
    const { ask, answers } = start(streamed);
    expect(await ask("/streamed", "192.0.2.1")).toBe(200);
    await eventually("it is given up", () => answers.used === 0);
    expect(made).toBeLessThan(ANSWER_BYTES);
    const [socket] = sockets;
    let end = "";
    const closed = new Promise<void>((resolve) => socket?.on("close", () => resolve()));
    socket?.removeAllListeners("error");
    socket?.on("error", () => undefined);
    socket?.on("data", (chunk) => {
      end = chunk.toString("latin1").slice(-5);
    });
    socket?.resume();
    await closed;
    // The chunk of no bytes that ends an answer.
    expect(end).not.toBe("0\r\n\r\n");
  });

  test("arrive whole when they are read after all", async () => {
    const { url, answers } = start();
    const body: unknown = await (await fetch(`${url}/large`)).json();
    expect(body).toEqual({ text: "x".repeat(ANSWER_BYTES) });
    await eventually("everything is given back", () => answers.used === 0);
  });
});

describe("making a large answer", () => {
  test("lets others be answered all along", async () => {
    let isMade = false;
    const laborious = route({
      ...shared,
      method: "GET",
      path: "/laborious",
      access: "public",
      handler: ({ answerMemory }) => {
        function* texts(): Generator<string> {
          for (let i = 0; i < 300; i++) {
            const endMs = performance.now() + 2;
            while (performance.now() < endMs);
            // So short that all of it makes a single piece.
            yield "x";
          }
          isMade = true;
        }
        return answerWith({ pieces: piecesOf(texts(), MEBIBYTE), memory: answerMemory, headers: {} });
      },
    });
    const { url } = start(laborious);
    const answer = fetch(`${url}/laborious`);
    let meanwhile = 0;
    while (!isMade) {
      await (await fetch(`${url}/small`)).text();
      meanwhile++;
    }
    expect(await (await answer).text()).toHaveLength(300);
    expect(meanwhile).toBeGreaterThan(5);
  });
});
