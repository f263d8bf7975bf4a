/**
 * Watches over the embedded Postgres, which does not notice the end of the server by itself: starts it with the
 * arguments of `postgres-child.ts <JSON>`, and stops it when standard input closes, that is, when the server has
 * ended in whatever way. Ends with Postgres' exit code.
 */
import { openSync } from "node:fs";
import { parsePostgresLaunch } from "./postgres-launch.ts";

/** Postgres ends its clients and writes a checkpoint; the server's own deadline for an engine is longer than both. */
const FAST_SHUTDOWN_MS = 4_000;
const IMMEDIATE_SHUTDOWN_MS = 1_000;

const launch = parsePostgresLaunch(process.argv[2] ?? "");
const directory = openSync(launch.directory, "r");
const postgres = Bun.spawn([...launch.command], {
  cwd: "/",
  env: { ...launch.environment },
  // The fourth descriptor is the folder, under the number that its path in the command refers to.
  stdio: ["ignore", "inherit", "inherit", directory],
  ...(launch.account === null ? {} : { uid: launch.account.uid, gid: launch.account.gid }),
});

let stopping = false;
async function stopPostgres(): Promise<void> {
  if (stopping) return;
  stopping = true;
  postgres.kill("SIGINT");
  await Bun.sleep(FAST_SHUTDOWN_MS);
  postgres.kill("SIGQUIT");
  await Bun.sleep(IMMEDIATE_SHUTDOWN_MS);
  postgres.kill("SIGKILL");
}

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => void stopPostgres());
process.stdin.on("end", () => void stopPostgres());
process.stdin.on("error", () => void stopPostgres());
process.stdin.resume();

await postgres.exited;
process.exit(postgres.exitCode ?? 1);
