/** Readers that do not keep up, over real connections. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { QUEUE_MAX_ENTRIES } from "../../../../src/domains/logs/tail/limits.ts";
import { eventually } from "../../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../../harness/stores.ts";
import { makeSession, makeTenant, openTail, send, startTailServer, type TailServer } from "./tail-server.ts";

let stores: TestStores;
let server: TailServer;
beforeAll(async () => {
  stores = await openTestStores();
  server = await startTailServer(stores);
});
afterAll(async () => {
  await server.close();
  await stores.close();
});

/** A connection that reads only when told to. */
class StoppedReader {
  readonly #socket: Socket;
  #text = "";

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      this.#text += chunk;
    });
    socket.on("error", () => undefined);
  }

  static async open(url: string, path: string): Promise<StoppedReader> {
    const { hostname, port } = new URL(url);
    const reader = await new Promise<StoppedReader>((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(new StoppedReader(socket)));
    });
    reader.#socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    await eventually("the stream begins", () => reader.#text.includes("retry:"));
    reader.#socket.pause();
    return reader;
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** What happened, in order: the number of each entry, and for entries that were dropped minus their count. */
  get story(): number[] {
    const blocks = this.#text.matchAll(/event: (log|dropped)\nid: \S+\ndata: (.*)\n\n/g);
    return [...blocks].map(([, event, data = ""]) => {
      const value: { count: number; message: string } = JSON.parse(data.replace(/\r\n[0-9a-f]+\r\n/g, ""));
      return event === "dropped" ? -value.count : Number(value.message.split(" ")[0]);
    });
  }
}

const PADDING = "x".repeat(4000);
const BATCH = 500;

/** About 40 MB: far beyond a queue and what the kernel holds for a connection. */
const COUNT = 10_000;

describe("a reader that stops reading", () => {
  test("gets counts in the place of what it was too slow for, and holds up nobody", async () => {
    const tenant = await makeTenant(stores);
    const session = await makeSession(server, tenant);
    const slow = await StoppedReader.open(server.url, `/api/v1/logs/tail?token=${session}`);
    const quick = await openTail(server, session);
    for (let i = 0; i < COUNT; i += BATCH) {
      await send(
        server,
        tenant,
        Array.from({ length: BATCH }, (_, j) => ({ message: `${i + j} ${PADDING}` })),
      );
      // However slow this machine is, it keeps up.
      await eventually("it has read them", () => quick.of("log").length >= i + BATCH);
    }
    expect(quick.messages).toHaveLength(COUNT);
    expect(quick.of("dropped")).toEqual([]);
    slow.resume();
    await eventually("the rest is shown", () => {
      const { story } = slow;
      return story.reduce((sum, step) => sum + (step < 0 ? -step : 1), 0) >= COUNT;
    });
    await send(server, tenant, [{ message: `${COUNT} last` }]);
    await eventually("the last entry", () => slow.story.at(-1) === COUNT);
    // Every entry is shown or counted, at its place.
    let expected = 0;
    for (const step of slow.story) {
      if (step >= 0) expect(step).toBe(expected);
      expected += step < 0 ? -step : 1;
    }
    expect(expected).toBe(COUNT + 1);
    expect(slow.story.filter((step) => step < 0).length).toBeGreaterThan(0);
    expect(await server.metrics.expose().then(({ text }) => text)).toMatch(/obs_tail_dropped_total [1-9]/);
    slow.close();
    quick.close();
  });
});

test("a stream whose reader leaves is forgotten", async () => {
  const session = await makeSession(server, await makeTenant(stores));
  const streams = async (): Promise<number> => {
    const { text } = await server.metrics.expose();
    return Number(/obs_tail_streams (\d+)/.exec(text)?.[1]);
  };
  await eventually("the streams of other tests are gone", async () => (await streams()) === 0);
  const tails = await Promise.all([openTail(server, session), openTail(server, session)]);
  expect(await streams()).toBe(2);
  for (const tail of tails) tail.close();
  await eventually("no stream is left", async () => (await streams()) === 0);
});

test("a flood is shown up to the ceiling of a reader, and the rest is counted in its place", async () => {
  // A hundredth of the time: what comes is a flood, however slow this machine is.
  const slowed = await startTailServer(stores, { tails: { monotonicMs: () => performance.now() / 100 } });
  const tenant = await makeTenant(stores);
  const session = await makeSession(slowed, tenant);
  const [one, other] = [await openTail(slowed, session), await openTail(slowed, session)];
  const count = QUEUE_MAX_ENTRIES * 4;
  for (let i = 0; i < count; i += BATCH * 8)
    await Promise.all(
      Array.from({ length: 8 }, (_, k) =>
        send(
          slowed,
          tenant,
          Array.from({ length: BATCH }, (_, j) => ({ message: `${i + k * BATCH + j}` })),
        ),
      ),
    );
  for (const tail of [one, other]) {
    const dropped = (): number =>
      tail.of("dropped").reduce((sum, { data }) => sum + Number(JSON.parse(data).count), 0);
    await eventually("every entry is shown or counted", () => tail.messages.length + dropped() >= count);
    expect(tail.messages.length + dropped()).toBe(count);
    expect(tail.messages.length).toBeGreaterThanOrEqual(QUEUE_MAX_ENTRIES);
    expect(new Set(tail.messages).size).toBe(tail.messages.length);
    expect(dropped()).toBeGreaterThan(0);
    for (const { data } of tail.of("dropped")) expect(JSON.parse(data)).toMatchObject({ reason: "speed" });
    tail.close();
  }
  await slowed.close();
});
