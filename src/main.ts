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
    "Get a token:      bunx obs login --register",
    "Ship a log file:  bunx obs ship FILE",
    "Find a line:      bunx obs search WORD",
    `The API:          ${url}/docs`,
    "",
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}

const START_ENDS = ["SIGTERM", "SIGINT"] as const;

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
  const endStart = () => process.exit(0);
  // A start may wait long for its stores. Nothing is acknowledged before its end, and a process that a container begins with
  // hears of no signal that it has not asked for.
  for (const signal of START_ENDS) process.once(signal, endStart);
  const server = await startServer(config, metrics, log);
  for (const signal of START_ENDS) process.off(signal, endStart);
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
