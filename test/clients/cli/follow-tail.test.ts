import { expect, test } from "bun:test";
import fc from "fast-check";
import { ApiClient } from "../../../clients/api/client.ts";
import { CliError } from "../../../clients/cli/cli-error.ts";
import { followTail, type TailEvent } from "../../../clients/cli/tail/follow-tail.ts";
import { startTailPeer } from "./tail-peer.ts";

interface Watched extends AsyncDisposable {
  readonly messages: string[];
  readonly told: Exclude<TailEvent, { kind: "entries" }>[];
  readonly waits: number[];
  /** Resolves when the condition holds; rejects with what ended the tail. */
  until(holds: () => boolean): Promise<void>;
  /** Rejects with what ended the tail. */
  readonly ended: Promise<never>;
}

/** Follows a peer's tail, without waiting where it says to wait. */
function watch(peer: { readonly url: string }, { silenceMs = 10_000 } = {}): Watched {
  const messages: string[] = [];
  const told: Watched["told"] = [];
  const waits: number[] = [];
  const changed = new EventTarget();
  const closing = Promise.withResolvers<never>();
  let nowMs = 0;
  const events = followTail({
    api: new ApiClient({ baseUrl: peer.url, token: "t", fetch }),
    filter: { q: "word", level: "info" },
    silenceMs,
    monotonicMs: () => nowMs,
    sleep: async (ms) => {
      waits.push(ms);
      nowMs += ms;
      await new Promise(setImmediate);
    },
    random: () => 0.5,
  });
  const run = async (): Promise<never> => {
    for (;;) {
      const { value } = await Promise.race([events.next(), closing.promise]);
      if (value.kind === "entries") messages.push(...value.entries.map(({ message }) => String(message)));
      else told.push(value);
      changed.dispatchEvent(new Event("change"));
    }
  };
  const ended = run();
  ended.catch(() => undefined);
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) {
      const change = new Promise((resolve) => {
        changed.addEventListener("change", resolve, { once: true });
      });
      await Promise.race([change, ended]);
    }
  };
  return {
    messages,
    told,
    waits,
    until,
    ended,
    [Symbol.asyncDispose]: async () => {
      closing.reject(new Error("the test is over"));
      await ended.catch(() => undefined);
    },
  };
}

function kinds({ told }: Watched): string[] {
  return told.map(({ kind }) => kind);
}

function lines(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `line ${from + i} \u65e5\u672c`);
}

