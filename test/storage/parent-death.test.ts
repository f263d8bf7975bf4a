import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createLogger } from "../../src/log.ts";
import { commandLineOf, isProcessAlive } from "../../src/storage/embedded/process-identity.ts";
import { openStores } from "../../src/storage/open.ts";
import { eventually } from "../harness/eventually.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

// A fresh Postgres takes seconds on a busy machine.
/** Starts a server in its own process and waits until its stores are open. */
async function startParent(dataDirectory: string) {
  const parent = Bun.spawn(
    [process.execPath, join(import.meta.dir, "fixtures/stores-parent.ts"), dataDirectory],
    {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const { value } = await parent.stdout.getReader().read();
  if (value === undefined) throw new Error("the parent ended before its stores were open");
  const postmaster = Number.parseInt(
    readFileSync(join(dataDirectory, "postgres", "cluster", "postmaster.pid"), "utf8"),
    10,
  );
  const status = readFileSync(join(dataDirectory, "clickhouse", "store", "status"), "utf8");
  return { parent, pids: [postmaster, Number(/^PID: (\d+)$/m.exec(status)?.[1])] };
}

const embedded = (dataDirectory: string) => ({
  dataDirectory,
  clickhouseUrl: null,
  databaseUrl: null,
  redisUrl: null,
});

test("the engines end when the server is killed with SIGKILL, and the next start needs no hand", async () => {
  using directory = temporaryDirectory();
  const { parent, pids } = await startParent(directory.path);
  parent.kill("SIGKILL");
  await parent.exited;
  // At once, while the engines still shut down.
  const stores = await openStores(embedded(directory.path), createLogger("silent"));
  expect(await stores.postgres`SELECT 1 AS one`).toHaveLength(1);
  await stores.close();
  await eventually("the killed server's engines have ended", () =>
    pids.every((pid) => commandLineOf(pid) === ""),
  );
});

test("everything killed at once leaves nothing that stops the next start", async () => {
  using directory = temporaryDirectory();
  const { parent, pids } = await startParent(directory.path);
  for (const pid of [...pids, parent.pid]) process.kill(pid, "SIGKILL");
  await parent.exited;
  const stores = await openStores(embedded(directory.path), createLogger("silent"));
  const result = await stores.clickhouse.query({ query: "SELECT 1 AS one", format: "JSONEachRow" });
  expect(await result.json()).toEqual([{ one: 1 }]);
  await stores.close();
});

test("a process id in postmaster.pid that belongs to a stranger by now does not stop the start", async () => {
  using directory = temporaryDirectory();
  const first = await openStores(embedded(directory.path), createLogger("silent"));
  await first.close();
  const path = join(directory.path, "postgres", "cluster", "postmaster.pid");
  writeFileSync(path, `${process.ppid}\n${directory.path}\n1700000000\n20000\n\n127.0.0.1\n  1 1\nready\n`);
  const stores = await openStores(embedded(directory.path), createLogger("silent"));
  expect(await stores.postgres`SELECT 1 AS one`).toHaveLength(1);
  await stores.close();
  expect(isProcessAlive(process.ppid)).toBe(true);
});

test("closing the stores leaves no process and frees the data directory and the ports", async () => {
  using directory = temporaryDirectory();
  const stores = await openStores(embedded(directory.path), createLogger("silent"));
  const port = Number(new URL(stores.clickhouseEndpoint.origin).port);
  await Promise.all([stores.close(), stores.close()]);
  const server = createServer();
  await new Promise<void>((settle, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", settle);
  });
  server.close();
  const again = await openStores(embedded(directory.path), createLogger("silent"));
  await again.close();
});
