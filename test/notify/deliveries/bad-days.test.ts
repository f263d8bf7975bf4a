/** Receivers on their worst days: each is a real server, and none keeps a delivery for ever or loses it silently. */
import { afterEach, describe, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import type { Target } from "../../../src/notify/channels/target.ts";
import { attempt } from "../../../src/notify/deliveries/attempt.ts";
import { JITTER, PAUSES_MS, RETRY_AFTER_MAX_MS } from "../../../src/notify/deliveries/limits.ts";
import { smtpServerOf, smtpTransport } from "../../../src/notify/mail/smtp-transport.ts";
import { mintWebhookSecret } from "../../../src/notify/webhook-signature.ts";
import { createGuardedFetch } from "../../../src/outbound/guarded-fetch.ts";
import { OutboundPolicy } from "../../../src/outbound/outbound-policy.ts";
import { eventually } from "../../harness/eventually.ts";
import { hook, notificationOf, Outbox } from "./outbox-fixture.ts";

const HOUR_SEC = 3_600;
const outbox = new Outbox();

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** What a server says, a piece at a time and with nothing behind the last; `over and over` begins again with the second. */
interface Saying {
  readonly pieces: readonly string[];
  readonly everyMs?: number;
  readonly isEndless?: boolean;
}

/** A server that reads what it is sent and then says what it does. */
async function openPeer({ pieces, everyMs = 5, isEndless = false }: Saying) {
  const gone = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    sockets.push(socket);
    let said = 0;
    const timer = setInterval(() => {
      const piece = pieces[said];
      if (piece === undefined) return;
      socket.write(piece);
      said = said + 1 === pieces.length && isEndless ? 1 : said + 1;
    }, everyMs);
    socket
      .on("error", () => undefined)
      .on("data", () => undefined)
      .on("close", () => {
        clearInterval(timer);
        gone.resolve();
      });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const target: Target = { channel: "webhook", url: `http://127.0.0.1:${address.port}/` };
  return { target, gone: gone.promise };
}

const STATUS_LINE = "HTTP/1.1 200 OK\r\n";
const HANGING: [string, Saying][] = [
  ["after the connection is accepted", { pieces: [] }],
  ["within the status line", { pieces: ["HTTP/1.1 2"] }],
  ["after the status line", { pieces: [STATUS_LINE] }],
  ["within its headers", { pieces: [`${STATUS_LINE}content-len`] }],
  ["after its headers, with a body announced", { pieces: [`${STATUS_LINE}content-length: 9\r\n\r\n`] }],
  ["within its body", { pieces: [`${STATUS_LINE}content-length: 9\r\n\r\n123`] }],
  ["within a chunk", { pieces: [`${STATUS_LINE}transfer-encoding: chunked\r\n\r\n5\r\nab`] }],
  ["after interim answers", { pieces: ["HTTP/1.1 103 Early Hints\r\n\r\n"] }],
];
const TRICKLING: [string, Saying][] = [
  ["with headers that trickle in", { pieces: [STATUS_LINE, "x: y\r\n"], everyMs: 20, isEndless: true }],
  [
    "with a body that trickles in",
    {
      pieces: [`${STATUS_LINE}transfer-encoding: chunked\r\n\r\n`, "1\r\nx\r\n"],
      everyMs: 20,
      isEndless: true,
    },
  ],
  [
    "saying nothing but that it goes on",
    {
      pieces: ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n"],
      everyMs: 20,
      isEndless: true,
    },
  ],
];

/** One attempt, by a sender that has less patience than ours and is the same besides. */
async function attemptSoonOver(target: Target, timeoutMs: number) {
  const guarded = createGuardedFetch(new OutboundPolicy({ allow: ["127.0.0.1"], allowPrivate: false }));
  const fetch: typeof guarded = (url, request) => guarded(url, { ...request, timeoutMs });
  const context = {
    ...{ id: "msg_1", thread: null, nowMs: Date.now(), secrets: [mintWebhookSecret()] },
    endpoints: { chatD: "", pagingA: "", pagingB: "", sms: null, voice: null },
  };
  const mail = smtpTransport(smtpServerOf("smtp://127.0.0.1:1"), "obs@example.com");
  const ways = { mail, fetch, fetchOperators: fetch };
  return attempt(target, notificationOf("down"), context, ways, new AbortController().signal);
}

describe("a webhook", () => {
  test.each([...HANGING, ...TRICKLING])(
    "that hangs %s is left alone when the time of an attempt is over, and tried again",
    async (_where, saying) => {
      const { target, gone } = await openPeer(saying);
      const outcome = await attemptSoonOver(target, 150);
      expect(outcome).toMatchObject({ kind: "failed", error: "The host did not answer in time." });
      // Nothing of ours stays with it.
      await gone;
    },
  );

  test.each([
    ["in chunks", `${STATUS_LINE}transfer-encoding: chunked\r\n\r\n`, `4000\r\n${"x".repeat(0x4000)}\r\n`],
    ["without a length", `${STATUS_LINE}\r\n`, "x".repeat(0x4000)],
  ])(
    "that has it and answers with a body without end, %s, is cut off and not told again",
    async (_how, head, more) => {
      const { target, gone } = await openPeer({ pieces: [head, more], everyMs: 1, isEndless: true });
      await outbox.tell("x", [target]);
      await outbox.instance().sendDue();
      expect(await outbox.rows()).toMatchObject([{ state: "delivered", attempts: 1, last_code: 200 }]);
      await gone;
    },
  );

  test("that refuses it with a body without end is given up all the same", async () => {
    const pieces = ["HTTP/1.1 410 Gone\r\n\r\n", "x".repeat(0x4000)];
    const { target, gone } = await openPeer({ pieces, everyMs: 1, isEndless: true });
    await outbox.tell("x", [target]);
    await outbox.instance().sendDue();
    expect(await outbox.rows()).toMatchObject([{ state: "failed", attempts: 1, last_code: 410 }]);
    await gone;
  });

  test("whose answer has no end of its headers is cut off, and tried again", async () => {
    const pieces = [STATUS_LINE, `x: ${"y".repeat(0x4000)}\r\n`];
    const { target, gone } = await openPeer({ pieces, everyMs: 1, isEndless: true });
    await outbox.tell("x", [target]);
    await outbox.instance().sendDue();
    expect(await outbox.rows()).toMatchObject([{ state: "pending", attempts: 1, last_code: null }]);
    await gone;
  });

  test("that answers 500 for an hour is asked with pauses that grow, and hears it when that is over", async () => {
    let isDown = true;
    const hears = outbox.receiver(() => new Response(null, { status: isDown ? 500 : 204 }));
    await outbox.tell("x", [hook(hears)]);
    const { sendDue } = outbox.instance();
    const pausesSec: number[] = [];
    while (isDown) {
      await sendDue();
      const [row] = await outbox.rows();
      expect(row).toMatchObject({ state: "pending", last_code: 500 });
      pausesSec.push(row?.due_in_sec ?? 0);
      isDown = pausesSec.reduce((sum, pause) => sum + pause, 0) < HOUR_SEC;
      await outbox.passTime();
    }
    expect(pausesSec.length).toBeLessThan(8);
    for (const [nth, pauseSec] of pausesSec.entries()) {
      const longest = ((PAUSES_MS.webhook[nth] ?? 0) / 1000) * (1 + JITTER);
      expect(pauseSec).toBeLessThanOrEqual(longest);
    }
    await sendDue();
    expect(await outbox.rows()).toMatchObject([
      { state: "delivered", attempts: pausesSec.length + 1, last_error: null },
    ]);
  });

  test("that never answers anything else is given up after its last attempt, where everybody can see it", async () => {
    const hears = outbox.receiver(() => new Response(null, { status: 500 }));
    await outbox.tell("x", [hook(hears)]);
    const { sendDue } = outbox.instance();
    for (const _ of [...PAUSES_MS.webhook, "the last one", "one too many"]) {
      await sendDue();
      await outbox.passTime();
    }
    expect(hears.received).toHaveLength(PAUSES_MS.webhook.length + 1);
    expect(await outbox.rows()).toMatchObject([
      { state: "failed", last_code: 500, last_error: "The receiver answered 500." },
    ]);
  });

  test("that asks for a day at every attempt gets half of one, and no more attempts than another", async () => {
    const hears = outbox.receiver(
      () => new Response(null, { status: 429, headers: { "retry-after": String(24 * HOUR_SEC) } }),
    );
    await outbox.tell("x", [hook(hears)]);
    const { sendDue } = outbox.instance();
    for (const _ of PAUSES_MS.webhook) {
      await sendDue();
      const [row] = await outbox.rows();
      expect(row?.state).toBe("pending");
      expect(row?.due_in_sec).toBeLessThanOrEqual((RETRY_AFTER_MAX_MS / 1000) * (1 + JITTER));
      await outbox.passTime();
    }
    await sendDue();
    expect(await outbox.rows()).toMatchObject([{ state: "failed", last_code: 429 }]);
  });

  test("whose date to come back lies behind, by a clock that was set, waits as long as after any failure", async () => {
    const nowMs = Date.now();
    const hears = outbox.receiver(
      () =>
        new Response(null, {
          status: 503,
          headers: { "retry-after": new Date(nowMs - 3 * HOUR_SEC * 1000).toUTCString() },
        }),
    );
    await outbox.tell("x", [hook(hears)]);
    await outbox.instance({ now: () => nowMs }).sendDue();
    const [row] = await outbox.rows();
    expect(row).toMatchObject({ state: "pending" });
    expect(row?.due_in_sec).toBeLessThanOrEqual(((PAUSES_MS.webhook[0] ?? 0) / 1000) * (1 + JITTER));
  });

  test.each(["http://169.254.169.254/latest", "http://10.0.0.1/", "http://[::1]/", "file:///etc/passwd"])(
    "that redirects to %s is given up, and nobody goes there",
    async (location) => {
      const hears = outbox.receiver(() => new Response(null, { status: 307, headers: { location } }));
      await outbox.tell("x", [hook(hears)]);
      await outbox.instance().sendDue();
      const [row] = await outbox.rows();
      expect(row).toMatchObject({ state: "failed", attempts: 1, last_code: 307 });
      expect(row?.last_error).not.toContain(location);
    },
  );
});

describe("the clock of a server", () => {
  test.each([-5, 5])(
    "that is set by %d hours between two attempts changes nothing of when the next one is due",
    async (hours) => {
      let offsetMs = 0;
      const hears = outbox.receiver((_received, nth) => new Response(null, { status: nth < 3 ? 503 : 204 }));
      await outbox.tell("x", [hook(hears)]);
      const { sendDue, sender } = outbox.instance({ now: () => Date.now() + offsetMs });
      await sendDue();
      offsetMs = hours * HOUR_SEC * 1000;
      await sendDue();
      expect(hears.received).toHaveLength(1);
      const [row] = await outbox.rows();
      expect(row?.due_in_sec).toBeLessThanOrEqual(((PAUSES_MS.webhook[0] ?? 0) / 1000) * (1 + JITTER));
      await outbox.passTime();
      await sendDue();
      await outbox.passTime();
      sender.start();
      await eventually("it is told", async () => (await outbox.rows())[0]?.state === "delivered" || null);
    },
  );
});
