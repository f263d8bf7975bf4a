import type { Command } from "commander";
import { ApiClient } from "../../api/client.ts";
import { isRecord, parseJsonExactly } from "../../api/json.ts";
import { readPages } from "../../api/page.ts";
import { resolveConnection } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { foreignAnswer } from "../failures.ts";
import { SEARCH_LIMIT_DEFAULT, SEARCH_PAGE_MAX } from "../limits.ts";
import { explainQueryProblems } from "../query/query-problems.ts";
import { formatEntry } from "../search/format-entry.ts";
import { jsonText } from "../terminal/json-text.ts";
import { addColorOption, type ColorFlags, colorsOf } from "./color-option.ts";
import { addSelectionOptions, type SelectionFlags, selectionOf } from "./filter-options.ts";
import type { GlobalOptions } from "./global-options.ts";
import { positiveInteger } from "./positive-integer.ts";

interface SearchFlags extends SelectionFlags, ColorFlags {
  limit: number;
  all?: boolean;
}

/** `obs search [WORD...]` */
export function addSearchCommand(program: Command, context: CliContext): void {
  const command = program.command("search").description("find log entries, newest first");
  addColorOption(addSelectionOptions(command))
    .option("--limit <entries>", "entries at the most", positiveInteger, SEARCH_LIMIT_DEFAULT)
    .option("--all", "every entry that matches")
    .addHelpText("after", "\nA word that begins with a dash goes behind --: obs search error -- -timeout")
    .action(async (words: string[], flags: SearchFlags, self: Command) => {
      await runSearch(context, words, flags, self.optsWithGlobals<GlobalOptions>());
    });
}

async function runSearch(
  context: CliContext,
  words: readonly string[],
  flags: SearchFlags,
  globals: GlobalOptions,
): Promise<void> {
  const { baseUrl, token } = await resolveConnection(context, globals.url);
  const api = new ApiClient({ baseUrl, token, fetch: context.fetch, parseJson: parseJsonExactly });
  const selection = selectionOf(words, flags, context.now());
  const colors = colorsOf(flags, context);
  let left = flags.all === true ? Number.POSITIVE_INFINITY : flags.limit;
  const pages = readPages(api, "GET /api/v1/logs/search", (cursor) => ({
    query: { ...selection, limit: Math.min(left, SEARCH_PAGE_MAX), ...cursor },
  }));
  try {
    for await (const { entries } of pages) {
      if (!Array.isArray(entries)) throw foreignAnswer(baseUrl, "a search");
      const lines = entries
        .filter(isRecord)
        .slice(0, left)
        .map((entry) => {
          if (globals.json !== true) return formatEntry(entry, colors);
          return jsonText(entry, context.stdout);
        });
      left -= lines.length;
      if (lines.length > 0) await context.stdout.write(`${lines.join("\n")}\n`);
      if (left <= 0) return;
    }
  } catch (error) {
    throw explainQueryProblems(error, flags.query);
  }
}
