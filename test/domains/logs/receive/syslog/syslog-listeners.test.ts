/** Syslog over real sockets: what is sent is found in the store, and nothing that was read is lost or doubled. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { createSocket } from "node:dgram";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { CONNECTIONS_MAX } from "../../../../../src/domains/logs/receive/listeners/limits.ts";
import {
  type MessageListeners,
  type MessageListenersOptions,
  openMessageListeners,
} from "../../../../../src/domains/logs/receive/listeners/message-listeners.ts";
import { MESSAGE_MAX_BYTES } from "../../../../../src/domains/logs/receive/syslog/limits.ts";
import { syslogProtocol } from "../../../../../src/domains/logs/receive/syslog/syslog-protocol.ts";
import { ApiError } from "../../../../../src/errors.ts";
import type { LogReceiver } from "../../../../../src/receive/receive-records.ts";
import { createMetrics, type Metrics } from "../../../../../src/server/metrics.ts";
import { makeCertificate } from "../../../../harness/certificate.ts";
import { eventually } from "../../../../harness/eventually.ts";
import { openTestStores, type TestStores } from "../../../../harness/stores.ts";
import { makeTenant, type Tenant } from "../../tail/tail-server.ts";
import { type ReceiveServer, startReceiveServer } from "../receive-server.ts";

const HOST = "127.0.0.1";

let stores: TestStores;
let server: ReceiveServer;
let tenant: Tenant;
let metrics: Metrics;
let listeners: MessageListeners | null;
let sockets: Socket[];

beforeAll(async () => {
  stores = await openTestStores();
  server = await startReceiveServer(stores);
});
afterAll(async () => {
  await server.close();
  await stores.close();
});
beforeEach(async () => {
  tenant = await makeTenant(stores, ["logs:write"]);
  metrics = createMetrics();
  sockets = [];
  listeners = null;
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await listeners?.close(1_000);
});

async function open(
  receiver: Pick<LogReceiver, "receive"> = server.receiver,
  token = tenant.token,
  tls: MessageListenersOptions["tls"] = null,
): Promise<{ tcpPort: number; udpPort: number }> {
  listeners = await openMessageListeners({
    protocol: syslogProtocol(Date.now),
    host: HOST,
    tcpPort: 0,
    udpPort: 0,
    tls,
    token,
    authenticator: server.authenticator,
    receiver,
    now: Date.now,
    metrics: metrics.syslog,
    log: server.log,
  });
  return { tcpPort: listeners.tcpPort ?? 0, udpPort: listeners.udpPort ?? 0 };
}

async function connectTo(port: number): Promise<Socket> {
  const socket = connect(port, HOST);
  socket.on("error", () => undefined);
  sockets.push(socket);
  await new Promise((resolve) => socket.once("connect", resolve));
  return socket;
}

async function sendDatagrams(port: number, datagrams: readonly string[]): Promise<void> {
  const socket = createSocket("udp4");
  for (const datagram of datagrams)
    await new Promise((resolve) => socket.send(datagram, port, HOST, () => resolve(null)));
  await new Promise<void>((resolve) => socket.close(() => resolve()));
}

async function counted(transport: "tcp" | "udp", outcome: string): Promise<number> {
  const { values } = await metrics.syslog.messages.get();
  const found = values.find(({ labels }) => labels.transport === transport && labels.outcome === outcome);
  return found?.value ?? 0;
}

async function connections(): Promise<number> {
  return (await metrics.syslog.connections.get()).values[0]?.value ?? 0;
}

function octets(message: string): string {
  return `${Buffer.byteLength(message)} ${message}`;
}

/** What an instance answers whose write-ahead log is full. */
function unavailable(): ApiError {
  return new ApiError("UNAVAILABLE", "The write-ahead log is full.", { retryAfterSeconds: 0 });
}

