import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../../src/storage/embedded/free-port.ts";
import { eventually } from "../../test/harness/eventually.ts";
import { usageBetween, usageOfTree } from "../ingest/process-usage.ts";

/** What the reference did. */
interface KumaTurn {
  readonly monitors: number;
  /** Checks that should have been made: an interval begins when the check before is over. */
  readonly due: number;
  readonly checks: number;
  readonly checksPerCoreSecond: number;
}

/** It begins monitors one after the other, up to a second apart, so there are few, with a short interval. */
const MONITORS = 100;
const INTERVAL_SEC = 1;
const START_TIMEOUT_MS = 240_000;

/**
 * The reference that plans and stores its checks as well: Uptime Kuma on SQLite, from the folder of its npm package in
 * `UPTIME_KUMA`; docs/performance.md says how to make one that runs. Null without it. `count` says how many requests the target
 * has got since it was last asked.
 */
export async function runKuma(
  target: string,
  seconds: number,
  count: () => Promise<number>,
): Promise<KumaTurn | null> {
  const program = process.env.UPTIME_KUMA;
  if (program === undefined) return null;
  const directory = mkdtempSync(join(tmpdir(), "obs-bench-kuma-"));
  try {
    writeFileSync(join(directory, "db-config.json"), '{"type":"sqlite"}');
    // The first start makes the tables.
    const first = await startKuma(program, directory);
    await first.stop();
    insertMonitors(join(directory, "kuma.db"), target);
    const kuma = await startKuma(program, directory);
    try {
      await eventually(
        "every monitor of Uptime Kuma is checked",
        async () => {
          await count();
          await Bun.sleep(1_000);
          return (await count()) >= MONITORS * 0.9;
        },
        START_TIMEOUT_MS,
      );
      await count();
      const before = usageOfTree(kuma.pid);
      await Bun.sleep(seconds * 1000);
      const usage = Object.values(usageBetween(before, usageOfTree(kuma.pid)));
      const checks = await count();
      const cpuSeconds = usage.reduce((sum, role) => sum + role.cpuSeconds, 0);
      return {
        monitors: MONITORS,
        due: (MONITORS * seconds) / INTERVAL_SEC,
        checks,
        checksPerCoreSecond: Math.round(checks / cpuSeconds),
      };
    } finally {
      await kuma.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startKuma(program: string, directory: string) {
  const port = await findFreePort();
  const child = Bun.spawn(["node", "server/server.js"], {
    cwd: program,
    env: {
      ...process.env,
      DATA_DIR: `${directory}/`,
      UPTIME_KUMA_HOST: "127.0.0.1",
      UPTIME_KUMA_PORT: String(port),
      NODE_ENV: "production",
    },
    stdout: "ignore",
    stderr: "ignore",
  });
  await eventually(
    "Uptime Kuma answers",
    () =>
      fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      ),
    START_TIMEOUT_MS,
  );
  return {
    pid: child.pid,
    stop: async () => {
      child.kill();
      await child.exited;
    },
  };
}

function insertMonitors(file: string, target: string): void {
  const database = new Database(file);
  database.run("INSERT INTO user (id, username, password) VALUES (1, 'bench', 'nobody signs in')");
  // It asks nobody on the internet for a newer version.
  database.run("INSERT INTO setting (key, value) VALUES ('checkUpdate', 'false')");
  const insert = database.prepare(
    `INSERT INTO monitor (name, active, user_id, interval, url, type, retry_interval, timeout)
     VALUES (?, 1, 1, ?, ?, 'http', ?, 5)`,
  );
  for (let index = 0; index < MONITORS; index++)
    insert.run(`Monitor ${index}`, INTERVAL_SEC, `${target}${index}`, INTERVAL_SEC);
  database.close();
}
