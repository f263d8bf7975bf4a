#!/usr/bin/env bun
import { Command, CommanderError } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { CliError, EXIT } from "./cli-error.ts";
import { addArchiveCommand } from "./commands/archive.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import { addConfigurationCommands } from "./commands/configuration.ts";
import { addImportCommand } from "./commands/import.ts";
import { addLoginCommand } from "./commands/login.ts";
import { addMcpCommand } from "./commands/mcp.ts";
import { addPatternsCommand } from "./commands/patterns.ts";
import { addProbeCommand } from "./commands/probe.ts";
import { addQueryCommand } from "./commands/query.ts";
import { addRecordCommands } from "./commands/records.ts";
import { addSearchCommand } from "./commands/search.ts";
import { addShipCommand } from "./commands/ship.ts";
import { addSourcesCommand } from "./commands/sources.ts";
import { addTailCommand } from "./commands/tail.ts";
import { addTokenCommand } from "./commands/token.ts";
import { DEFAULT_URL } from "./config/base-url.ts";
import { processContext } from "./context.ts";
import { asCliError } from "./failures.ts";
import { invocation } from "./invocation.ts";

const ENVIRONMENT_AND_EXIT_CODES = `
OBS_URL and OBS_TOKEN name the server and the token; NO_COLOR turns colours off.
Exit codes: 0 done, 1 failed or refused, 2 not understood, 130 interrupted, 143 terminated.`;

const context = processContext();
const program = new Command("obs")
  .description("ship logs to an obs server, find them again, and keep what is set up in files")
  .version(manifest.version)
  .option("--url <address>", `the server; else OBS_URL, else what obs login stored, else ${DEFAULT_URL}`)
  .option("--json", "output for machines")
  .showHelpAfterError(`(${invocation(context.env)} --help lists what there is)`)
  .addHelpText("after", ENVIRONMENT_AND_EXIT_CODES)
  .exitOverride();
addLoginCommand(program, context);
addShipCommand(program, context);
addSearchCommand(program, context);
addTailCommand(program, context);
addQueryCommand(program, context);
addPatternsCommand(program, context);
addProbeCommand(program, context);
addTokenCommand(program, context);
addSourcesCommand(program, context);
addArchiveCommand(program, context);
addRecordCommands(program, context);
addMcpCommand(program, context);
addConfigurationCommands(program, context);
addImportCommand(program, context);
addCompletionCommand(program, context);

try {
  await program.parseAsync();
  process.exit(EXIT.ok);
} catch (error) {
  process.exit(await exitCodeOf(error));
}

/** Says in one line what went wrong; a fault of this program keeps its stack. */
async function exitCodeOf(error: unknown): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const failure = asCliError(error);
  if (!(failure instanceof CliError)) throw error;
  await context.stderr.write(`obs: ${failure.message}\n`);
  return failure.exitCode;
}
