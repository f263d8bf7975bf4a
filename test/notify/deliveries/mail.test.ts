import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import type { Target } from "../../../src/notify/channels/target.ts";
import { PAUSES_MS } from "../../../src/notify/deliveries/limits.ts";
import { smtpServerOf, smtpTransport } from "../../../src/notify/mail/smtp-transport.ts";
import { type MailPeer, type MailPeerBehaviour, openMailPeer } from "../mail/mail-peer.ts";
import { Outbox } from "./outbox-fixture.ts";

const outbox = new Outbox();

const peers: MailPeer[] = [];
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
  for (const server of servers.splice(0)) server.close();
});

async function openPeer(behaviour: MailPeerBehaviour = {}): Promise<MailPeer> {
  const peer = await openMailPeer(behaviour);
  peers.push(peer);
  return peer;
}

function mailTo(name: string): Target {
  return { channel: "email", address: `${name}@example.com` };
}

describe("mails of an incident", () => {
  test("are shown together by mail programs, and apart from those of others", async () => {
    const peer = await openPeer();
    const [first, second] = [await outbox.makeIncident(), await outbox.makeIncident()];
    await outbox.tell("opened", [mailTo("ops")], { incidentId: first });
    await outbox.tell("resolved", [mailTo("ops")], { incidentId: first });
    await outbox.tell("another", [mailTo("ops")], { incidentId: second });
    await outbox.tell("of none", [mailTo("ops")]);
    await outbox.instance({ smtpUrl: peer.url }).sendDue();
    const by = new Map(peer.received.map(({ mail }) => [mail.subject, mail]));
    const thread = by.get("opened")?.references;
    expect(thread).toMatch(/^<incident_[0-9a-f]{24}@example\.com>$/);
    expect(by.get("resolved")).toMatchObject({ references: thread ?? "", inReplyTo: thread ?? "" });
    expect(by.get("another")?.references).not.toBe(thread);
    expect(by.get("of none")?.references).toBeUndefined();
    expect(new Set(peer.received.map(({ mail }) => mail.messageId)).size).toBe(4);
  });
});

describe("a mail server", () => {
  test("that greylists gets the same mail again, and takes it", async () => {
    let attempts = 0;
    const peer = await openPeer({
      refuseRecipient: () =>
        ++attempts === 1 ? { code: 451, message: "greylisted, come back later" } : null,
    });
    await outbox.tell("opened", [mailTo("ops")]);
    const { sendDue } = outbox.instance({ smtpUrl: peer.url });
    await sendDue();
    const [waiting] = await outbox.rows();
    expect(waiting).toMatchObject({ state: "pending", attempts: 1 });
    expect(waiting?.due_in_sec).toBeLessThan((PAUSES_MS.email[0] ?? 0) * 1.3);
    await outbox.passTime();
    await sendDue();
    expect(peer.received.map(({ mail }) => mail.subject)).toEqual(["opened"]);
    expect(await outbox.rows()).toMatchObject([{ state: "delivered", attempts: 2 }]);
  });

  test("that refuses one recipient of three is told of the other two, and that one is given up", async () => {
    const peer = await openPeer({
      refuseRecipient: (address) =>
        address.startsWith("ben") ? { code: 550, message: "no such user here" } : null,
    });
    await outbox.tell("opened", ["ana", "ben", "cleo"].map(mailTo));
    await outbox.instance({ smtpUrl: peer.url }).sendDue();
    expect(peer.received.flatMap(({ recipients }) => recipients).toSorted()).toEqual([
      "ana@example.com",
      "cleo@example.com",
    ]);
    const states = (await outbox.rows()).map(({ state, last_error }) => [state, last_error]);
    expect(states).toEqual([
      ["delivered", null],
      ["failed", "The mail server refuses the recipient."],
      ["delivered", null],
    ]);
  });

  test.each(["220", "EHLO", "MAIL", "RCPT", "DATA", "."])(
    "that hangs at %p is left alone when the time of an attempt is over",
    async (step) => {
      const gone = Promise.withResolvers<void>();
      const port = await openHangingAt(step, gone.resolve);
      const transport = smtpTransport(smtpServerOf(`smtp://127.0.0.1:${port}`), "obs@example.com");
      const message = { to: "ops@example.com", subject: "s", text: "t", html: "h", link: null };
      const outcome = await transport.send(message, "msg_1", AbortSignal.timeout(100)).then(
        () => "sent",
        () => "given up",
      );
      expect(outcome).toBe("given up");
      await gone.promise;
    },
  );
});

/** A mail server that says nothing any more when it comes to a step; answers its port. */
async function openHangingAt(step: string, onGone: () => void): Promise<number> {
  const answer = (socket: Socket, line: string, isBody: boolean): boolean => {
    if (step === (isBody ? line : line.slice(0, 4))) return isBody;
    if (isBody && line !== ".") return true;
    socket.write(line === "DATA" ? "354 go on\r\n" : "250 fine\r\n");
    return line === "DATA";
  };
  const server = createServer((socket) => {
    let isBody = false;
    socket.on("error", () => undefined).on("close", onGone);
    socket.on("data", (chunk) => {
      for (const line of chunk
        .toString()
        .split("\r\n")
        .filter((each) => each !== ""))
        isBody = answer(socket, line, isBody);
    });
    if (step !== "220") socket.write("220 here\r\n");
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}
