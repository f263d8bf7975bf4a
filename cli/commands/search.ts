import { type Command, InvalidArgumentError, Option } from "commander";
import { UsageError } from "../cli-error.ts";
import { resolveConnection } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { ApiClient } from "../http/api-client.ts";
import { SEARCH_LIMIT_DEFAULT, SEARCH_PAGE_MAX } from "../limits.ts";
import { formatEntry } from "../search/format-entry.ts";
import { readPages } from "../search/read-pages.ts";
import { parseTime } from "../search/time-argument.ts";
import { LEVELS } from "../ship/entry-text.ts";
import { makeColors, wantsColor } from "../terminal/colors.ts";
import { escapeControlsInJson } from "../terminal/escape-controls.ts";
import type { GlobalOptions } from "./global-options.ts";

interface SearchFlags {
  service?: string;
  level?: string;
  from?: string;
  to?: string;
  limit: number;
  all?: boolean;
  color: boolean;
}

/** `obs search [WORD...]` */
export function addSearchCommand(program: Command, context: CliContext): void {
  program
    .command("search")
    .description("find log entries, newest first")
    .argument("[words...]", 'words that must all occur; "a phrase" in quotes of its own, -not, OR')
    .option("--service <name>", "only entries of this service")
    .addOption(new Option("--level <level>", "only entries of this level").choices(LEVELS))
    .option("--from <time>", "not before: a date-time, or an age such as 15m, 2h, 1d")
    .option("--to <time>", "not after")
    .option("--limit <entries>", "entries at the most", positive, SEARCH_LIMIT_DEFAULT)
    .option("--all", "every entry that matches")
    .option("--no-color", "no colours on a terminal")
    .addHelpText("after", "\nA word that begins with a dash goes behind --: obs search error -- -timeout")
    .action(async (words: string[], flags: SearchFlags, command: Command) => {
      await runSearch(context, words, flags, command.optsWithGlobals<GlobalOptions>());
    });
}

async function runSearch(
  context: CliContext,
  words: readonly string[],
  flags: SearchFlags,
  globals: GlobalOptions,
): Promise<void> {
  const { baseUrl, token } = await resolveConnection(context, globals.url);
  const api = new ApiClient({ baseUrl, token, fetch: context.fetch });
  const query = new URLSearchParams();
  if (words.length > 0) query.set("q", words.join(" "));
  if (flags.service !== undefined) query.set("service", flags.service);
  if (flags.level !== undefined) query.set("level", flags.level);
  if (flags.from !== undefined) query.set("from", timeArgument("--from", flags.from, context.now()));
  if (flags.to !== undefined) query.set("to", timeArgument("--to", flags.to, context.now()));

  const { isTerminal } = context.stdout;
  const colors = makeColors(flags.color && wantsColor(context.env, isTerminal));
  let left = flags.all === true ? Number.POSITIVE_INFINITY : flags.limit;
  for await (const entries of readPages(api, query, () => Math.min(left, SEARCH_PAGE_MAX))) {
    const lines = entries.slice(0, left).map((entry) => {
      if (globals.json !== true) return formatEntry(entry, colors);
      const text = JSON.stringify(entry);
      return isTerminal ? escapeControlsInJson(text) : text;
    });
    left -= lines.length;
    if (lines.length > 0) await context.stdout.write(`${lines.join("\n")}\n`);
    if (left <= 0) return;
  }
}

function timeArgument(option: string, text: string, nowMs: number): string {
  const time = parseTime(text, nowMs);
  if (time === null)
    throw new UsageError(`${option} takes a date-time or an age such as 15m, 2h or 1d, not ${text}`);
  return time;
}

function positive(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1 up.");
  return Number(text);
}