test("every entry is shown once and in order, wherever streams break and however far they overlap", async () => {
  const fault = fc.record({
    breakAfterBytes: fc.integer({ min: 1, max: 900 }),
    overlap: fc.integer({ min: 0, max: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fault, { maxLength: 12 }), async (faults) => {
      await using peer = await startTailPeer();
      await using tail = watch(peer);
      await tail.until(() => tail.told.length === 1);
      peer.append(...lines(0, 1));
      await tail.until(() => tail.messages.length === 1);
      peer.fault = (stream) => faults[stream - 2] ?? { overlap: 3 };
      peer.disconnect();
      for (let sent = 1; sent < 61; sent += 10) {
        peer.append(...lines(sent, sent + 10));
        await tail.until(() => tail.messages.length >= sent + 10);
      }
      expect(tail.messages).toEqual(lines(0, 61));
    }),
    { numRuns: 40 },
  );
});

test("a session is asked for once, with the filter, and survives breaks", async () => {
  await using peer = await startTailPeer();
  await using tail = watch(peer);
  await tail.until(() => tail.told.length === 1);
  peer.append("a");
  await tail.until(() => tail.messages.length === 1);
  peer.disconnect();
  await tail.until(() => tail.told.length === 3);
  peer.append("b");
  await tail.until(() => tail.messages.length === 2);
  expect(peer.sessions).toEqual([{ q: "word", level: "info" }]);
  expect(tail.told).toMatchObject([
    { kind: "open", isResumed: false },
    { kind: "broken" },
    { kind: "open", isResumed: true },
  ]);
  expect(peer.resumedFrom).toEqual(["", "1"]);
});

test("a reader that has seen no entry yet goes on where its stream began", async () => {
  await using peer = await startTailPeer();
  peer.append("before");
  peer.fault = (stream) => {
    if (stream === 1) return { preface: "id: 1\n\n", endsAfterPreface: true };
    return stream < 4 ? { refuse: { status: 503, code: "UNAVAILABLE" } } : {};
  };
  await using tail = watch(peer);
  await tail.until(() => kinds(tail).includes("broken"));
  peer.append("while it was away");
  await tail.until(() => tail.messages.length === 1);
  expect(tail.messages).toEqual(["while it was away"]);
  expect(peer.resumedFrom).toEqual(["", "1", "1", "1"]);
});

test("a new session takes the place of one that is unknown, behind the last entry", async () => {
  await using peer = await startTailPeer();
  await using tail = watch(peer);
  await tail.until(() => tail.told.length === 1);
  peer.append("a");
  await tail.until(() => tail.messages.length === 1);
  peer.forgetSessions();
  peer.disconnect();
  peer.append("b");
  await tail.until(() => tail.messages.length === 2);
  expect(tail.messages).toEqual(["a", "b"]);
  expect(peer.sessions).toHaveLength(2);
  expect(peer.resumedFrom).toEqual(["", "1", "1"]);
});

test("a new session takes the place of one that the stream says has ended", async () => {
  await using peer = await startTailPeer();
  const failure = 'event: error\ndata: {"code":"UNAUTHENTICATED","message":"expired"}\n\n';
  peer.fault = (stream) => (stream === 2 ? { preface: failure, endsAfterPreface: true } : {});
  await using tail = watch(peer);
  await tail.until(() => tail.told.length === 1);
  peer.append("a");
  await tail.until(() => tail.messages.length === 1);
  peer.disconnect();
  await tail.until(() => kinds(tail).filter((kind) => kind === "open").length === 3);
  expect(peer.sessions).toHaveLength(2);
  expect(tail.told).toContainEqual({
    kind: "broken",
    reason: "expired (UNAUTHENTICATED)",
    waitMs: expect.any(Number),
  });
});

test("a session that has worked may be refused later in its first stream", async () => {
  await using peer = await startTailPeer();
  await using tail = watch(peer);
  await tail.until(() => tail.told.length === 1);
  peer.append("a");
  await tail.until(() => tail.messages.length === 1);
  peer.endStreams('event: error\ndata: {"code":"UNAUTHENTICATED"}\n\n');
  peer.append("b");
  await tail.until(() => tail.messages.length === 2);
  expect(peer.sessions).toHaveLength(2);
});

test("a server that stops is come back to with the same session", async () => {
  await using peer = await startTailPeer();
  await using tail = watch(peer);
  await tail.until(() => tail.told.length === 1);
  peer.append("a");
  await tail.until(() => tail.messages.length === 1);
  peer.endStreams('event: end\ndata: {"code":"UNAVAILABLE"}\n\n');
  peer.append("b");
  await tail.until(() => tail.messages.length === 2);
  expect(peer.sessions).toHaveLength(1);
  expect(tail.told[1]).toMatchObject({ kind: "broken", reason: "the server ended the stream (UNAVAILABLE)" });
});

test("a stream that is silent for too long is opened again", async () => {
  await using peer = await startTailPeer();
  peer.fault = (stream) => (stream === 1 ? { isSilent: true } : {});
  await using tail = watch(peer, { silenceMs: 30 });
  await tail.until(() => tail.told.length >= 3);
  expect(tail.told[1]).toMatchObject({ kind: "broken", reason: `${peer.url} has been silent for 0.03 s` });
});

test("comments alone keep a stream open", async () => {
  let comments = 0;
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => {
      if (url.endsWith("session")) return Response.json({ token: "t" }, { status: 201 });
      const body = async function* (): AsyncGenerator<string> {
        for (; comments < 25; comments++) {
          yield ":\n\n";
          await Bun.sleep(100);
        }
        yield 'event: log\ndata: {"message":"at last"}\n\n';
      };
      return new Response(body(), { headers: { "content-type": "text/event-stream; charset=utf-8" } });
    },
  });
  await using tail = watch({ url: server.url.origin }, { silenceMs: 2000 });
  await tail.until(() => tail.messages.length === 1);
  expect({ comments, kinds: kinds(tail) }).toEqual({ comments: 25, kinds: ["open"] });
});

