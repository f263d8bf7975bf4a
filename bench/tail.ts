/**
 * Live tails: rows a second at full speed without a session and with several kinds of sessions, in pairs of turns; then
 * the time from the arrival of an entry to its receipt by 100 sessions with different filters while 20 000 rows a
 * second come in. Sender and readers are processes of their own on the same machine: what the readers themselves use is
 * told beside what the server does.
 * Usage: bun bench/tail.ts [seconds of a turn] [rounds] [sessions such as 100:some,100:none]. Without the last, all of them. Prints a
 * report and appends a line to bench/results/tail.jsonl.
 */
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { usageBetween, usageOfTree } from "./ingest/process-usage.ts";
import { startBenchServer } from "./ingest/server.ts";
import { startLineProcess } from "./tail/child.ts";

const seconds = Number(process.argv[2] ?? 2);
const rounds = Number(process.argv[3] ?? 5);
const BATCH = 500;
const CONNECTIONS = 16;
const PACED_ROWS_PER_SECOND = 20_000;
const PACED_SECONDS = 15;
/** Before a turn is measured: the stream of rows and the readers get going. */
const WARM_UP_MS = 700;

interface Sessions {
  readonly count: number;
  /** What they ask for: see `tail/readers.ts`. */
  readonly kind: "some" | "none" | "query" | "all";
}
const NOBODY: Sessions = { count: 0, kind: "none" };
const EVERY_KIND: readonly Sessions[] = [
  { count: 1, kind: "some" },
  { count: 1, kind: "all" },
  { count: 10, kind: "some" },
  { count: 100, kind: "some" },
  { count: 100, kind: "query" },
  { count: 100, kind: "none" },
  { count: 100, kind: "all" },
];
const wanted = process.argv[4]?.split(",");
const SESSIONS = EVERY_KIND.filter(({ count, kind }) => wanted?.includes(`${count}:${kind}`) ?? true);
if (SESSIONS.length === 0) throw new Error("no sessions of that name are measured");

interface Readings {
  delivered: number;
  dropped: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  cpuSeconds: number;
}

interface Turn {
  readonly rowsPerSecond: number;
  readonly acknowledgeP99Ms: number;
  readonly serverCpuSecondsPerMillionRows: number;
  readonly readerCpuSecondsPerMillionRows: number;
  readonly readings: Readings;
}

const scripts = join(import.meta.dir, "tail");
const server = await startBenchServer();
const sender = startLineProcess([
  process.execPath,
  join(scripts, "load.ts"),
  server.url,
  server.token,
  String(BATCH),
  String(CONNECTIONS),
]);
await sender.line();

/** Sends rows, at a rate or as fast as they are acknowledged (0), while so many sessions are open. */
async function measure({ count, kind }: Sessions, rate: number, durationMs: number): Promise<Turn> {
  const readers = startLineProcess([
    process.execPath,
    join(scripts, "readers.ts"),
    server.url,
    server.token,
    String(count),
    kind,
  ]);
  await readers.line();
  const ask = async (process: typeof readers, line: string): Promise<string> => {
    process.send(line);
    return process.line();
  };
  await ask(sender, `send ${rate}`);
  await Bun.sleep(WARM_UP_MS);
  await ask(sender, `send ${rate}`);
  await ask(readers, "report");
  const before = usageOfTree(server.pid);
  await Bun.sleep(durationMs);
  const { server: usage } = usageBetween(before, usageOfTree(server.pid));
  const sent: { rows: number; seconds: number; p99Ms: number } = JSON.parse(await ask(sender, "report"));
  const readings: Readings = JSON.parse(await ask(readers, "report"));
  await ask(sender, "pause");
  await readers.end();
  const perMillion = (cpuSeconds: number): number => round((cpuSeconds / sent.rows) * 1e6);
  return {
    rowsPerSecond: Math.round(sent.rows / sent.seconds),
    acknowledgeP99Ms: round(sent.p99Ms),
    serverCpuSecondsPerMillionRows: perMillion(usage?.cpuSeconds ?? 0),
    readerCpuSecondsPerMillionRows: perMillion(readings.cpuSeconds),
    readings,
  };
}

/** A turn with sessions and one without right beside it: the machine is not the same from one moment to the next. */
interface Pair {
  readonly alone: Turn;
  readonly together: Turn;
}

async function measurePair(sessions: Sessions, isAloneFirst: boolean): Promise<Pair> {
  const first = await measure(isAloneFirst ? NOBODY : sessions, 0, seconds * 1000);
  const second = await measure(isAloneFirst ? sessions : NOBODY, 0, seconds * 1000);
  return isAloneFirst ? { alone: first, together: second } : { alone: second, together: first };
}

for (const sessions of SESSIONS) await measure(sessions, 0, 1000);
const pairs = new Map<Sessions, Pair[]>(SESSIONS.map((sessions) => [sessions, []]));
for (let done = 0; done < rounds; done++)
  for (const sessions of SESSIONS) pairs.get(sessions)?.push(await measurePair(sessions, done % 2 === 0));
const hundred: Sessions = { count: 100, kind: "some" };
const paced = await measure(hundred, PACED_ROWS_PER_SECOND, PACED_SECONDS * 1000);
const pacedAlone = await measure(NOBODY, PACED_ROWS_PER_SECOND, PACED_SECONDS * 1000);
await sender.end();
await server.stop();
rmSync(server.dataDirectory, { recursive: true, force: true });

function summaryOf(sessions: Sessions): object {
  const own = pairs.get(sessions) ?? [];
  const middle = (value: (turn: Turn) => number): number =>
    round(median(own.map(({ together }) => value(together))));
  const aloneMiddle = (value: (turn: Turn) => number): number =>
    round(median(own.map(({ alone }) => value(alone))));
  return {
    ...sessions,
    rowsPerSecond: middle((turn) => turn.rowsPerSecond),
    rowsPerSecondAlone: aloneMiddle((turn) => turn.rowsPerSecond),
    ratio: round(median(own.map(({ alone, together }) => together.rowsPerSecond / alone.rowsPerSecond))),
    acknowledgeP99Ms: middle((turn) => turn.acknowledgeP99Ms),
    acknowledgeP99MsAlone: aloneMiddle((turn) => turn.acknowledgeP99Ms),
    serverCpuSecondsPerMillionRows: middle((turn) => turn.serverCpuSecondsPerMillionRows),
    serverCpuSecondsPerMillionRowsAlone: aloneMiddle((turn) => turn.serverCpuSecondsPerMillionRows),
    readerCpuSecondsPerMillionRows: middle((turn) => turn.readerCpuSecondsPerMillionRows),
    delivered: sum(own.map(({ together }) => together.readings.delivered)),
    dropped: sum(own.map(({ together }) => together.readings.dropped)),
    p99Ms: middle((turn) => turn.readings.p99Ms),
  };
}

const report = {
  at: new Date().toISOString(),
  seconds,
  rounds,
  fullSpeed: SESSIONS.map(summaryOf),
  paced: { ...hundred, wantedRowsPerSecond: PACED_ROWS_PER_SECOND, ...paced },
  pacedAlone: { count: 0, wantedRowsPerSecond: PACED_ROWS_PER_SECOND, ...pacedAlone },
};
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
mkdirSync(join(import.meta.dir, "results"), { recursive: true });
appendFileSync(join(import.meta.dir, "results/tail.jsonl"), `${JSON.stringify(report)}\n`);

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
