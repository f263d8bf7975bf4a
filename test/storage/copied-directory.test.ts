import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createLogger } from "../../src/log.ts";
import { endLeftover, isProcessAlive, worksIn } from "../../src/storage/embedded/process-identity.ts";
import { openStores } from "../../src/storage/open.ts";
import { eventually } from "../harness/eventually.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

// A fresh Postgres takes seconds on a busy machine.
const embedded = (dataDirectory: string) => ({
  dataDirectory,
  clickhouseUrl: null,
  databaseUrl: null,
  redisUrl: null,
});

function enginesOf(dataDirectory: string): number[] {
  const postmaster = readFileSync(join(dataDirectory, "postgres", "cluster", "postmaster.pid"), "utf8");
  const status = readFileSync(join(dataDirectory, "clickhouse", "store", "status"), "utf8");
  return [Number.parseInt(postmaster, 10), Number(/^PID: (\d+)$/m.exec(status)?.[1])];
}

test("a server on a copy of a folder in use starts engines of its own and leaves the original's alone", async () => {
  using directory = temporaryDirectory();
  const original = join(directory.path, "original");
  const copy = join(directory.path, "copy");
  const stores = await openStores(embedded(original), createLogger("silent"));
  const engines = enginesOf(original);
  const startedAt = () => stores.postgres`SELECT pg_postmaster_start_time()::text AS at`;
  const before = await startedAt();

  Bun.spawnSync(["cp", "-a", original, copy]);
  expect(enginesOf(copy)).toEqual(engines);
  const copied = await openStores(embedded(copy), createLogger("silent"));
  expect(await copied.postgres`SELECT 1 AS one`).toHaveLength(1);
  expect(enginesOf(copy).filter((pid) => engines.includes(pid))).toEqual([]);

  expect(await startedAt()).toEqual(before);
  expect(enginesOf(original)).toEqual(engines);
  await copied.close();
  expect(engines.map(isProcessAlive)).toEqual([true, true]);
  await stores.close();
});

test("a process is told by the folder it works in, also after the folder has got another name", async () => {
  using directory = temporaryDirectory();
  const stranger = Bun.spawn(["sleep", "600"], { cwd: directory.path });
  try {
    using elsewhere = temporaryDirectory();
    const leftover = { pid: stranger.pid, directory: elsewhere.path, marker: "sleep" };
    // A process that was just made has not begun its program yet.
    await eventually("the program runs", () => worksIn(stranger.pid, directory.path, "sleep"));
    expect(worksIn(stranger.pid, directory.path, "postgres")).toBe(false);
    expect(await endLeftover(leftover, { graceMs: 10_000, firstSignal: "SIGKILL" })).toBe(false);
    expect(stranger.exitCode).toBeNull();
    const moved = join(elsewhere.path, "moved");
    Bun.spawnSync(["mv", directory.path, moved]);
    expect(
      await endLeftover({ ...leftover, directory: moved }, { graceMs: 10_000, firstSignal: "SIGKILL" }),
    ).toBe(true);
    await stranger.exited;
    expect(stranger.signalCode).toBe("SIGKILL");
  } finally {
    stranger.kill("SIGKILL");
  }
});
