import { type Command, Option } from "commander";
import { ApiClient } from "../../api/client.ts";
import { isRecord, type JsonRecord } from "../../api/json.ts";
import { resolveConnection } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { ALERTING_KINDS } from "../records/alerting-kinds.ts";
import { ON_CALL_KINDS } from "../records/on-call-kinds.ts";
import type { ActionOptions, RecordKind } from "../records/record-kind.ts";
import { SECURITY_KINDS } from "../records/security-kinds.ts";
import { makeColors, wantsColor } from "../terminal/colors.ts";
import { escapeControlsInCell } from "../terminal/escape-controls.ts";
import { jsonText } from "../terminal/json-text.ts";
import { formatCountOf } from "../terminal/quantities.ts";
import { formatTable, type TableColumn } from "../terminal/table.ts";
import type { GlobalOptions } from "./global-options.ts";
import { positiveInteger } from "./positive-integer.ts";

const LIMIT_DEFAULT = 100;

/** `obs monitors`, `obs incidents` and the like, each made from its line of a table. */
export function addRecordCommands(program: Command, context: CliContext): void {
  for (const kind of [...ALERTING_KINDS, ...SECURITY_KINDS]) {
    const command = program.command(kind.command).description(kind.about);
    addList(command.command("list", { isDefault: true }).description("what there is"), kind, context);
    addOthers(command, kind, context);
  }
  const onCall = program.command("oncall").description("who is on call, and who is next");
  for (const kind of ON_CALL_KINDS) {
    const command = onCall.command(kind.command).description(kind.about);
    if (kind.show === undefined) addList(command, kind, context);
    else {
      addList(command.command("list", { isDefault: true }).description("what there is"), kind, context);
      addOthers(command, kind, context);
    }
  }
}

function addList(command: Command, kind: RecordKind, context: CliContext): void {
  command.option("--limit <n>", "how many", positiveInteger, LIMIT_DEFAULT);
  for (const { name, about, choices } of kind.filters ?? []) {
    const option = new Option(`--${name} <${name}>`, about);
    command.addOption(choices === undefined ? option : option.choices(choices));
  }
  command.action(async (flags: ActionOptions & { readonly limit: number }, self: Command) => {
    const { limit, ...filters } = flags;
    await list(context, kind, limit, filters, self);
  });
}

function addOthers(command: Command, kind: RecordKind, context: CliContext): void {
  const { show, actions = [] } = kind;
  if (show !== undefined)
    command
      .command("show")
      .description("one of them, with all that is known")
      .argument("<id>", "as the list says it")
      .action(async (id: string, _: unknown, self: Command) => {
        await print(context, await show(await apiOf(context, self), id), self);
      });
  for (const { name, about, argument, options = [], run } of actions) {
    const action = command.command(name).description(about).argument("<id>", "as the list says it");
    if (argument !== undefined) action.argument(`<${argument}>`, "what it says");
    for (const { flags, about: text, isNeeded = false } of options)
      action.addOption(new Option(flags, text).makeOptionMandatory(isNeeded));
    action.action(async (id: string, ...rest: unknown[]) => {
      const said = argument === undefined ? {} : { [argument]: String(rest[0]) };
      const done = await run({ api: await apiOf(context, action), nowMs: context.now() }, id, {
        ...action.opts<ActionOptions>(),
        ...said,
      });
      if (action.optsWithGlobals<GlobalOptions>().json === true)
        await context.stdout.write(`${jsonText({ id, action: name, done }, context.stdout)}\n`);
      else await context.stderr.write(`${escapeControlsInCell(done)}\n`);
    });
  }
}

async function apiOf(context: CliContext, self: Command): Promise<ApiClient> {
  const { baseUrl, token } = await resolveConnection(context, self.optsWithGlobals<GlobalOptions>().url);
  return new ApiClient({ baseUrl, token, fetch: context.fetch });
}

async function list(
  context: CliContext,
  { command, columns, list: listed }: RecordKind,
  limit: number,
  filters: ActionOptions,
  self: Command,
): Promise<void> {
  const { stdout, stderr, env } = context;
  const asJson = self.optsWithGlobals<GlobalOptions>().json === true;
  const rows: string[][] = [];
  let hasMore = false;
  for await (const records of listed(await apiOf(context, self), filters)) {
    const shown = records.slice(0, limit - rows.length);
    hasMore = shown.length < records.length;
    for (const record of shown) {
      rows.push(columns.map(({ at }) => escapeControlsInCell(wordsOf(valueAt(record, at)))));
      if (asJson) await stdout.write(`${jsonText(record, stdout)}\n`);
    }
    if (hasMore) break;
  }
  if (rows.length === 0) await stderr.write(`there are no ${command === "now" ? "schedules" : command}\n`);
  if (!asJson && rows.length > 0) {
    const headed = columns.map(
      ({ header, isRigid = false, isNumber = false }): TableColumn => ({
        ...{ header, isRigid },
        align: isNumber ? "right" : "left",
      }),
    );
    const colors = makeColors(wantsColor(env, stdout.isTerminal));
    await stdout.write(`${formatTable({ columns: headed, rows }, stdout.columns, colors).join("\n")}\n`);
  }
  if (hasMore)
    await stderr.write(`${formatCountOf(rows.length, "row")}; there are more (--limit N shows them)\n`);
}

/** A record as lines of names and values; as JSON on one line with `--json`. */
async function print({ stdout, env }: CliContext, record: JsonRecord, self: Command): Promise<void> {
  if (self.optsWithGlobals<GlobalOptions>().json === true) {
    await stdout.write(`${jsonText(record, stdout)}\n`);
    return;
  }
  const colors = makeColors(wantsColor(env, stdout.isTerminal));
  const said = Object.entries(record).filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(0, ...said.map(([name]) => name.length));
  for (const [name, value] of said) {
    const label = colors.bold(escapeControlsInCell(name).padEnd(width));
    await stdout.write(`${label}  ${escapeControlsInCell(wordsOf(value))}\n`);
  }
}

function valueAt(record: JsonRecord, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), record);
}

function wordsOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value === true) return "yes";
  if (value === false) return "no";
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
