import type { Command } from "commander";
import { ApiClient } from "../../api/client.ts";
import { readPages } from "../../api/page.ts";
import { resolveConnection } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { foreignAnswer } from "../failures.ts";
import { invocation, shellWord } from "../invocation.ts";
import { rangeInWords } from "../search/explain-nothing.ts";
import { makeColors, wantsColor } from "../terminal/colors.ts";
import { escapeControlsInCell } from "../terminal/escape-controls.ts";
import { jsonText } from "../terminal/json-text.ts";
import { formatBytes, formatCount, formatCountOf } from "../terminal/quantities.ts";
import { formatTable, type TableColumn } from "../terminal/table.ts";
import { addTimeOptions, type TimeFlags, type TimeRange, timeRangeOf } from "./filter-options.ts";
import type { GlobalOptions } from "./global-options.ts";
import { positiveInteger } from "./positive-integer.ts";

const LIMIT_DEFAULT = 100;
const COLUMNS: readonly TableColumn[] = [
  { header: "received", align: "left", isRigid: true },
  { header: "state", align: "left", isRigid: true },
  { header: "entries", align: "right", isRigid: true },
  { header: "size", align: "right", isRigid: true },
  { header: "from", align: "left", isRigid: true },
  { header: "to", align: "left", isRigid: true },
  { header: "file", align: "left", isRigid: false },
];

/** `obs archive list` and `obs archive restore` */
export function addArchiveCommand(program: Command, context: CliContext): void {
  const command = program.command("archive").description("what is archived; every search reads it, too");
  command
    .command("list")
    .description("the files of the archive, a day of receipt each, the last archived first")
    .option("--limit <n>", "how many files", positiveInteger, LIMIT_DEFAULT)
    .action(async ({ limit }: { limit: number }, self: Command) => {
      const globals = self.optsWithGlobals<GlobalOptions>();
      await list(context, await apiOf(context, globals), limit, globals.json === true);
    });
  addTimeOptions(
    command
      .command("restore")
      .description("how archived entries of a time are read: where they are, so that nothing is put back"),
  ).action(async (flags: TimeFlags, self: Command) => {
    const globals = self.optsWithGlobals<GlobalOptions>();
    const range = timeRangeOf(flags, context.now());
    await showWhereTheyAre(context, await apiOf(context, globals), range, globals.json === true);
  });
}

async function apiOf(context: CliContext, globals: GlobalOptions): Promise<ApiClient> {
  const { baseUrl, token } = await resolveConnection(context, globals.url);
  return new ApiClient({ baseUrl, token, fetch: context.fetch });
}

/** What of the archive is of a time, and the commands that read it as they read all others. */
async function showWhereTheyAre(
  { stdout, stderr, env }: CliContext,
  api: ApiClient,
  range: TimeRange,
  asJson: boolean,
): Promise<void> {
  const fromMs = range.from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(range.from);
  const toMs = range.to === undefined ? Number.POSITIVE_INFINITY : Date.parse(range.to);
  const sum = { files: 0, entries: 0, bytes: 0 };
  const pages = readPages(api, "GET /api/v1/logs/archive/units", (cursor) => ({ query: cursor }));
  for await (const { items } of pages) {
    if (!Array.isArray(items)) throw foreignAnswer(api.baseUrl, "the archive");
    for (const unit of items) {
      if (Date.parse(unit.to) < fromMs || Date.parse(unit.from) > toMs) continue;
      sum.files++;
      sum.entries += unit.entries;
      sum.bytes += unit.bytes;
      if (asJson) await stdout.write(`${jsonText(unit, stdout)}\n`);
    }
  }
  if (sum.files === 0) {
    await stderr.write(`nothing ${rangeInWords(range)} is archived\n`);
    return;
  }
  const files = `${formatCountOf(sum.files, "file")} of ${formatCountOf(sum.entries, "entry", "entries")}, ${formatBytes(sum.bytes)}`;
  await stderr.write(
    `nothing has to be put back: search, query, patterns and export read ${files}, where they are\n`,
  );
  if (asJson) return;
  const options = Object.entries(range).map(([name, time]) => ` --${name} ${shellWord(time)}`);
  for (const example of ["search WORD", "query 'logs | summarize count() by service'"])
    await stdout.write(`${invocation(env)} ${example}${options.join("")}\n`);
}

async function list(
  { stdout, stderr, env }: CliContext,
  api: ApiClient,
  limit: number,
  asJson: boolean,
): Promise<void> {
  const rows: string[][] = [];
  const sum = { entries: 0, bytes: 0 };
  let hasMore = false;
  const pages = readPages(api, "GET /api/v1/logs/archive/units", (cursor) => ({ query: cursor }));
  for await (const { items, nextCursor } of pages) {
    if (!Array.isArray(items)) throw foreignAnswer(api.baseUrl, "the archive");
    const shown = items.slice(0, limit - rows.length);
    for (const unit of shown) {
      sum.entries += unit.entries;
      sum.bytes += unit.bytes;
      const { day, state, from, to, file } = unit;
      const cells = [day, state, formatCount(unit.entries), formatBytes(unit.bytes), from, to, file];
      rows.push(cells.map(escapeControlsInCell));
      if (asJson) await stdout.write(`${jsonText(unit, stdout)}\n`);
    }
    hasMore = shown.length < items.length || nextCursor !== null;
    if (rows.length >= limit) break;
  }
  if (!asJson && rows.length > 0) {
    const colors = makeColors(wantsColor(env, stdout.isTerminal));
    await stdout.write(`${formatTable({ columns: COLUMNS, rows }, stdout.columns, colors).join("\n")}\n`);
  }
  const more = hasMore ? "; there are more (--limit N shows them)" : "";
  const what = `${formatCountOf(rows.length, "file")}, ${formatCountOf(sum.entries, "entry", "entries")}, ${formatBytes(sum.bytes)}`;
  await stderr.write(rows.length === 0 ? "nothing is archived\n" : `${what}${more}\n`);
}
