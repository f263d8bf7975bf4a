import type { Command } from "commander";
import { resolveConnection } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { ApiClient } from "../http/api-client.ts";
import { QUERY_TIMEOUT_MS } from "../limits.ts";
import { formatPatterns } from "../patterns/format-patterns.ts";
import { decodePatternReport, type PatternReport } from "../patterns/pattern-report.ts";
import { explainQueryProblems } from "../query/query-problems.ts";
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
  const query = selectionOf(words, flags, context.now());
  if (flags.limit !== undefined) query.set("limit", String(flags.limit));
  const { baseUrl, token } = await resolveConnection(context, globals.url);
  const api = new ApiClient({ baseUrl, token, fetch: context.fetch, timeoutMs: QUERY_TIMEOUT_MS });
  const { stdout, stderr } = context;
  let report: PatternReport;
  try {
    const answer = await api.expect([200], { method: "GET", path: "/api/v1/logs/patterns", query });
    report = decodePatternReport(answer.text, baseUrl);
  } catch (error) {
    throw explainQueryProblems(error, flags.query);
  }
  if (globals.json === true) {
    await stdout.write(`${jsonText(report.body, stdout)}\n`);
    return;
  }
  const lines = formatPatterns(report, stdout.columns, colorsOf(flags, context));
  await stdout.write(`${lines.join("\n")}\n`);
  await stderr.write(`${summaryOf(report)}\n`);
}

function summaryOf({ patterns, otherPatterns, total }: PatternReport): string {
  const entries = total === 1 ? "1 entry" : `${formatCount(total)} entries`;
  const more = otherPatterns > 0 ? `, and ${formatCount(otherPatterns)} more` : "";
  return `${formatCountOf(patterns.length, "pattern")} of ${entries}${more}`;
}
