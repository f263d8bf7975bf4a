/**
 * Asks one URL so many times a second, as readers behind a proxy do, however slowly it answers, and prints
 * `{"answered": n, "p50": ms, "p99": ms, "other": n}`. A request's time begins when it is due, so that waiting for a slow server counts.
 * Usage: bun bench/status-pages/load.ts URL REQUESTS_PER_SECOND MILLISECONDS
 */
import type { Socket } from "bun";
import { quantile } from "../kql/quantile.ts";

const [target = "", perSecond = "2000", milliseconds = "5000"] = process.argv.slice(2);
const CONNECTIONS = 64;
const READERS = 997;
const url = new URL(target);
const HEAD_END = Buffer.from("\r\n\r\n");

interface Exchange {
  buffered: Buffer;
  /** When what it is asked for was due. */
  dueMs: number;
}

const free: Socket<Exchange>[] = [];
/** When those are due that no connection was free for. */
const waiting: number[] = [];
const times: number[] = [];
let asked = 0;
let other = 0;

function ask(socket: Socket<Exchange>, dueMs: number): void {
  const reader = asked % READERS;
  asked += 1;
  socket.data.dueMs = dueMs;
  socket.write(
    `GET ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\nAccept: text/html\r\nAccept-Encoding: gzip\r\n` +
      `X-Forwarded-For: 198.18.${reader >> 8}.${reader & 255}\r\n\r\n`,
  );
}

function take(socket: Socket<Exchange>, data: Buffer): void {
  const { buffered } = socket.data;
  const bytes = buffered.length === 0 ? Buffer.from(data) : Buffer.concat([buffered, data]);
  const headEnd = bytes.indexOf(HEAD_END);
  const head = headEnd === -1 ? "" : bytes.toString("latin1", 0, headEnd);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
  if (headEnd === -1 || bytes.length < headEnd + HEAD_END.length + length) {
    socket.data.buffered = bytes;
    return;
  }
  socket.data.buffered = Buffer.alloc(0);
  if (!head.startsWith("HTTP/1.1 200")) other += 1;
  times.push(performance.now() - socket.data.dueMs);
  const next = waiting.shift();
  if (next === undefined) free.push(socket);
  else ask(socket, next);
}

for (let index = 0; index < CONNECTIONS; index += 1)
  free.push(
    await Bun.connect<Exchange>({
      hostname: url.hostname,
      port: Number(url.port),
      data: { buffered: Buffer.alloc(0), dueMs: 0 },
      socket: { data: take },
    }),
  );

const startedMs = performance.now();
let due = 0;
while (performance.now() - startedMs < Number(milliseconds)) {
  const shouldBe = Math.floor(((performance.now() - startedMs) * Number(perSecond)) / 1000);
  for (; due < shouldBe; due += 1) {
    const dueMs = startedMs + (due * 1000) / Number(perSecond);
    const socket = free.pop();
    if (socket === undefined) waiting.push(dueMs);
    else ask(socket, dueMs);
  }
  await Bun.sleep(1);
}
const giveUpMs = performance.now() + 10_000;
while (times.length < due && performance.now() < giveUpMs) await Bun.sleep(5);
const answer = { due, answered: times.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99), other };
process.stdout.write(`${JSON.stringify(answer)}\n`);
process.exit(0);
