import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** What happens to one stream. */
interface StreamFault {
  /** The connection breaks once so many bytes were sent. */
  readonly breakAfterBytes?: number;
  /** Entries before the asked position that are sent again. */
  readonly overlap?: number;
  /** Nothing is sent after the head, and the connection stays. */
  readonly isSilent?: boolean;
  /** Sent before anything else. */
  readonly preface?: string;
  /** The stream ends behind the preface. */
  readonly endsAfterPreface?: boolean;
  /** An answer instead of the stream. */
  readonly refuse?: { readonly status: number; readonly code: string };
}

/** A small server of the tail contract over entries in memory, and whatever goes wrong on the way. */
export interface TailPeer extends AsyncDisposable {
  readonly url: string;
  /** Bodies of the sessions that were asked for. */
  readonly sessions: readonly unknown[];
  /** `Last-Event-ID` of each stream that was asked for, empty where there was none. */
  readonly resumedFrom: readonly string[];
  /** Called for each stream with its number, from 1. */
  fault: (stream: number) => StreamFault;
  /** Called for each session with its number, from 1: what to refuse it with. */
  refuseSession: (session: number) => { status: number; code: string; fields?: readonly object[] } | null;
  append(...messages: readonly string[]): void;
  /** Every token becomes unknown. */
  forgetSessions(): void;
  /** Sends a text on every open stream and ends it. */
  endStreams(text: string): void;
  /** Breaks every connection. */
  disconnect(): void;
}

const CHUNK_BYTES = 7;

export async function startTailPeer(): Promise<TailPeer> {
  const entries: string[] = [];
  const sessions: unknown[] = [];
  const resumedFrom: string[] = [];
  const tokens = new Set<string>();
  const wake = new Set<() => void>();
  const sockets = new Set<Socket>();
  const open = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const disconnect = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const peer: TailPeer & { url: string } = {
    url: "",
    sessions,
    resumedFrom,
    fault: () => ({}),
    refuseSession: () => null,
    append: (...messages: readonly string[]) => {
      entries.push(...messages);
      for (const waiting of wake) waiting();
    },
    forgetSessions: () => tokens.clear(),
    endStreams: (text) => {
      for (const response of open) response.end(text);
    },
    disconnect,
    [Symbol.asyncDispose]: async () => {
      disconnect();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://peer");
    if (url.pathname === "/api/v1/logs/tail/session") return openSession(request, response);
    const fault = peer.fault(resumedFrom.push(String(request.headers["last-event-id"] ?? "")));
    if (fault.refuse !== undefined) return refuse(response, fault.refuse);
    if (!tokens.has(url.searchParams.get("token") ?? ""))
      return refuse(response, { status: 401, code: "UNAUTHENTICATED" });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    open.add(response);
    response.once("close", () => open.delete(response));
    await stream(request, response, fault);
  }

  async function openSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const number = sessions.push(JSON.parse(Buffer.concat(chunks).toString()));
    const refusal = peer.refuseSession(number);
    if (refusal !== null) return refuse(response, refusal);
    const token = crypto.randomUUID();
    tokens.add(token);
    response.writeHead(201, { "content-type": "application/json" });
    response.end(JSON.stringify({ token, expiresAt: new Date().toISOString() }));
  }

  async function stream(
    request: IncomingMessage,
    response: ServerResponse,
    fault: StreamFault,
  ): Promise<void> {
    if (fault.isSilent === true) return;
    const asked = String(request.headers["last-event-id"] ?? entries.length);
    let position = Math.max(0, Number(asked) - (fault.overlap ?? 0));
    let left = fault.breakAfterBytes ?? Number.POSITIVE_INFINITY;
    const send = (text: string): void => {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length && left > 0; at += CHUNK_BYTES) {
        const chunk = bytes.subarray(at, Math.min(at + CHUNK_BYTES, at + left));
        left -= chunk.length;
        response.write(chunk);
      }
      if (left <= 0) request.socket.end();
    };
    send(fault.preface ?? `retry: 1\nid: ${asked}\n\n`);
    if (fault.endsAfterPreface === true) {
      response.end();
      return;
    }
    while (!response.writableEnded && !response.destroyed && left > 0) {
      while (position < entries.length) {
        const message = entries[position++] ?? "";
        send(`event: log\nid: ${position}\ndata: ${entryText(position, message)}\n\n`);
      }
      await new Promise<void>((resolve) => {
        wake.add(resolve);
        response.once("close", resolve);
      });
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the peer has no port");
  peer.url = `http://127.0.0.1:${address.port}`;
  return peer;
}

function refuse(response: ServerResponse, { status, code, ...more }: { status: number; code: string }): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: `refused with ${status}`, code, ...more }));
}

function entryText(id: number, message: string): string {
  const entry = { id: String(id), ts: "2026-01-02T03:04:05.678Z", level: "info", service: "peer", message };
  return JSON.stringify({ ...entry, attrs: { n: id } });
}
