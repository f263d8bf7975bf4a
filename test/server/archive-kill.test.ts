/** The promise of the archive under kill -9: of the server and of its ClickHouse, while entries move. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DirectoryFiles } from "../../src/archive/files/directory-files.ts";
import { createLogger } from "../../src/log.ts";
import { openStores, type Stores } from "../../src/storage/open.ts";
import { archivedIds, hotIds } from "../archive/archive-setup.ts";
import { idAt, insertRows } from "../domains/logs/stored-rows.ts";
import { eventually } from "../harness/eventually.ts";
import { engineProcess, makeToken, startServer } from "../harness/server-process.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const VICTIMS = ["server", "clickhouse"] as const;
const DAYS = 3;
const PER_DAY = 2_000;
const DAY_MS = 86_400_000;

test("every old entry is found exactly once, in the log store or in the archive, after kill -9 while they move", async () => {
  using directory = temporaryDirectory();
  const quiet = { dataDirectory: directory.path, env: { LOG_RETENTION_DAYS: "0" } };
  const first = await startServer(quiet);
  await makeToken(first.url);
  expect(await first.stop()).toBe(0);
  const organization = await withStores(directory.path, insertOldEntries);

  const archive = join(directory.path, "archive");
  for (const victim of VICTIMS) {
    const files = filesIn(archive);
    const server = await startServer({ dataDirectory: directory.path, env: { LOG_RETENTION_DAYS: "1" } });
    // Begins to write, or has nothing left to do.
    await eventually(
      "an entry moves",
      async () => filesIn(archive) > files || (await hasMoved(server.url, archive)),
    );
    await Bun.sleep(Math.random() * 300);
    const pid = victim === "clickhouse" ? engineProcess(server.pid, "clickhouse") : null;
    if (pid !== null) {
      process.kill(pid, "SIGKILL");
      await Bun.sleep(Math.random() * 300);
    }
    server.kill("SIGKILL");
    await server.exited;
    await withStores(directory.path, async (stores) => {
      const hot = await hotIds(stores, organization);
      const archived = await archivedIds(stores, organization, new DirectoryFiles(archive));
      expect(new Set([...hot, ...archived]).size).toBe(DAYS * PER_DAY);
      // What failed because ClickHouse was gone need not wait here.
      await stores.postgres`UPDATE log_archive_units SET retry_at = created_at`;
      await stores.postgres`UPDATE job_turns SET next_attempt_at = now()`;
    });
  }

  const last = await startServer({ dataDirectory: directory.path, env: { LOG_RETENTION_DAYS: "1" } });
  await eventually("everything has moved", () => hasMoved(last.url, archive));
  expect(await last.stop()).toBe(0);
  await withStores(directory.path, async (stores) => {
    expect(await hotIds(stores, organization)).toEqual([]);
    const archived = await archivedIds(stores, organization, new DirectoryFiles(archive));
    expect(archived).toHaveLength(DAYS * PER_DAY);
    expect(new Set(archived).size).toBe(DAYS * PER_DAY);
  });
});

async function insertOldEntries({ clickhouse, postgres }: Stores): Promise<number> {
  const [row] = await postgres<{ id: number }[]>`SELECT id FROM organizations`;
  const organizationId = row?.id ?? 0;
  const startMs = Date.now() - 20 * DAY_MS;
  const rows = Array.from({ length: DAYS * PER_DAY }, (_, i) => {
    const receivedMs = startMs + (i % DAYS) * DAY_MS + i;
    return {
      organizationId,
      ts: BigInt(receivedMs) * 1_000_000n,
      id: idAt(receivedMs, i),
      message: `request ${i} took ${i % 300} ms`,
    };
  });
  await insertRows(clickhouse, rows);
  return organizationId;
}

async function withStores<T>(dataDirectory: string, work: (stores: Stores) => Promise<T>): Promise<T> {
  const configured = { clickhouseUrl: null, databaseUrl: null, redisUrl: null };
  const stores = await openStores({ dataDirectory, ...configured }, createLogger("silent"));
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
}

function filesIn(archive: string): number {
  return existsSync(archive)
    ? readdirSync(archive, { recursive: true }).filter((name) => String(name).endsWith(".parquet")).length
    : 0;
}

/** Whether the log store has none of the old entries any more. */
/** Whether a round of this server found nothing left to move. */
async function hasMoved(url: string, archive: string): Promise<boolean> {
  const response = await fetch(`${url}/metrics`);
  const text = await response.text();
  return (
    filesIn(archive) >= DAYS &&
    /^obs_archive_rounds_total [1-9]/m.test(text) &&
    /^obs_archive_units_open 0$/m.test(text)
  );
}
