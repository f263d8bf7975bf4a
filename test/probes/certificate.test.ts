import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { join } from "node:path";
import { createServer, type TlsOptions } from "node:tls";
import { createGuardedFetch } from "../../src/outbound/guarded-fetch.ts";
import { OutboundPolicy } from "../../src/outbound/outbound-policy.ts";
import type { CheckSpec, RunCheck } from "../../src/probes/check.ts";
import { eventually } from "../harness/eventually.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";
import { type ServerCertificate, selfSigned, TestAuthority } from "./certificates.ts";
import { checking, type LoopbackServer, listen, listening, specOf, verdict } from "./checking.ts";

const DAY_MS = 86_400_000;
const inDays = (days: number): Date => new Date(Date.now() + days * DAY_MS);

/** Each server by what is wrong with its certificate, and what a check says of it. */
const SAID = {
  good: "up",
  expired: "down certificate_expired",
  future: "down certificate_not_yet_valid",
  "wrong name": "down certificate_wrong_name",
  "self-signed": "down certificate_self_signed",
  "self-signed and expired": "down certificate_expired",
  untrusted: "down certificate_untrusted",
} as const;
type Kind = keyof typeof SAID | "near expiry";

let run: RunCheck;
let trusted: string;
const servers = new Map<Kind, LoopbackServer>();
const portOf = (kind: Kind): number => servers.get(kind)?.port ?? 0;