test("entries left out and remarks are told in their place, and the stream goes on", async () => {
  await using peer = await startTailPeer();
  const preface =
    'id: 0\nevent: error\ndata: {"code":"TAIL_GAP_TOO_LARGE","message":"some are missing"}\n\n' +
    'event: dropped\ndata: {"count":7}\n\nevent: dropped\ndata: {"count":8,"reason":"break"}\n\nevent: notice\ndata: {"code":"TAIL_COMPLETE"}\n\n';
  peer.append("a");
  peer.fault = () => ({ preface, overlap: 1 });
  await using tail = watch(peer);
  await tail.until(() => tail.messages.length === 1);
  expect(tail.told.slice(1)).toEqual([
    { kind: "notice", message: "some are missing (TAIL_GAP_TOO_LARGE)" },
    { kind: "dropped", count: 7, isOfBreak: false },
    { kind: "dropped", count: 8, isOfBreak: true },
    { kind: "notice", message: "the server says (TAIL_COMPLETE)" },
  ]);
  expect(peer.resumedFrom).toHaveLength(1);
});

test("waits grow while the server is away, and begin small again after an entry", async () => {
  await using peer = await startTailPeer();
  const refuse = { status: 503, code: "UNAVAILABLE" };
  peer.fault = (stream) =>
    stream % 7 === 1
      ? { preface: `event: log\ndata: {"id":"${stream}"}\n\n`, endsAfterPreface: true }
      : { refuse };
  await using tail = watch(peer);
  await tail.until(() => tail.waits.length >= 9);
  expect(tail.waits.slice(0, 9)).toEqual([75, 150, 300, 600, 1200, 2400, 4800, 75, 150]);
});

test("the server's own wait is kept, spread out", async () => {
  await using peer = await startTailPeer();
  peer.fault = (stream) => (stream === 1 ? { preface: "retry: 8000\n\n", endsAfterPreface: true } : {});
  await using tail = watch(peer);
  await tail.until(() => kinds(tail).includes("broken"));
  expect(tail.waits[0]).toBe(9000);
});

test("what is refused at first ends the tail", async () => {
  await using peer = await startTailPeer();
  peer.refuseSession = () => ({ status: 401, code: "UNAUTHENTICATED" });
  await using unknownToken = watch(peer);
  await expect(unknownToken.ended).rejects.toThrow("UNAUTHENTICATED, 401");
  peer.refuseSession = () => null;
  peer.fault = () => ({ refuse: { status: 403, code: "FORBIDDEN" } });
  await using refusedStream = watch(peer);
  await expect(refusedStream.ended).rejects.toThrow("FORBIDDEN, 403");
  peer.fault = () => ({ preface: 'event: error\ndata: {"code":"FORBIDDEN"}\n\n', endsAfterPreface: true });
  await using failedStream = watch(peer);
  await expect(failedStream.ended).rejects.toThrow("FORBIDDEN");
  expect(peer.sessions).toHaveLength(3);
});

test("a credential that is revoked ends the tail at the next session", async () => {
  await using peer = await startTailPeer();
  await using tail = watch(peer);
  await tail.until(() => tail.told.length === 1);
  peer.refuseSession = () => ({ status: 401, code: "UNAUTHENTICATED" });
  peer.forgetSessions();
  peer.disconnect();
  await expect(tail.ended).rejects.toThrow("UNAUTHENTICATED, 401");
});

test("a server that is not there ends the tail after ten seconds of trying", async () => {
  const peer = await startTailPeer();
  await peer[Symbol.asyncDispose]();
  await using tail = watch(peer);
  await expect(tail.ended).rejects.toThrow(CliError);
  await tail.ended.catch(() => undefined);
  const waitedMs = tail.waits.reduce((sum, ms) => sum + ms, 0);
  expect(waitedMs).toBeGreaterThan(2_000);
  expect(waitedMs).toBeLessThan(10_000);
});

test("another program's answer ends the tail", async () => {
  using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("hello") });
  await using tail = watch({ url: other.url.origin });
  await expect(tail.ended).rejects.toThrow("is this the address of an obs server?");
  await tail.ended.catch(() => undefined);
});
