import type { Command } from "commander";
import { ApiClient } from "../../api/client.ts";
import { isRecord, parseJsonExactly } from "../../api/json.ts";
import { readPages } from "../../api/page.ts";
import { resolveConnection } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { foreignAnswer } from "../failures.ts";
import { invocation } from "../invocation.ts";
import { SEARCH_LIMIT_DEFAULT, SEARCH_PAGE_MAX } from "../limits.ts";
import { explainQueryProblems } from "../query/query-problems.ts";
import { archiveInWords, noticesOf } from "../search/answer-notices.ts";
import { explainNothing, rangeInWords } from "../search/explain-nothing.ts";
import { formatEntry } from "../search/format-entry.ts";
import { wordMarker } from "../search/mark-words.ts";
import { jsonText } from "../terminal/json-text.ts";
import { formatCount, formatCountOf } from "../terminal/quantities.ts";
import { addColorOption, type ColorFlags, colorsOf } from "./color-option.ts";
import { addSelectionOptions, type SelectionFlags, selectionOf } from "./filter-options.ts";
import type { GlobalOptions } from "./global-options.ts";
import { positiveInteger } from "./positive-integer.ts";

interface SearchFlags extends SelectionFlags, ColorFlags {
  limit: number;
  all?: boolean;
  archive?: boolean;
}

/** Every search reads both places, so that this option has nothing to say any more. */
const ARCHIVE_NOTICE = "obs: --archive changes nothing: every search reads the archive, too\n";

/** `obs search [WORD...]` */
export function addSearchCommand(program: Command, context: CliContext): void {
  const command = program
    .command("search")
    .description("find log entries, newest first; of all times unless --since, --from or --to say otherwise");
  addColorOption(addSelectionOptions(command))
    .option("--limit <entries>", "entries at the most", positiveInteger, SEARCH_LIMIT_DEFAULT)
    .option("--all", "every entry that matches")
    .option("--archive", "changes nothing: every search reads the archive, too")
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
  const { stdout, stderr } = context;
  const colors = colorsOf(flags, context);
  const mark = await wordMarker(words.join(" "), colors);
  let left = flags.all === true ? Number.POSITIVE_INFINITY : flags.limit;
  const found: Found = { shown: 0, total: 0, isExact: true, archive: "", notices: new Set() };
  if (flags.archive === true) await stderr.write(ARCHIVE_NOTICE);
  const pages = readPages(api, "GET /api/v1/logs/search", (cursor) => ({
    query: { ...selection, limit: Math.min(left, SEARCH_PAGE_MAX), ...cursor },
  }));
  try {
    for await (const page of pages) {
      if (!Array.isArray(page.entries)) throw foreignAnswer(baseUrl, "a search");
      const lines = page.entries
        .filter(isRecord)
        .slice(0, left)
        .map((entry) =>
          globals.json === true ? jsonText(entry, stdout) : formatEntry(entry, colors, { mark }),
        );
      left -= lines.length;
      found.shown += lines.length;
      // Numbers that lose no digit are opaque values here.
      found.total = Number(page.total);
      found.isExact = page.totalIsExact !== false;
      // Each page says it of itself; that of the last one is shown.
      found.archive = archiveInWords(page.stats);
      for (const notice of noticesOf(page)) found.notices.add(notice);
      if (lines.length > 0) await stdout.write(`${lines.join("\n")}\n`);
      if (left <= 0) break;
    }
    await stderr.write(`${summaryOf(found)} ${rangeInWords(selection)}${found.archive}\n`);
    for (const notice of found.notices) await stderr.write(`obs: ${notice}\n`);
    if (found.shown > 0) return;
    await stderr.write(`${await explainNothing(api, selection, invocation(context.env))}\n`);
  } catch (error) {
    throw explainQueryProblems(error, flags.query);
  }
}

interface Found {
  shown: number;
  total: number;
  isExact: boolean;
  /** What of the archive was looked into, in words. */
  archive: string;
  /** What the answers warn of. */
  readonly notices: Set<string>;
}

function summaryOf({ shown, total, isExact }: Found): string {
  if (shown === 0) return "nothing found";
  if (total <= shown) return formatCountOf(shown, "entry", "entries");
  const all = `${isExact ? "" : "more than "}${formatCount(total)}`;
  return `${formatCount(shown)} of ${all} entries (--limit N or --all shows more)`;
}
