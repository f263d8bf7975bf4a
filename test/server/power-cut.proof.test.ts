/**
 * The promise of ingest under power cuts: server and embedded ClickHouse on a real file system, which comes back as the
 * disk had it at the moment of the cut, what was never synced missing. Round after round under load.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClickHouseClient } from "@clickhouse/client";
import { Ledger } from "../../ingest/wal/ledger.ts";
import { nodeWalIo } from "../../ingest/wal/node-io.ts";
import { createClickHouse } from "../../src/storage/clickhouse.ts";
import { loadSecrets } from "../../src/storage/embedded/secrets.ts";
import { type CutDisk, openCutDisk } from "../harness/cut-disk.ts";
import { eventually } from "../harness/eventually.ts";
import { IngestHistory } from "../harness/ingest-history.ts";
import { proofRounds } from "../harness/proof.ts";
import { engineProcess, makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { storedMessages } from "../harness/stored-messages.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";

const ROUNDS = proofRounds({ sample: 2, whole: 100 });
const DISK_BYTES = 2 ** 30;
const CLIENTS = 4;
/** When to cut: between an insert and the ledger's word of it, at any time, or after a merge when its sources went. */
const MOMENTS = ["insert", "any", "insert", "any", "merge"] as const;

let stores: TestStores;
let disk: CutDisk | null;
/** Also after a failure: it would hold the disk. */
let running: ServerProcess | null = null;

beforeAll(async () => {
  stores = await openTestStores();
  disk = openCutDisk(mkdtempSync(join(tmpdir(), "obs-power-")), DISK_BYTES);
});

afterAll(async () => {
  running?.kill("SIGKILL");
  await running?.exited;
  disk?.close();
  await stores.close();
});

test(`every acknowledged entry is found exactly once after ${ROUNDS} power cuts`, async () => {
  if (disk === null) return;
  const dataDirectory = join(disk.path, "data");
  const start = async (port?: number): Promise<ServerProcess> => {
    const env = { DATABASE_URL: stores.postgresUrl };
    running = await startServer({ dataDirectory, ...(port !== undefined && { port }), env });
    return running;
  };
  let server = await start();
  const token = await makeToken(server.url);
  const history = new IngestHistory();
  history.start(CLIENTS, () => ({ url: server.url, token }));
  for (let round = 0; round < ROUNDS; round++) {
    const before = history.acknowledged;
    await eventually("entries are being acknowledged", () => history.acknowledged > before + 100);
    const clickhouse = clickhouseOf(server, dataDirectory);
    const processes = [server.pid, engineProcess(server.pid, "clickhouse") ?? server.pid];
    await reachMoment(MOMENTS[round % MOMENTS.length] ?? "any", clickhouse, dataDirectory, processes);
    await disk.freeze();
    for (const pid of processes) process.kill(pid, "SIGKILL");
    await server.exited;
    await clickhouse.close();
    await disk.restore();
    server = await start(server.port);
  }
  await history.stop();
  expect(await server.stop()).toBe(0);
  server = await start(server.port);
  const clickhouse = clickhouseOf(server, dataDirectory);
  const found = await storedMessages(clickhouse);
  await clickhouse.close();
  expect(await server.stop()).toBe(0);
  expect(history.violations(found)).toEqual([]);
}, 7_200_000);

/** Lets the processes run up to the moment, and stops them there. */
async function reachMoment(
  moment: (typeof MOMENTS)[number],
  clickhouse: ClickHouseClient,
  dataDirectory: string,
  processes: readonly number[],
): Promise<void> {
  if (moment === "insert") return reachInsert(clickhouse, dataDirectory, processes);
  if (moment === "merge") await mergeUntilSourcesGo(clickhouse);
  else await Bun.sleep(Math.random() * 700);
  signalAll(processes, "SIGSTOP");
}

/** The store has a new part, and the ledger still says that it may or may not. */
async function reachInsert(
  clickhouse: ClickHouseClient,
  dataDirectory: string,
  processes: readonly number[],
): Promise<void> {
  const directory = await tableDirectory(clickhouse);
  await eventually("an insert was interrupted before the ledger heard of it", async () => {
    const known = new Set(readdirSync(directory));
    await eventually("there is a new part", () =>
      readdirSync(directory).some((name) => /^\d+_(\d+)_\1_0$/.test(name) && !known.has(name)),
    );
    signalAll(processes, "SIGSTOP");
    const ledger = await Ledger.load(nodeWalIo, join(dataDirectory, "wal"));
    if (ledger !== undefined && ledger.intentEnd > ledger.flushedThrough) return true;
    signalAll(processes, "SIGCONT");
    return false;
  });
}

/** Parts were merged a moment ago, and those that they were merged of are gone, durably. */
async function mergeUntilSourcesGo(clickhouse: ClickHouseClient): Promise<void> {
  const directory = await tableDirectory(clickhouse);
  const seen = partsIn(directory);
  await clickhouse.command({ query: "OPTIMIZE TABLE logs FINAL" });
  // They stay for a minute, and ClickHouse looks every half minute or so.
  await eventually("merged parts are removed", () => {
    const parts = new Set(partsIn(directory));
    return seen.every((name) => !parts.has(name));
  });
  // What comes next makes it durable that they are gone.
  const merged = new Set(partsIn(directory));
  await eventually("one more insert", () => partsIn(directory).some((name) => !merged.has(name)));
}

function partsIn(directory: string): string[] {
  return readdirSync(directory).filter((name) => /^\d+_\d+_\d+_\d+$/.test(name));
}

async function tableDirectory(clickhouse: ClickHouseClient): Promise<string> {
  const result = await clickhouse.query({
    query:
      "SELECT data_paths[1] AS path FROM system.tables WHERE database = currentDatabase() AND name = 'logs'",
    format: "JSONEachRow",
  });
  const [table] = await result.json<{ path: string }>();
  if (table === undefined) throw new Error("there is no table");
  return table.path;
}

/** The embedded ClickHouse of a server in another process. */
function clickhouseOf(server: ServerProcess, dataDirectory: string): ClickHouseClient {
  const pid = engineProcess(server.pid, "clickhouse");
  const port = /--http_port=(\d+)/.exec(readFileSync(`/proc/${pid}/cmdline`, "utf8"))?.[1];
  const { clickhousePassword: password } = loadSecrets(dataDirectory);
  return createClickHouse({ origin: `http://127.0.0.1:${port}`, user: "obs", password, database: "obs" });
}

function signalAll(processes: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of processes) process.kill(pid, signal);
}
