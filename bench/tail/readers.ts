/**
 * The readers of the tail benchmark, a process of its own: opens streams and measures the time from the arrival of an
 * entry at the server to its receipt. Prints `ready`, then answers every line on standard input with a JSON line about
 * the time since the line before. Arguments: url, token, number of streams, what they ask for.
 */
import process from "node:process";

const [url = "", token = "", count = "0", kind = ""] = process.argv.slice(2);
const MARK = '"receivedAt":"';
const TIME_CHARS = "2026-01-01T00:00:00.000Z".length;

let latenciesMs: number[] = [];
let dropped = 0;
let usage = process.cpuUsage();

/** What stream number so and so asks for. */
function filterOf(number: number): Record<string, string> {
  switch (kind) {
    // Four digits in a row: something that a person looks for, and that few entries hold.
    case "some":
      return { q: String(1000 + number * 37) };
    case "none":
      return { q: `nothing holds ${number}` };
    case "query":
      return { query: `level != "debug" and message contains "${1000 + number * 37}"` };
    case "all":
      return {};
    default:
      throw new Error(`nobody asks for ${kind}`);
  }
}

async function openStream(number: number): Promise<void> {
  const { query, ...parameters } = filterOf(number);
  const search = new URLSearchParams(query === undefined ? parameters : { token: await openSession(query) });
  const stream = await fetch(`${url}/api/v1/logs/tail?${search}`, {
    headers: query === undefined ? { authorization: `Bearer ${token}` } : {},
  });
  if (stream.status !== 200 || stream.body === null)
    throw new Error(`${stream.status} ${await stream.text()}`);
  void read(stream.body);
}

async function openSession(query: string): Promise<string> {
  const made = await fetch(`${url}/api/v1/logs/tail/session`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ query }),
  });
  const session: { token: string } = JSON.parse(await made.text());
  return session.token;
}

async function read(body: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf("\n\n");
    if (end === -1) continue;
    note(text.slice(0, end), Date.now());
    text = text.slice(end);
  }
}

function note(blocks: string, nowMs: number): void {
  for (let at = blocks.indexOf(MARK); at !== -1; at = blocks.indexOf(MARK, at + TIME_CHARS)) {
    const start = at + MARK.length;
    latenciesMs.push(nowMs - Date.parse(blocks.slice(start, start + TIME_CHARS)));
  }
  for (const [, number] of blocks.matchAll(/event: dropped\n.*\ndata: \{"count":(\d+)/g))
    dropped += Number(number);
}

function report(): string {
  const sorted = latenciesMs.sort((a, b) => a - b);
  const quantile = (q: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
  const { user, system } = process.cpuUsage(usage);
  const answer = {
    delivered: sorted.length,
    dropped,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    maxMs: quantile(1),
    cpuSeconds: (user + system) / 1e6,
  };
  latenciesMs = [];
  dropped = 0;
  usage = process.cpuUsage();
  return JSON.stringify(answer);
}

for (let number = 0; number < Number(count); number++) await openStream(number);
process.stdout.write("ready\n");
for await (const _line of console) process.stdout.write(`${report()}\n`);
process.exit(0);
