/** The forward protocol over real sockets: a client as it is, acknowledgements and the handshake. */
import { afterEach, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { FluentClient } from "@fluent-org/logger";
import { decodeValue, encodeValue, ForwardDecoder } from "../../../../../ingest/index.ts";
import { ForwardListener } from "../../../../../src/domains/logs/receive/forward/forward-listener.ts";
import { MessageDelivery } from "../../../../../src/domains/logs/receive/listeners/message-delivery.ts";
import { ApiError } from "../../../../../src/errors.ts";
import { createMetrics } from "../../../../../src/server/metrics.ts";
import { receiveSuite } from "../receive-server.ts";

const suite = receiveSuite();
const HOST = "127.0.0.1";
const KEY = "a shared key";
const TIME = 1_769_903_998;
let listener: ForwardListener | null = null;
let socket: Socket | null = null;

afterEach(async () => {
  socket?.destroy();
  await listener?.close();
});

type Deliver = MessageDelivery["deliver"];

/** `around` stands between the listener and what stores. */
async function open(
  sharedKey: string | null,
  around = (store: Deliver, ...sent: Parameters<Deliver>): ReturnType<Deliver> => store(...sent),
): Promise<number> {
  const { receiver, authenticator, log } = suite.server;
  const { token } = suite.tenant;
  const stored = new MessageDelivery({ receiver, decoder: new ForwardDecoder(), authenticator, token });
  const store: Deliver = (...sent) => stored.deliver(...sent);
  const delivery = {
    deliver: (...sent: Parameters<Deliver>) => around(store, ...sent),
    refusal: async () => null,
  };
  listener = new ForwardListener({ delivery, sharedKey, metrics: createMetrics().forward, log });
  return listener.listen(HOST, 0);
}

async function connectTo(port: number): Promise<Socket> {
  const opened = connect(port, HOST);
  socket = opened;
  await once(opened, "connect");
  return opened;
}

async function answerOf(from: Socket): Promise<unknown> {
  const [bytes]: unknown[] = await once(from, "data");
  return bytes instanceof Uint8Array ? decodeValue(bytes) : undefined;
}

test.each(["Message", "Forward", "PackedForward", "CompressedPackedForward"] as const)(
  "a client that proves the shared key delivers in the mode %s and is acknowledged",
  async (eventMode) => {
    const port = await open(KEY);
    const client = new FluentClient("shop", {
      eventMode,
      socket: { host: HOST, port },
      security: { clientHostname: "web-1", sharedKey: KEY },
      ack: { ackTimeout: 30_000 },
    });
    await client.connect();
    await client.emit("orders", { message: "hello é", level: "error", order: 17 });
    await client.disconnect();
    expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([
      { message: "hello é", level: "error", source: "shop.orders", attrs: { order: "17" } },
    ]);
  },
);

test("a chunk is acknowledged, and one that is sent again is stored once", async () => {
  const port = await open(null);
  const chunk = encodeValue(["t", [[TIME, { message: "once" }]], { chunk: "c1" }]);
  const sender = await connectTo(port);
  for (let repetition = 0; repetition < 2; repetition++) {
    sender.write(Buffer.concat([encodeValue(["t", TIME, { message: `before ${repetition}` }]), chunk]));
    expect(await answerOf(sender)).toEqual({ ack: "c1" });
  }
  expect((await suite.server.stored(suite.tenant.organizationId, 3)).map(({ message }) => message)).toEqual([
    "before 0",
    "before 1",
    "once",
  ]);
});

test("a chunk is acknowledged when it is stored and not before", async () => {
  const [begun, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const port = await open(null, async (store, ...sent) => {
    begun.resolve();
    await held.promise;
    return store(...sent);
  });
  const sender = await connectTo(port);
  let answered = 0;
  sender.on("data", (bytes) => {
    answered += bytes.length;
  });
  sender.write(encodeValue(["t", [[TIME, { message: "late" }]], { chunk: "c2" }]));
  await begun.promise;
  // Behind whatever had been said to the first sender by now.
  const other = connect(port, HOST);
  other.write(new Uint8Array([0xc1]));
  await once(other, "close");
  expect(answered).toBe(0);
  held.resolve();
  expect(await answerOf(sender)).toEqual({ ack: "c2" });
});

test("a chunk that is refused is not acknowledged", async () => {
  const error = new ApiError("FORBIDDEN", "not this token");
  const sender = await connectTo(await open(null, async () => ({ outcome: "refused", error })));
  let answered = 0;
  sender.on("data", (bytes) => {
    answered += bytes.length;
  });
  sender.write(encodeValue(["t", [[TIME, { message: "refused" }]], { chunk: "c3" }]));
  await once(sender, "close");
  expect(answered).toBe(0);
});

test("nothing is taken of a sender that does not know the shared key", async () => {
  const port = await open(KEY);
  const sender = await connectTo(port);
  expect(await answerOf(sender)).toMatchObject(["HELO", { auth: "" }]);
  const event = encodeValue(["t", TIME, { message: "forged" }]);
  sender.write(Buffer.concat([encodeValue(["PING", "web-1", "salt", "0".repeat(128), "", ""]), event]));
  expect(await answerOf(sender)).toMatchObject(["PONG", false, "shared_key mismatch", "obs", ""]);
  await once(sender, "close");
  // What had been taken would be there before this.
  await fetch(`${suite.server.url}/gelf`, {
    method: "POST",
    headers: { authorization: `Bearer ${suite.tenant.token}` },
    body: '{"short_message":"after"}',
  });
  expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([{ message: "after" }]);
});

test("a connection that sends what is no MessagePack is closed", async () => {
  const sender = await connectTo(await open(null));
  sender.write(new Uint8Array([0xc1]));
  await once(sender, "close");
});
