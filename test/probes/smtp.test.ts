import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { SMTPServer } from "smtp-server";
import type { CheckSpec, RunCheck } from "../../src/probes/check.ts";
import { eventually } from "../harness/eventually.ts";
import { type ServerCertificate, selfSigned, TestAuthority } from "./certificates.ts";
import { checking, listen, specOf, verdict } from "./checking.ts";

let run: RunCheck;
let good: ServerCertificate;
let expired: ServerCertificate;
let own: ServerCertificate;

beforeAll(async () => {
  const authority = await TestAuthority.create("of mail");
  good = await authority.issue();
  expired = await authority.issue({ notBefore: new Date(0), notAfter: new Date(86_400_000) });
  own = await selfSigned();
  run = checking({ authorities: [authority.cert] });
});

const opened: SMTPServer[] = [];
afterAll(async () => {
  for (const server of opened) await new Promise<void>((closed) => server.close(() => closed()));
});

/** A real mail server; answers its port. */
async function serve(options: ConstructorParameters<typeof SMTPServer>[0]): Promise<number> {
  const server = new SMTPServer({ authOptional: true, closeTimeout: 1, ...options });
  server.on("error", () => undefined);
  opened.push(server);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.server.address();
  return address !== null && typeof address === "object" ? address.port : 0;
}

const smtpOf = async (port: number, given: Partial<CheckSpec> = {}): Promise<string> =>
  verdict(await run(specOf({ type: "smtp", url: "localhost", port, ...given })));

describe("a mail server", () => {
  test("that greets and takes EHLO is up, without TLS", async () => {
    expect(await smtpOf(await serve({ disabledCommands: ["STARTTLS"] }))).toBe("up");
  });

  test("that offers STARTTLS is up by a good certificate, whose end is told", async () => {
    const outcome = await run(specOf({ type: "smtp", url: "localhost", port: await serve(good) }));
    expect([verdict(outcome), outcome.certificateNotAfter !== null]).toEqual(["up", true]);
  });

  test("that offers STARTTLS with another certificate is down, unless that is skipped", async () => {
    const late = await serve(expired);
    const selfMade = await serve(own);
    expect(await smtpOf(late)).toBe("down certificate_expired");
    expect(await smtpOf(selfMade)).toBe("down certificate_self_signed");
    expect(await smtpOf(selfMade, { tlsSkipVerify: true })).toBe("up");
  });

  test("that begins with TLS is up, with the same judgement", async () => {
    const port = await serve({ ...good, secure: true });
    const late = await serve({ ...expired, secure: true });
    expect(await smtpOf(port, { url: "smtps://localhost" })).toBe("up");
    expect(await smtpOf(late, { url: "smtps://localhost" })).toBe("down certificate_expired");
  });

  test("that turns everybody away is down", async () => {
    const port = await serve({ onConnect: (_session, done) => done(new Error("go away")) });
    expect(await smtpOf(port)).toBe("down smtp_refused");
  });
});

/** Says its lines, one to each of the client's, and then nothing more. */
const saying = (...lines: readonly string[]) => {
  return (socket: Socket): void => {
    const left = [...lines];
    const next = (): void => {
      const line = left.shift();
      if (line !== undefined) socket.write(line);
    };
    next();
    socket.on("data", next);
  };
};

const GREETING = "220 mail.example ESMTP\r\n";
const OFFER = "250-mail.example\r\n250 STARTTLS\r\n";

describe("a mail server that hangs", () => {
  test.each([
    ["before it greets", []],
    ["in its greeting", ["220-mail"]],
    ["at EHLO", [GREETING]],
    ["in its answer to EHLO", [GREETING, "250-mail.example\r\n"]],
    ["at STARTTLS", [GREETING, OFFER]],
    ["in the handshake", [GREETING, OFFER, "220 go ahead\r\n"]],
  ])("%s is down by our deadline, and the connection is closed", async (_step, lines) => {
    const server = await listen(saying(...lines));
    expect(await smtpOf(server.port, { timeoutMs: 300 })).toBe("down timeout");
    await eventually("the connection is closed", () => server.sockets.size === 0);
    await server.close();
  });

  test("at QUIT is up: it has shown what it should", async () => {
    const server = await listen(saying(GREETING, "250 mail.example\r\n"));
    expect(await smtpOf(server.port)).toBe("up");
    await eventually("the connection is closed", () => server.sockets.size === 0);
    await server.close();
  });
});

describe("what is no mail server, or one that fails,", () => {
  test.each([
    ["greets with a refusal", ["554 no\r\n"], "down smtp_refused"],
    ["greets as something else", ["SSH-2.0-x\r\n"], "down smtp_refused"],
    ["refuses EHLO and HELO", [GREETING, "502 no\r\n", "502 no\r\n"], "down smtp_refused"],
    ["offers STARTTLS and refuses it", [GREETING, OFFER, "454 not now\r\n"], "down smtp_refused"],
    [
      "offers STARTTLS and speaks something else then",
      [GREETING, OFFER, "220 go\r\n", "hello\r\n"],
      "down tls_failed",
    ],
  ])("%s", async (_what, lines, said) => {
    const server = await listen(saying(...lines));
    expect(await smtpOf(server.port)).toBe(said);
    await server.close();
  });

  test("never ends its line", async () => {
    const server = await listen((socket) => {
      const timer = setInterval(() => socket.write("2".repeat(16_384)), 1);
      socket.on("close", () => clearInterval(timer));
    });
    expect(await smtpOf(server.port)).toBe("down smtp_refused");
    await server.close();
  });

  test("hangs up", async () => {
    const server = await listen((socket) => socket.end());
    expect(await smtpOf(server.port)).toBe("down connection_reset");
    await server.close();
    expect(await smtpOf(1)).toBe("down connection_refused");
  });
});