test("messages over TCP, in both framings, and over UDP are found in the store", async () => {
  const { tcpPort, udpPort } = await open();
  const socket = await connectTo(tcpPort);
  socket.write("<34>1 2026-10-11T22:14:15.003Z web-1 nginx 812 - - a line é\n");
  socket.write(octets('<13>1 - - app - - [ex@1 k="v"] two\nlines'));
  socket.write("<134>Oct 11 22:14:15 fw1 CEF:0|Example|Firewall|1|2|cef|8|src=192.0.2.7\n");
  await sendDatagrams(udpPort, ['<11>Oct 11 22:14:15 db-1 postgres[7]: udp {"n":1}', "zz plain text"]);
  const rows = await server.stored(tenant.organizationId, 5);
  expect(rows).toMatchObject([
    {
      message: "a line é",
      ts: "2026-10-11 22:14:15.003000000",
      level: "fatal",
      service: "nginx",
      host: "web-1",
      attrs: { "syslog.facility": "auth", "syslog.procid": "812" },
    },
    {
      message: "cef",
      level: "error",
      host: "fw1",
      source: "Example Firewall",
      attrs: { sourceAddress: "192.0.2.7" },
    },
    { message: "two\nlines", level: "info", service: "app", host: HOST, attrs: { "ex@1.k": "v" } },
    {
      message: 'udp {"n":1}',
      level: "error",
      service: "postgres",
      host: "db-1",
      attrs: { "syslog.procid": "7" },
    },
    { message: "zz plain text", level: "", service: "", host: HOST },
  ]);
  expect([await counted("tcp", "stored"), await counted("udp", "stored")]).toEqual([3, 2]);
});

test("while messages cannot be stored, TCP senders wait and lose nothing, and UDP drops are counted", async () => {
  let isBlocked = true;
  const { tcpPort, udpPort } = await open({
    receive: (request) => (isBlocked ? Promise.reject(unavailable()) : server.receiver.receive(request)),
  });
  const socket = await connectTo(tcpPort);
  const messages = Array.from(
    { length: 480 },
    (_, i) => `<13>1 - - - - - - ${String(i).padStart(4, "0")}${"x".repeat(60_000)}\n`,
  );
  const waits = new Promise<number>((resolve) => {
    let sent = 0;
    const send = (): void => {
      while (sent < messages.length) {
        const goesOn = socket.write(messages[sent++] ?? "");
        if (!goesOn) {
          socket.once("drain", send);
          return;
        }
      }
      resolve(sent);
    };
    send();
  });
  await eventually(
    "the listener stops reading",
    async () => (await metrics.syslog.pauses.get()).values[0]?.value === 1,
  );
  await eventually("datagrams are dropped", async () => {
    await sendDatagrams(udpPort, ["<13>dropped"]);
    return (await counted("udp", "dropped")) > 0;
  });
  const late = await connectTo(tcpPort);
  late.write("<13>zzzz came later\n");
  await eventually("the late sender is not read either", async () => {
    return (await metrics.syslog.pauses.get()).values[0]?.value === 2;
  });
  expect(await counted("tcp", "stored")).toBe(0);
  isBlocked = false;
  expect(await waits).toBe(messages.length);
  const rows = await server.stored(tenant.organizationId, messages.length + 1);
  const numbers = messages.map((_, i) => String(i).padStart(4, "0"));
  expect(rows.map(({ message }) => message.slice(0, 4))).toEqual([...numbers, "zzzz"]);
  expect(await counted("tcp", "dropped")).toBe(0);
});

test("a batch whose answer was lost is stored once", async () => {
  let answersToLose = 1;
  const { tcpPort } = await open({
    receive: async (request) => {
      const received = await server.receiver.receive(request);
      if (answersToLose-- > 0) throw unavailable();
      return received;
    },
  });
  (await connectTo(tcpPort)).write("<13>once\n");
  await eventually("the batch is stored", async () => (await counted("tcp", "stored")) === 1);
  expect(await server.stored(tenant.organizationId, 1)).toMatchObject([{ message: "once" }]);
});

test("with a revoked token messages are refused, connections closed, and both counted and logged", async () => {
  const { tcpPort, udpPort } = await open();
  const socket = await connectTo(tcpPort);
  socket.write("<13>before\n");
  await server.stored(tenant.organizationId, 1);
  await stores.postgres`UPDATE personal_access_tokens SET revoked_at = now() WHERE organization_id = ${tenant.organizationId}`;
  const closed = new Promise((resolve) => socket.once("close", resolve));
  let sends = true;
  void closed.then(() => {
    sends = false;
  });
  await eventually("the connection is closed", () => {
    if (sends) socket.write("<13>after\n");
    return !sends;
  });
  expect(await counted("tcp", "refused")).toBeGreaterThan(0);
  expect(server.logged().some((line) => line.includes("SYSLOG_TOKEN"))).toBe(true);
  expect(server.logged().some((line) => line.includes(tenant.token))).toBe(false);
  const next = await connectTo(tcpPort);
  next.resume();
  await new Promise((resolve) => next.once("close", resolve));
  await sendDatagrams(udpPort, ["<13>after"]);
  await eventually("the datagram is refused", async () => (await counted("udp", "refused")) === 1);
});

