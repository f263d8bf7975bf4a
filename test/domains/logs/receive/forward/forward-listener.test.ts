/** The forward protocol over real sockets: a client as it is, acknowledgements and the handshake. */
import { afterEach, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { FluentClient } from "@fluent-org/logger";
import { decodeValue, encodeValue, ForwardDecoder } from "../../../../../ingest/index.ts";
import { ForwardListener } from "../../../../../src/domains/logs/receive/forward/forward-listener.ts";
import { MessageDelivery } from "../../../../../src/domains/logs/receive/listeners/message-delivery.ts";
import { ApiError } from "../../../../../src/errors.ts";
import { createMetrics } from "../../../../../src/server/metrics.ts";
import { makeCertificate } from "../../../../harness/certificate.ts";
import { eventually } from "../../../../harness/eventually.ts";
import { receiveSuite } from "../receive-server.ts";

const suite = receiveSuite();
const HOST = "127.0.0.1";
const KEY = "a shared key";
const TIME = 1_769_903_998;
let listener: ForwardListener | null = null;
let metrics = createMetrics();
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener?.close();
});

type Deliver = MessageDelivery["deliver"];

/** `around` stands between the listener and what stores. */
async function open(
  sharedKey: string | null,
  around = (store: Deliver, ...sent: Parameters<Deliver>): ReturnType<Deliver> => store(...sent),
  {
    tls = null,
    ...options
  }: Partial<Pick<ConstructorParameters<typeof ForwardListener>[0], "tls" | "bounds">> = {},
): Promise<number> {
  const { receiver, authenticator, log } = suite.server;
  const { token } = suite.tenant;
  const stored = new MessageDelivery({ receiver, decoder: new ForwardDecoder(), authenticator, token });
  const store: Deliver = (...sent) => stored.deliver(...sent);
  const delivery = {
    deliver: (...sent: Parameters<Deliver>) => around(store, ...sent),
    refusal: async () => null,
  };
  metrics = createMetrics();
  listener = new ForwardListener({ delivery, sharedKey, tls, metrics: metrics.forward, log, ...options });
  return listener.listen(HOST, 0);
}

async function connectTo(port: number): Promise<Socket> {
  const opened = connect(port, HOST);
  sockets.push(opened);
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

/** A message of about `bytes` that wants to be acknowledged, in two halves. */
function halves(chunk: string, bytes: number): readonly [Uint8Array, Uint8Array] {
  const whole = encodeValue(["t", [[TIME, { message: chunk, filling: "x".repeat(bytes) }]], { chunk }]);
  return [whole.subarray(0, whole.length / 2), whole.subarray(whole.length / 2)];
}

async function countOf(name: "pauses" | "closed"): Promise<number> {
  const { values } = await metrics.forward[name].get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

/** A connection of which part of a message is held, behind a message that was stored. */
async function holding(port: number, part: Uint8Array): Promise<Socket> {
  const sender = await connectTo(port);
  const answer = answerOf(sender);
  sender.write(Buffer.concat([...halves("before", 1), part]));
  expect(await answer).toEqual({ ack: "before" });
  return sender;
}

test("senders wait when together they hold too much, one at a time goes on, and none is cut off", async () => {
  const port = await open(null, undefined, { bounds: { heldMaxBytes: 1_500, roomStallMs: 600_000 } });
  const [oneFirst, oneRest] = halves("one", 2_000);
  const [otherFirst, otherRest] = halves("other", 2_000);
  const one = await holding(port, oneFirst);
  const other = await connectTo(port);
  other.write(otherFirst);
  await eventually("the other waits", async () => (await countOf("pauses")) > 0);
  const answers = Promise.all([answerOf(one), answerOf(other)]);
  other.write(otherRest);
  one.write(oneRest);
  expect(await answers).toEqual([{ ack: "one" }, { ack: "other" }]);
  expect(await countOf("closed")).toBe(0);
  expect(await suite.server.stored(suite.tenant.organizationId, 3)).toHaveLength(3);
});

test("who sends nothing while others wait for it is closed, and the others go on", async () => {
  const port = await open(null, undefined, { bounds: { heldMaxBytes: 1_500, roomStallMs: 50 } });
  const [otherFirst, otherRest] = halves("other", 4_000);
  const silent = await holding(port, halves("silent", 4_000)[0]);
  const closed = once(silent, "close");
  const other = await connectTo(port);
  const answer = answerOf(other);
  other.write(otherFirst);
  await closed;
  other.write(otherRest);
  expect(await answer).toEqual({ ack: "other" });
});

test("over TLS a sender that knows the certificate is served, and one without TLS harms nobody", async () => {
  const tls = makeCertificate();
  if (tls === null) return;
  const port = await open(KEY, undefined, { tls });
  (await connectTo(port)).write(encodeValue(["t", TIME, { message: "in the clear" }]));
  const sender = connectTls({ host: HOST, port, ca: tls.cert, servername: "localhost" });
  sockets.push(sender);
  expect(await answerOf(sender)).toMatchObject(["HELO", { auth: "" }]);
});
