/** GELF over real sockets and HTTP, sent by a client as it is: what is sent is found in the store. */
import { afterEach, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { deflateSync } from "node:zlib";
import gelfPro from "gelf-pro";
import { gelfProtocol } from "../../../../../src/domains/logs/receive/gelf/gelf-protocol.ts";
import {
  type MessageListeners,
  type MessageListenersOptions,
  openMessageListeners,
} from "../../../../../src/domains/logs/receive/listeners/message-listeners.ts";
import { createMetrics } from "../../../../../src/server/metrics.ts";
import { makeCertificate } from "../../../../harness/certificate.ts";
import { receiveSuite } from "../receive-server.ts";

const suite = receiveSuite();
const HOST = "127.0.0.1";
let listeners: MessageListeners | null = null;

afterEach(async () => {
  await listeners?.close(1_000);
  listeners = null;
});

async function open(tls: MessageListenersOptions["tls"] = null): Promise<{ tcp: number; udp: number }> {
  listeners = await openMessageListeners({
    protocol: gelfProtocol(() => performance.now()),
    host: HOST,
    tcpPort: 0,
    udpPort: 0,
    tls,
    token: suite.tenant.token,
    authenticator: suite.server.authenticator,
    receiver: suite.server.receiver,
    now: Date.now,
    metrics: createMetrics().gelf,
    log: suite.server.log,
  });
  return { tcp: listeners.tcpPort ?? 0, udp: listeners.udpPort ?? 0 };
}

test.each(["tcp", "udp"] as const)(
  "a client delivers over %s, long messages in packed chunks over UDP",
  async (transport) => {
    const ports = await open();
    // The client keeps the transport that it had first.
    Object.assign(gelfPro, { adapter: null });
    const client = gelfPro.setConfig({
      fields: { service: "checkout" },
      adapterName: transport,
      adapterOptions: { host: HOST, port: ports[transport] },
    });
    // Of random digits, which stay long when they are packed.
    const long = Array.from({ length: 120 }, () => crypto.randomUUID()).join("");
    const full = Array.from({ length: 300 }, () => crypto.randomUUID()).join("");
    await new Promise<void>((resolve, reject) =>
      client.message("a short é", 3, { order: 17 }, (error) => (error ? reject(error) : resolve())),
    );
    await new Promise<void>((resolve, reject) =>
      client.message(`b ${long}`, 6, { full }, (error) => (error ? reject(error) : resolve())),
    );
    expect(await suite.server.stored(suite.tenant.organizationId, 2)).toMatchObject([
      { message: "a short é", level: "error", service: "checkout", attrs: { order: "17" } },
      { message: `b ${long}`, level: "info", attrs: { full } },
    ]);
  },
);

test("clients that can set no header deliver over HTTP: the token in the address, packed as graypy packs", async () => {
  const message = '{"version":"1.0","host":"web-1","short_message":"from graypy","level":3}';
  const response = await fetch(`${suite.server.url}/gelf?token=${suite.tenant.token}`, {
    method: "POST",
    headers: { "content-encoding": "gzip,deflate" },
    body: new Uint8Array(deflateSync(message)),
  });
  expect(response.status).toBe(202);
  expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([
    { message: "from graypy", level: "error", host: "web-1" },
  ]);
});

test("a message over HTTP is answered with 202, and one that cannot be read is kept", async () => {
  const post = (body: string): Promise<Response> =>
    fetch(`${suite.server.url}/gelf`, {
      method: "POST",
      headers: { authorization: `Basic ${Buffer.from(`u:${suite.tenant.token}`).toString("base64")}` },
      body,
    });
  expect((await post('{"version":"1.1","host":"web-1","short_message":"m","level":4}')).status).toBe(202);
  expect((await post("nonsense")).status).toBe(202);
  expect((await post("")).status).toBe(400);
  expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([
    { message: "m", level: "warn", host: "web-1" },
  ]);
  expect(await suite.server.quarantined(suite.tenant.organizationId)).toBe(1);
});

test("over TLS a sender that knows the certificate is served, and one without TLS harms nobody", async () => {
  const tls = makeCertificate();
  if (tls === null) return;
  const { tcp } = await open(tls);
  connect(tcp, HOST).end('{"short_message":"in the clear"}\0');
  const socket = connectTls({ host: HOST, port: tcp, ca: tls.cert, servername: "localhost" });
  await once(socket, "secureConnect");
  socket.end('{"short_message":"encrypted"}\0');
  expect(await suite.server.stored(suite.tenant.organizationId, 1)).toMatchObject([{ message: "encrypted" }]);
});
