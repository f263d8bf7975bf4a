import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { type Engine, engineEnvironment } from "./engine.ts";
import { type Account, postgresAccount } from "./postgres-account.ts";
import { createCluster, type PostgresHome } from "./postgres-cluster.ts";
import { linkLibraries, reachableProgramFiles } from "./postgres-files.ts";
import { formatPostgresLaunch } from "./postgres-launch.ts";
import { settlePostmaster } from "./postgres-leftover.ts";

interface PostgresEngineOptions {
  /** The server's data directory. */
  readonly dataDirectory: string;
  /** Installed program files, see `locatePostgresFiles`. */
  readonly native: string;
  readonly port: number;
  /** Tells this data directory's Postgres from others. */
  readonly instance: string;
  readonly password: string;
  readonly superuserPassword: string;
  /** Server settings over the ones here. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Role and database of the server; the role owns the database and is no superuser. */
export const POSTGRES_USER = "obs";

/** A small machine's Postgres: it holds identities and operational records, the logs are elsewhere. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "50",
  shared_buffers: "16MB",
  work_mem: "4MB",
  maintenance_work_mem: "32MB",
  max_wal_size: "256MB",
  min_wal_size: "32MB",
  // No replica will ever connect, so the log needs less.
  wal_level: "minimal",
  max_wal_senders: "0",
  // Three idle worker processes fewer; the working set is cached.
  io_method: "sync",
  max_worker_processes: "2",
  max_parallel_workers: "0",
  max_parallel_workers_per_gather: "0",
  max_logical_replication_workers: "0",
  autovacuum_max_workers: "1",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_min_messages: "warning",
  // Statements can hold personal data; the server logs its own failures.
  log_min_error_statement: "panic",
  log_checkpoints: "off",
};

function postgresHome(options: PostgresEngineOptions, account: Account | null): PostgresHome {
  const directory = join(options.dataDirectory, "postgres");
  const native = account === null ? options.native : reachableProgramFiles(options.native);
  // An account other than ours may not enter the folders above, so it reaches this one through its descriptor.
  const reference = account === null ? directory : "/proc/self/fd/3";
  const libraries = `${reference}/lib:${join(native, "lib")}`;
  const variable = process.platform === "darwin" ? "DYLD_LIBRARY_PATH" : "LD_LIBRARY_PATH";
  return {
    directory,
    reference,
    native,
    account,
    environment: { ...engineEnvironment(), [variable]: libraries },
  };
}

/** The embedded Postgres, its files under `<data>/postgres`, its port on loopback. Throws when root has no account for it. */
export function postgresEngine(options: PostgresEngineOptions): Engine {
  const home = postgresHome(options, postgresAccount());
  const marker = `cluster_name=obs-${options.instance}`;
  const url = `postgres://${POSTGRES_USER}:${options.password}@127.0.0.1:${options.port}/${POSTGRES_USER}`;
  return {
    name: "Postgres",
    outputPath: join(options.dataDirectory, "log", "postgres.log"),
    prepare: async () => {
      mkdirSync(home.directory, { recursive: true, mode: 0o700 });
      chmodSync(home.directory, 0o700);
      if (home.account !== null) chownSync(home.directory, home.account.uid, home.account.gid);
      await settlePostmaster(join(home.directory, "cluster"), marker);
      linkLibraries(home.native, join(home.directory, "lib"));
      await createCluster(home, {
        superuserPassword: options.superuserPassword,
        name: POSTGRES_USER,
        password: options.password,
      });
    },
    command: () => {
      const settings = { ...SETTINGS, ...options.settings, port: String(options.port) };
      const launch = formatPostgresLaunch({
        command: [
          join(home.native, "bin", "postgres"),
          "-D",
          `${home.reference}/cluster`,
          "-c",
          marker,
          ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
        ],
        environment: home.environment,
        directory: home.directory,
        account: home.account,
      });
      return {
        command: [process.execPath, "--smol", join(import.meta.dir, "postgres-child.ts"), launch],
        environment: engineEnvironment(),
        workingDirectory: home.directory,
      };
    },
    probe: async (signal) => {
      const sql = postgres(url, {
        max: 1,
        connect_timeout: 2,
        onnotice: () => undefined,
        fetch_types: false,
      });
      const abort = () => void sql.end({ timeout: 0 });
      signal.addEventListener("abort", abort);
      try {
        await sql`SELECT 1`;
      } finally {
        signal.removeEventListener("abort", abort);
        await sql.end({ timeout: 1 });
      }
    },
  };
}