async function serve(options: TlsOptions): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  const server = createServer(options, (socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  return listening(server, sockets);
}

beforeAll(async () => {
  const authority = await TestAuthority.create("trusted by the test");
  const stranger = await TestAuthority.create("trusted by nobody");
  const past = { notBefore: inDays(-30), notAfter: inDays(-1) };
  const certificates: Record<Kind, ServerCertificate> = {
    good: await authority.issue(),
    expired: await authority.issue(past),
    future: await authority.issue({ notBefore: inDays(2) }),
    "wrong name": await authority.issue({ names: ["other.example"] }),
    "self-signed": await selfSigned(),
    "self-signed and expired": await selfSigned(past),
    untrusted: await stranger.issue(),
    "near expiry": await authority.issue({ notAfter: inDays(10) }),
  };
  for (const kind of ["near expiry", "good", ...Object.keys(SAID)] as Kind[])
    if (!servers.has(kind)) servers.set(kind, await serve(certificates[kind]));
  trusted = authority.cert;
  run = checking({ authorities: [trusted] });
});
afterAll(async () => {
  for (const server of servers.values()) await server.close();
});

const sslOf = async (kind: Kind, given: Partial<CheckSpec> = {}): Promise<string> =>
  verdict(await run(specOf({ type: "ssl", url: "localhost", port: portOf(kind), ...given })));

const kinds = Object.keys(SAID) as (keyof typeof SAID)[];

describe("a certificate that is", () => {
  test.each(kinds)("%s is told of as that, by name and by address", async (kind) => {
    expect(await sslOf(kind)).toBe(SAID[kind]);
    expect(await sslOf(kind, { url: "127.0.0.1" })).toBe(SAID[kind]);
  });

  test.each(kinds)(
    "%s is told of in the same way by a check of https, which sends nothing then",
    async (kind) => {
      const spec = specOf({ type: "https", url: `https://localhost:${portOf(kind)}/` });
      const outcome = await run(spec);
      expect(verdict(outcome)).toBe(SAID[kind]);
      expect(outcome.statusCode).toBe(kind === "good" ? 200 : null);
      expect(verdict(await run({ ...spec, tlsSkipVerify: true }))).toBe("up");
    },
  );

  test("about to expire is degraded for as many days as were set, and of https only told", async () => {
    expect(await sslOf("near expiry")).toBe("degraded certificate_expires_soon");
    expect(await sslOf("near expiry", { expiryWarnDays: 9 })).toBe("up");
    const outcome = await run(specOf({ type: "https", url: `https://localhost:${portOf("near expiry")}/` }));
    expect(verdict(outcome)).toBe("up");
    const days = ((outcome.certificateNotAfter ?? 0) - Date.now()) / DAY_MS;
    expect(Math.round(days)).toBe(10);
  });
});

test("the times of a handshake are told", async () => {
  const { phases } = await run(specOf({ type: "ssl", url: "localhost", port: portOf("good") }));
  expect(Math.min(phases.dnsMs, phases.connectMs, phases.tlsMs)).toBeGreaterThan(0);
});

test("who NODE_EXTRA_CA_CERTS names is trusted, and nobody else who is unknown", async () => {
  using folder = temporaryDirectory();
  const file = join(folder.path, "authority.pem");
  await Bun.write(file, trusted);
  const script = `
    import { checking, specOf, verdict } from "./test/probes/checking.ts";
    const said = async (port) => verdict(await checking()(specOf({ type: "ssl", url: "localhost", port })));
    console.log([await said(${portOf("good")}), await said(${portOf("untrusted")})].join());
  `;
  const child = Bun.spawn([process.execPath, "-e", script], {
    cwd: join(import.meta.dir, "../.."),
    env: { ...process.env, NODE_EXTRA_CA_CERTS: file },
    stdout: "pipe",
  });
  expect((await child.stdout.text()).trim()).toBe("up,down certificate_untrusted");
});

test("a request of the server's own is not sent to who shows no good certificate", async () => {
  const send = createGuardedFetch(new OutboundPolicy({ allow: ["127.0.0.1", "::1"], allowPrivate: false }));
  for (const kind of [...kinds, "near expiry"] as const) {
    const sent = send(`https://localhost:${portOf(kind)}/`, { timeoutMs: 60_000, maxBytes: 1_000 });
    await expect(sent).rejects.toMatchObject({ failure: "unreachable" });
  }
});

describe("a server that does not begin TLS", () => {
  const said = async (take: (socket: Socket) => void, timeoutMs = 30_000): Promise<string> => {
    const server = await listen(take);
    const outcome = await run(specOf({ type: "ssl", url: "localhost", port: server.port, timeoutMs }));
    await eventually("the connection is closed", () => server.sockets.size === 0);
    await server.close();
    return verdict(outcome);
  };

  test("speaks something else", async () => {
    expect(await said((socket) => socket.write("220 mail.example ESMTP\r\n"))).toBe("down tls_failed");
  });
  test("hangs up", async () => {
    expect(await said((socket) => socket.once("data", () => socket.end()))).toBe("down connection_reset");
    expect(await said((socket) => socket.once("data", () => socket.resetAndDestroy()))).toBe(
      "down connection_reset",
    );
  });
  test("says nothing", async () => {
    expect(await said(() => undefined, 300)).toBe("down timeout");
  });
  test("shows a certificate that cannot be read", async () => {
    expect(await said((socket) => socket.once("data", () => socket.write(unreadableHandshake())))).toBe(
      "down tls_failed",
    );
  });
});

/** A server's hello of TLS 1.2, and a certificate message whose certificate is no certificate. */
function unreadableHandshake(): Uint8Array {
  const random = new Uint8Array(32).fill(7);
  const hello = Buffer.concat([Buffer.from([3, 3]), random, Buffer.from([0, 0xc0, 0x2f, 0])]);
  const junk = Buffer.from("this is no certificate at all");
  const length = (bytes: number): Buffer => Buffer.from([0, bytes >> 8, bytes & 255]);
  const list = Buffer.concat([length(junk.length), junk]);
  const certificates = Buffer.concat([length(list.length), list]);
  const message = (type: number, content: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from([type]), length(content.length), content]);
  const record = (content: Uint8Array): Buffer =>
    Buffer.concat([Buffer.from([22, 3, 3, content.length >> 8, content.length & 255]), content]);
  return Buffer.concat([record(message(2, hello)), record(message(11, certificates))]);
}
