import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeToken, startServer } from "../../test/harness/server-process.ts";

/** A server of its own with an empty data directory, and a token for it. */
export interface BenchServer {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly dataDirectory: string;
  /** Value of one metric, summed over its labels. */
  metric(name: string): Promise<number>;
  stop(): Promise<number>;
}

/** Starts the real program on free ports and resolves when it takes requests. */
export async function startBenchServer(
  options: Omit<Parameters<typeof startServer>[0], "dataDirectory"> = {},
): Promise<BenchServer> {
  const dataDirectory = mkdtempSync(join(tmpdir(), "obs-bench-"));
  const server = await startServer({ ...options, dataDirectory });
  return {
    url: server.url,
    token: await makeToken(server.url),
    pid: server.pid,
    dataDirectory,
    metric: async (name) => {
      const text = await (await fetch(`${server.url}/metrics`)).text();
      const values = text
        .split("\n")
        .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
      return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
    },
    stop: () => server.stop(),
  };
}
