import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LEFTOVER_GRACE_MS } from "../limits.ts";
import { endLeftover, isProcessAlive } from "./process-identity.ts";

/** Larger than any process id of any kernel. */
const IMPOSSIBLE_PID = 2_147_483_647;

/**
 * Settles `postmaster.pid` of an earlier run. A Postgres of this data directory that still runs is stopped: it works in
 * the folder of its cluster. When the id belongs to any other process (a stranger after the restart of a container, the
 * original's Postgres when the folder is a copy), Postgres would refuse to start for ever; the id is replaced by an
 * impossible one, so that Postgres still finds its old shared memory by the rest of the file and waits for processes
 * that hold it.
 */
export async function settlePostmaster(clusterDirectory: string, marker: string): Promise<void> {
  const path = join(clusterDirectory, "postmaster.pid");
  if (!existsSync(path)) return;
  const [first = "", ...rest] = readFileSync(path, "utf8").split("\n");
  const pid = Number.parseInt(first, 10);
  if (!Number.isInteger(pid) || pid <= 0 || !isProcessAlive(pid)) return;
  const leftover = { pid, directory: clusterDirectory, marker };
  if (await endLeftover(leftover, { graceMs: LEFTOVER_GRACE_MS, firstSignal: "SIGINT" })) return;
  if (isProcessAlive(pid)) writeFileSync(path, [String(IMPOSSIBLE_PID), ...rest].join("\n"));
}
