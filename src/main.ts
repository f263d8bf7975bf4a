import { ConfigError, drainSecondsOf, loadConfig } from "./config/config.ts";
import { createLogger } from "./log.ts";
import { createMetrics } from "./server/metrics.ts";
import { watchProcessFaults } from "./server/process-faults.ts";
import { startServer } from "./server/server.ts";
import { ServerStop } from "./server/server-stop.ts";

function printWelcome(url: string): void {
  const lines = [
    `obs listens on ${url}`,
    "",
    "Get a token:      bun run obs login --register",
    "Ship a log file:  bun run obs ship FILE",
    "Find a line:      bun run obs search WORD",
    `The API:          ${url}/docs`,
    "",
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}

async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const log = createLogger(config.logLevel);
  const metrics = createMetrics();
  let stop: ServerStop | undefined;
  watchProcessFaults({
    log,
    faults: metrics.uncaughtFaults,
    // In the middle of the start there is nothing yet that would have to be stopped in order.
    stop: () => (stop === undefined ? process.exit(1) : stop.afterFault()),
  });
  const server = await startServer(config, metrics, log);
  const drainMs = drainSecondsOf(config) * 1000;
  stop = new ServerStop({ server, drainMs, log, exit: (code) => process.exit(code) });
  stop.onSignals();
  printWelcome(server.url);
}

try {
  await main();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`obs: ${error instanceof ConfigError ? message : `cannot start: ${message}`}\n`);
  process.exit(1);
}