test("a token that may not store logs is refused from the start", async () => {
  const reader = await makeTenant(stores, ["logs:read"]);
  const { tcpPort } = await open(server.receiver, reader.token);
  const socket = await connectTo(tcpPort);
  socket.resume();
  await new Promise((resolve) => socket.once("close", resolve));
  expect((await metrics.syslog.closed.get()).values).toMatchObject([
    { labels: { reason: "refused" }, value: 1 },
  ]);
});

test("a stop stores what was read, also a last line without its end", async () => {
  let isBlocked = true;
  let seen = "";
  const { tcpPort } = await open({
    receive: async (request) => {
      seen += new TextDecoder().decode(request.body);
      await eventually("the receiver is free", () => !isBlocked);
      return server.receiver.receive(request);
    },
  });
  const socket = await connectTo(tcpPort);
  socket.write("<13>first\n<13>second\n<13>without its end");
  await eventually("it was read", () => seen.includes("second"));
  (await connectTo(tcpPort)).end("<13>closed by its sender");
  await eventually("the other came and went", async () => (await connections()) === 1);
  const stopped = listeners?.close(5_000);
  listeners = null;
  isBlocked = false;
  await stopped;
  const rows = await server.stored(tenant.organizationId, 4);
  expect(rows.map(({ message }) => message)).toEqual([
    "closed by its sender",
    "first",
    "second",
    "without its end",
  ]);
  expect(await connections()).toBe(0);
});

test("a stop gives up what cannot be stored in its time, and counts it", async () => {
  const { tcpPort } = await open({ receive: () => Promise.reject(unavailable()) });
  (await connectTo(tcpPort)).end("<13>lost\n");
  await eventually("the connection ends", async () => {
    const { values } = await metrics.syslog.connections.get();
    return server.logged().some((line) => line.includes("syslog messages wait")) && values[0]?.value === 0;
  });
  await listeners?.close(50);
  listeners = null;
  expect(await counted("tcp", "dropped")).toBe(1);
});

test("a batch that fails for an unknown reason does not block those behind it for ever", async () => {
  let failures = 0;
  const { udpPort } = await open({
    receive: (request) => {
      if (!new TextDecoder().decode(request.body).includes("poison")) return server.receiver.receive(request);
      failures++;
      return Promise.reject(new ApiError("VALIDATION_FAILED", "no"));
    },
  });
  await sendDatagrams(udpPort, ["<13>poison"]);
  await eventually("it was tried", () => failures > 0);
  await sendDatagrams(udpPort, ["<13>healthy"]);
  expect(await server.stored(tenant.organizationId, 1)).toMatchObject([{ message: "healthy" }]);
  expect(await counted("udp", "dropped")).toBe(1);
});

test("messages that are too long are cut and counted", async () => {
  const { tcpPort } = await open();
  const socket = await connectTo(tcpPort);
  socket.write(`<13>1 - - - - - - {"long":"${"ü".repeat(MESSAGE_MAX_BYTES)}"}\n<13>1 - - - - - - next\n`);
  const rows = await server.stored(tenant.organizationId, 2);
  expect(rows[0]?.message).toBe("next");
  expect(rows[1]?.attrs._truncated).toBe("true");
  expect((await metrics.syslog.cut.get()).values[0]?.value).toBe(1);
});

test("over TLS a sender that knows the certificate is served, and one without TLS harms nobody", async () => {
  const tls = makeCertificate();
  if (tls === null) return;
  const { tcpPort } = await open(server.receiver, tenant.token, tls);
  (await connectTo(tcpPort)).end("<13>in the clear\n");
  const socket = connectTls({ host: HOST, port: tcpPort, ca: tls.cert, servername: "localhost" });
  sockets.push(socket);
  await new Promise((resolve, reject) => {
    socket.once("secureConnect", resolve);
    socket.once("error", reject);
  });
  socket.write(octets("<13>1 - - - - - - encrypted"));
  expect(await server.stored(tenant.organizationId, 1)).toMatchObject([{ message: "encrypted" }]);
});

test("connections have a bound", async () => {
  const { tcpPort } = await open();
  await Promise.all(Array.from({ length: CONNECTIONS_MAX }, () => connectTo(tcpPort)));
  await eventually(
    "all are open",
    async () => (await metrics.syslog.connections.get()).values[0]?.value === CONNECTIONS_MAX,
  );
  const oneMore = await connectTo(tcpPort);
  oneMore.resume();
  await new Promise((resolve) => oneMore.once("close", resolve));
  sockets[0]?.end("<13>still served\n");
  expect(await server.stored(tenant.organizationId, 1)).toMatchObject([{ message: "still served" }]);
});
