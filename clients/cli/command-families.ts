import type { Command } from "commander";
import type { CliContext } from "./context.ts";

type AddCommands = (program: Command, context: CliContext) => void;

/** Commands of one file. */
interface CommandFamily {
  /** The words by which they are called; none where a command is about all the others. */
  readonly words: readonly string[];
  readonly read: () => Promise<AddCommands>;
}

const RECORDS = [
  ...["monitors", "incidents", "alerts", "silences", "maintenance", "detections"],
  ...["cases", "errors", "iocs", "assets", "oncall"],
];

/** In the order of the help. */
const FAMILIES: readonly CommandFamily[] = [
  { words: ["login"], read: async () => (await import("./commands/login.ts")).addLoginCommand },
  { words: ["ship"], read: async () => (await import("./commands/ship.ts")).addShipCommand },
  { words: ["search"], read: async () => (await import("./commands/search.ts")).addSearchCommand },
  { words: ["tail"], read: async () => (await import("./commands/tail.ts")).addTailCommand },
  { words: ["query"], read: async () => (await import("./commands/query.ts")).addQueryCommand },
  { words: ["patterns"], read: async () => (await import("./commands/patterns.ts")).addPatternsCommand },
  { words: ["probe"], read: async () => (await import("./commands/probe.ts")).addProbeCommand },
  { words: ["token"], read: async () => (await import("./commands/token.ts")).addTokenCommand },
  { words: ["sources"], read: async () => (await import("./commands/sources.ts")).addSourcesCommand },
  { words: ["archive"], read: async () => (await import("./commands/archive.ts")).addArchiveCommand },
  { words: RECORDS, read: async () => (await import("./commands/records.ts")).addRecordCommands },
  { words: ["mcp"], read: async () => (await import("./commands/mcp.ts")).addMcpCommand },
  {
    words: ["export", "plan", "apply", "drift"],
    read: async () => (await import("./commands/configuration.ts")).addConfigurationCommands,
  },
  { words: ["import"], read: async () => (await import("./commands/import.ts")).addImportCommand },
  { words: [], read: async () => (await import("./commands/completion.ts")).addCompletionCommand },
];

/**
 * Adds what the first argument calls, or every command where it calls none, as `help` and options do: to read all of them takes
 * longer than most commands run.
 */
export async function addCommands(
  program: Command,
  context: CliContext,
  [called = ""]: readonly string[],
): Promise<void> {
  const family = FAMILIES.find(({ words }) => words.includes(called));
  for (const { read } of family === undefined ? FAMILIES : [family]) (await read())(program, context);
}
