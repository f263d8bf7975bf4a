import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { LEFTOVER_GRACE_MS } from "../limits.ts";
import { basicAuthorization, renderClickHouseConfig, renderClickHouseUsers } from "./clickhouse-config.ts";
import { type Engine, engineEnvironment } from "./engine.ts";
import { endLeftover } from "./process-identity.ts";

interface ClickHouseEngineOptions {
  /** The server's data directory. */
  readonly dataDirectory: string;
  readonly libraryPath: string;
  readonly port: number;
  readonly password: string;
}

export const CLICKHOUSE_USER = "obs";

/** Half of the machine: the server, Postgres and the page cache, which ClickHouse reads through, live on the rest. */
const MEMORY_RATIO = 0.5;

/** Where the embedded ClickHouse keeps its tables. */
export function clickhouseStorePath(dataDirectory: string): string {
  return join(dataDirectory, "clickhouse", "store");
}

function writePrivateFile(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
  chmodSync(path, 0o600);
}

const CHILD_PROGRAM = "clickhouse-child.ts";

/** ClickHouse writes its process id into `status` while it holds its directory. */
async function settleLeftover(root: string, storePath: string): Promise<void> {
  const statusPath = join(storePath, "status");
  if (!existsSync(statusPath)) return;
  const pid = /^PID: (\d+)$/m.exec(readFileSync(statusPath, "utf8"))?.[1];
  if (pid === undefined) return;
  const leftover = { pid: Number(pid), directory: root, marker: CHILD_PROGRAM };
  await endLeftover(leftover, { graceMs: LEFTOVER_GRACE_MS });
}

/** The embedded ClickHouse, its files under `<data>/clickhouse`, its HTTP port on loopback. */
export function clickhouseEngine(options: ClickHouseEngineOptions): Engine {
  const root = join(options.dataDirectory, "clickhouse");
  const storePath = clickhouseStorePath(options.dataDirectory);
  const configPath = join(root, "config.xml");
  const usersPath = join(root, "users.xml");
  const credentials = { user: CLICKHOUSE_USER, password: options.password };
  return {
    name: "ClickHouse",
    outputPath: join(options.dataDirectory, "log", "clickhouse.log"),
    prepare: async () => {
      mkdirSync(storePath, { recursive: true, mode: 0o700 });
      await settleLeftover(root, storePath);
      writePrivateFile(usersPath, renderClickHouseUsers(credentials));
      writePrivateFile(
        configPath,
        renderClickHouseConfig({
          ...credentials,
          usersPath,
          memoryRatio: MEMORY_RATIO,
          backgroundThreads: Math.max(2, availableParallelism()),
        }),
      );
    },
    command: () => ({
      command: [
        process.execPath,
        join(import.meta.dir, CHILD_PROGRAM),
        options.libraryPath,
        storePath,
        `--config-file=${configPath}`,
        `--http_port=${options.port}`,
        "--listen_host=127.0.0.1",
        "--log-level=warning",
        "--multiquery",
        // The second query reads standard input until it closes, which ends the engine.
        "--query=SYSTEM START LISTEN HTTP; SELECT count() FROM file(stdin, 'LineAsString', 'line String')",
      ],
      environment: engineEnvironment(),
      workingDirectory: root,
    }),
    probe: async (signal) => {
      const response = await fetch(`http://127.0.0.1:${options.port}/ping`, {
        headers: {
          Authorization: basicAuthorization(credentials.user, credentials.password),
          // An idle connection would hold up the engine's shutdown.
          Connection: "close",
        },
        signal,
      });
      await response.text();
      if (!response.ok) throw new Error(`ClickHouse answers ${response.status}.`);
    },
  };
}
