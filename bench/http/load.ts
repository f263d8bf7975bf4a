/**
 * Asks one URL again and again over kept connections for a while, each connection one request at a time, and prints
 * `{"requests": n, "seconds": s}`. Speaks HTTP over plain sockets, so that the asking costs little beside the answering.
 * Usage: bun bench/http/load.ts URL TOKEN CONNECTIONS MILLISECONDS
 */
import type { Socket } from "bun";

const [target = "", token = "", connections = "32", milliseconds = "3000"] = process.argv.slice(2);
const url = new URL(target);
const request = Buffer.from(
  `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${token}\r\nAccept: application/json\r\n\r\n`,
);
const HEAD_END = Buffer.from("\r\n\r\n");

interface Exchange {
  buffered: Buffer;
}

let answered = 0;
let isOver = false;

/** The length of the first whole answer in the bytes; null while it is incomplete. Throws for one that is not 200. */
function answerLength(bytes: Buffer): number | null {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return null;
  const head = bytes.toString("latin1", 0, headEnd);
  if (!head.startsWith("HTTP/1.1 200")) throw new Error(head);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`no length in ${head}`);
  const end = headEnd + HEAD_END.length + Number(length);
  return bytes.length >= end ? end : null;
}

function take(socket: Socket<Exchange>, data: Buffer): void {
  const { buffered } = socket.data;
  const bytes = buffered.length === 0 ? data : Buffer.concat([buffered, data]);
  const length = answerLength(bytes);
  if (length === null) {
    socket.data.buffered = Buffer.from(bytes);
    return;
  }
  socket.data.buffered = Buffer.alloc(0);
  answered += 1;
  if (isOver) socket.end();
  else socket.write(request);
}

const startedAt = performance.now();
const sockets = await Promise.all(
  Array.from({ length: Number(connections) }, () =>
    Bun.connect<Exchange>({
      hostname: url.hostname,
      port: Number(url.port),
      data: { buffered: Buffer.alloc(0) },
      socket: { data: take },
    }),
  ),
);
for (const socket of sockets) socket.write(request);
await Bun.sleep(Number(milliseconds));
isOver = true;
const seconds = (performance.now() - startedAt) / 1000;
process.stdout.write(`${JSON.stringify({ requests: answered, seconds })}\n`);
process.exit(0);
