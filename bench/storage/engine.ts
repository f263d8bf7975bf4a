import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "../../src/log.ts";
import { parseClickHouseUrl } from "../../src/storage/clickhouse.ts";
import { loadSecrets } from "../../src/storage/embedded/secrets.ts";
import { startEmbeddedClickHouse } from "../../src/storage/embedded/start-engine.ts";
import { usageOfTree } from "../ingest/process-usage.ts";

/** An embedded ClickHouse of the bench's own, on an empty directory. */
export interface BenchEngine {
  /** Runs one statement and returns its answer as text without the last newline. */
  query(sql: string, settings?: Settings): Promise<string>;
  /** Runs one statement and returns its answer as it came. */
  read(sql: string, settings?: Settings): Promise<Uint8Array>;
  /** Sends `data` as the data of an INSERT. */
  insert(sql: string, data: string | Uint8Array, settings?: Settings): Promise<void>;
  /** CPU seconds the engine's process has used since it started. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

export type Settings = Readonly<Record<string, string | number>>;

/** Starts the engine the way the server does. `stop` removes its data. */
export async function startBenchEngine(): Promise<BenchEngine> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "obs-bench-storage-"));
  const secrets = loadSecrets(dataDirectory);
  const { supervisor, url } = await startEmbeddedClickHouse(dataDirectory, secrets, createLogger("silent"));
  const { origin, user, password } = parseClickHouseUrl(url);
  const authorization = `Basic ${btoa(`${user}:${password}`)}`;

  const post = async (search: URLSearchParams, body: string | Uint8Array): Promise<Response> => {
    const response = await fetch(`${origin}/?${search}`, {
      method: "POST",
      headers: { authorization },
      body,
    });
    if (!response.ok) throw new Error((await response.text()).slice(0, 500));
    return response;
  };
  const search = (settings: Settings = {}): URLSearchParams =>
    new URLSearchParams(
      Object.fromEntries(
        Object.entries({ async_insert: 0, ...settings }).map(([name, value]) => [name, String(value)]),
      ),
    );

  return {
    query: async (sql, settings) => (await (await post(search(settings), sql)).text()).trimEnd(),
    read: async (sql, settings) => (await post(search(settings), sql)).bytes(),
    insert: async (sql, data, settings) => {
      await (await post(search({ ...settings, query: sql }), data)).arrayBuffer();
    },
    cpuSeconds: () => {
      const pid = supervisor.status().pid;
      return usageOfTree(process.pid).find((found) => found.pid === pid)?.cpuSeconds ?? 0;
    },
    stop: async () => {
      await supervisor.stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}
