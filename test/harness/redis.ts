import { existsSync } from "node:fs";
import { Redis } from "ioredis";
import { serverPort } from "./server-port.ts";

/** A Redis server of one suite, empty at its start and without persistence. */
export interface TestRedis {
  readonly url: string;
  /** Ends the server; clients of the suite are to be closed before. */
  readonly close: () => Promise<void>;
}

const BINARIES = ["/usr/bin/redis-server", "/usr/local/bin/redis-server", "/opt/homebrew/bin/redis-server"];

async function waitUntilAnswering(url: string): Promise<void> {
  const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: 250 });
  client.on("error", () => undefined);
  try {
    await client.ping();
  } finally {
    client.disconnect();
  }
}

/**
 * Starts a real Redis on a free loopback port, or says on standard error that there is no binary and answers null.
 * The server ends with the test process, also when that is killed.
 */
export async function openTestRedis(): Promise<TestRedis | null> {
  const binary = BINARIES.find((path) => existsSync(path));
  if (binary === undefined) {
    process.stderr.write("skipped: no redis-server binary on this machine (Debian package redis-server)\n");
    return null;
  }
  const port = await serverPort();
  const settings = ["--bind", "127.0.0.1", "--port", String(port), "--save", "", "--appendonly", "no"];
  // The shell holds our pipe: when it closes, for whatever reason, the server is stopped.
  const guard = Bun.spawn(
    [
      "sh",
      "-c",
      'exec 3<&0; "$@" </dev/null & cat <&3 >/dev/null; kill $!; wait',
      "guard",
      binary,
      ...settings,
    ],
    {
      stdin: "pipe",
      stdout: "ignore",
      stderr: "ignore",
      detached: true,
    },
  );
  const url = `redis://127.0.0.1:${port}`;
  await waitUntilAnswering(url);
  return {
    url,
    close: async () => {
      await guard.stdin.end();
      await guard.exited;
    },
  };
}
