import type { Command } from "commander";
import { ApiClient } from "../../api/client.ts";
import { resolveConnection } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { foreignAnswer } from "../failures.ts";
import { QUERY_TIMEOUT_MS } from "../limits.ts";
import { formatPatterns, type PatternReport } from "../patterns/format-patterns.ts";
import { explainQueryProblems } from "../query/query-problems.ts";
import { archiveInWords, noticesOf } from "../search/answer-notices.ts";
import { jsonText } from "../terminal/json-text.ts";
import { formatCount, formatCountOf } from "../terminal/quantities.ts";
import { addColorOption, type ColorFlags, colorsOf } from "./color-option.ts";
import { addSelectionOptions, type SelectionFlags, selectionOf } from "./filter-options.ts";
import type { GlobalOptions } from "./global-options.ts";
import { positiveInteger } from "./positive-integer.ts";

interface PatternsFlags extends SelectionFlags, ColorFlags {
  limit?: number;
}

/** `obs patterns [WORD...]` */
export function addPatternsCommand(program: Command, context: CliContext): void {
  const command = program
    .command("patterns")
    .description("show which forms messages have, how often, and which are new or gone");
  addColorOption(addSelectionOptions(command))
    .option("--limit <patterns>", "patterns at the most", positiveInteger)
    .action(async (words: string[], flags: PatternsFlags, self: Command) => {
      await runPatterns(context, words, flags, self.optsWithGlobals<GlobalOptions>());
    });
}

async function runPatterns(
  context: CliContext,
  words: readonly string[],
  flags: PatternsFlags,
  globals: GlobalOptions,
): Promise<void> {
  const selection = selectionOf(words, flags, context.now());
  const query = { ...selection, ...(flags.limit !== undefined && { limit: flags.limit }) };
  const { baseUrl, token } = await resolveConnection(context, globals.url);
  const api = new ApiClient({ baseUrl, token, fetch: context.fetch, timeoutMs: QUERY_TIMEOUT_MS });
  const { stdout, stderr } = context;
  let report: PatternReport;
  try {
    report = await api.call("GET /api/v1/logs/patterns", { query });
    if (!Array.isArray(report.patterns)) throw foreignAnswer(baseUrl, "about patterns");
  } catch (error) {
    throw explainQueryProblems(error, flags.query);
  }
  if (globals.json === true) {
    await stdout.write(`${jsonText(report, stdout)}\n`);
    return;
  }
  const lines = formatPatterns(report, stdout.columns, colorsOf(flags, context));
  await stdout.write(`${lines.join("\n")}\n`);
  const range = selection.from === undefined && selection.to === undefined ? " of the last 24 hours" : "";
  await stderr.write(`${summaryOf(report, range)}${archiveInWords(report.stats)}\n`);
  for (const notice of noticesOf(report)) await stderr.write(`obs: ${notice}\n`);
}

function summaryOf({ patterns, other, total }: PatternReport, range: string): string {
  const entries = formatCountOf(total, "entry", "entries");
  const more = other.patterns > 0 ? `, and ${formatCount(other.patterns)} more` : "";
  return `${formatCountOf(patterns.length, "pattern")} of ${entries}${range}${more}`;
}
