import type { Command } from "commander";
import { ApiClient } from "../../api/client.ts";
import { CliError, UsageError } from "../cli-error.ts";
import { resolveConnection } from "../config/connection.ts";
import type { CliContext, Output } from "../context.ts";
import { QUERY_TIMEOUT_MS, WIDTH_DEFAULT_COLUMNS } from "../limits.ts";
import type { QueryAnswer } from "../query/answer.ts";
import { drawChart } from "../query/chart.ts";
import { chartDataOf } from "../query/chart-data.ts";
import { fullColumns } from "../query/full-columns.ts";
import { explainQueryProblems } from "../query/query-problems.ts";
import { askForQuery } from "../query/query-prompt.ts";
import { readQueryText } from "../query/query-text.ts";
import { asCsvLines, asJsonLines, asTable } from "../query/row-formats.ts";
import { type QueryProgress, sendQuery } from "../query/send-query.ts";
import { escapeControls, escapeControlsInJson, escapeControlsInLines } from "../terminal/escape-controls.ts";
import { formatBytes, formatCountOf, formatSeconds } from "../terminal/quantities.ts";
import { formatTable } from "../terminal/table.ts";
import { cutToWidth } from "../terminal/text-width.ts";
import { addColorOption, type ColorFlags, colorsOf } from "./color-option.ts";
import { addTimeOptions, type TimeFlags, timeRangeOf } from "./filter-options.ts";
import type { GlobalOptions } from "./global-options.ts";

interface QueryFlags extends TimeFlags, ColorFlags {
  csv?: boolean;
  chart?: boolean;
  progress: boolean;
}

/** `obs query [KQL]` */
export function addQueryCommand(program: Command, context: CliContext): void {
  const command = program
    .command("query")
    .description("run a KQL query")
    .argument("[kql]", "the query; - or nothing reads it from standard input");
  addColorOption(addTimeOptions(command))
    .option("--csv", "CSV with a header instead of a table")
    .option("--chart", "draw what the query renders, or its numbers over time or as bars")
    .option("--no-progress", "do not say on a terminal how far the server is")
    .addHelpText(
      "after",
      `
With --json each row is a JSON object on a line of its own, numbers with every digit.
  obs query 'logs | where level == "error" | summarize count() by service' --since 1h
  obs query --csv < report.kql > report.csv`,
    )
    .action(async (kql: string | undefined, flags: QueryFlags, self: Command) => {
      await runQuery(context, kql, flags, self.optsWithGlobals<GlobalOptions>());
    });
}

async function runQuery(
  context: CliContext,
  kql: string | undefined,
  flags: QueryFlags,
  globals: GlobalOptions,
): Promise<void> {
  const forms = [globals.json, flags.csv, flags.chart].filter((form) => form === true);
  if (forms.length > 1)
    throw new UsageError("--json, --csv and --chart are three forms of one answer: use one");
  const range = timeRangeOf(flags, context.now());
  const { baseUrl, token } = await resolveConnection(context, globals.url);
  const api = new ApiClient({ baseUrl, token, fetch: context.fetch, timeoutMs: QUERY_TIMEOUT_MS });
  const query = kql === undefined || kql === "-" ? await queryFromInput(context, api) : kql;
  const progress = flags.progress && context.stderr.isTerminal ? new ProgressLine(context.stderr) : null;
  let answer: QueryAnswer;
  try {
    answer = await sendQuery(api, { query, ...range }, progress && ((step) => progress.show(step)));
  } catch (error) {
    throw explainQueryProblems(error, query);
  } finally {
    await progress?.clear();
  }
  const isTable = forms.length === 0 && context.stdout.isTerminal;
  const { answer: shown, leftOut } = isTable ? fullColumns(answer) : { answer, leftOut: [] };
  const text = formatAnswer({ ...answer, ...shown }, flags, globals, context);
  if (text !== "") await context.stdout.write(text);
  await context.stderr.write(`${summaryOf(answer)}\n`);
  for (const notice of answer.notices) await context.stderr.write(`obs: ${notice}\n`);
  if (leftOut.length > 0)
    await context.stderr.write(`left out, for they are empty: ${leftOut.map(escapeControls).join(", ")}\n`);
}

async function queryFromInput({ stdinIsTerminal, stderr }: CliContext, api: ApiClient): Promise<string> {
  const isAsked = stdinIsTerminal && stderr.isTerminal;
  if (isAsked) await stderr.write("obs: the query, then an empty line; Tab completes:\n");
  const query = isAsked ? await askForQuery(api) : await readQueryText(Bun.stdin.stream());
  if (query.trim() === "")
    throw new UsageError("there is no query: give it as an argument or on standard input");
  return query;
}

function formatAnswer(
  answer: QueryAnswer,
  flags: QueryFlags,
  globals: GlobalOptions,
  context: CliContext,
): string {
  const { isTerminal, columns } = context.stdout;
  if (globals.json === true) {
    const lines = asJsonLines(answer);
    return joined(isTerminal ? lines.map(escapeControlsInJson) : lines, "\n");
  }
  if (flags.csv === true) {
    const lines = asCsvLines(answer);
    return isTerminal
      ? joined(
          lines.map((line) => escapeControlsInLines(line, "")),
          "\n",
        )
      : joined(lines, "\r\n");
  }
  if (flags.chart === true) {
    const data = chartDataOf(answer);
    if (data === null)
      throw new CliError("there is nothing to draw: the answer has no numbers by time or by name");
    return joined(drawChart(data, columns ?? WIDTH_DEFAULT_COLUMNS), "\n");
  }
  if (answer.columns.length === 0) return "";
  return joined(formatTable(asTable(answer), columns, colorsOf(flags, context)), "\n");
}

function joined(lines: readonly string[], end: string): string {
  return lines.length === 0 ? "" : lines.join(end) + end;
}

function summaryOf({ rows, isTruncated, stats, archive }: QueryAnswer): string {
  const { elapsedMs, rowsRead, bytesRead } = stats;
  const cut = isTruncated ? " (the answer was cut off, there are more)" : "";
  const read = `read ${formatCountOf(rowsRead, "row")}, ${formatBytes(bytesRead)}`;
  return `${formatCountOf(rows.length, "row")}${cut} in ${formatSeconds(elapsedMs)}; ${read}${archive}`;
}

/** One line of a terminal that says how far a query is, and goes away when it has ended. */
class ProgressLine {
  readonly #output: Output;
  #isShown = false;

  constructor(output: Output) {
    this.#output = output;
  }

  show({ rowsRead, bytesRead, elapsedMs }: QueryProgress): void {
    this.#isShown = true;
    const text = `${formatCountOf(rowsRead, "row")}, ${formatBytes(bytesRead)} read in ${formatSeconds(elapsedMs)}`;
    // The last column stays free: a terminal that wraps there would leave the line behind.
    const fitting = cutToWidth(text, (this.#output.columns ?? WIDTH_DEFAULT_COLUMNS) - 1);
    void this.#output.write(`\r\u001b[K${fitting}`);
  }

  async clear(): Promise<void> {
    if (this.#isShown) await this.#output.write("\r\u001b[K");
  }
}
