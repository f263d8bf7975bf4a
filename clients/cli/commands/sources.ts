import type { Command } from "commander";
import { ApiClient } from "../../api/client.ts";
import { resolveConnection } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { requireSourceKey } from "../ship/ingest-source.ts";
import { makeColors, wantsColor } from "../terminal/colors.ts";
import { escapeControlsInCell } from "../terminal/escape-controls.ts";
import { jsonText } from "../terminal/json-text.ts";
import { formatTable, type TableColumn } from "../terminal/table.ts";
import type { GlobalOptions } from "./global-options.ts";

interface CreateFlags {
  preset?: string;
  name?: string;
}

const LEFT = { align: "left", isRigid: false } as const;
const COUNT = { align: "right", isRigid: true } as const;
const SOURCE_COLUMNS: readonly TableColumn[] = [
  { header: "key", align: "left", isRigid: true },
  { header: "name", ...LEFT },
  { header: "preset", ...LEFT },
  { header: "status", ...LEFT },
  { header: "accepted", ...COUNT },
  { header: "quarantined", ...COUNT },
];
const PRESET_COLUMNS: readonly TableColumn[] = [
  { header: "preset", align: "left", isRigid: true },
  { header: "format", align: "left", isRigid: true },
  { header: "sender", ...LEFT },
];

/** `obs sources list|presets|create` */
export function addSourcesCommand(program: Command, context: CliContext): void {
  const command = program.command("sources").description("list and make ingest sources");
  const clientFor = async (self: Command): Promise<ApiClient> => {
    const { baseUrl, token } = await resolveConnection(context, self.optsWithGlobals<GlobalOptions>().url);
    return new ApiClient({ baseUrl, token, fetch: context.fetch });
  };
  command
    .command("list")
    .description("the sources there are")
    .action(async (_: unknown, self: Command) => {
      const sources = await (await clientFor(self)).call("GET /api/v1/ingest/sources");
      const rows = sources.map(({ sourceKey, name, preset, status, accepted, quarantined }) =>
        [sourceKey, name, preset ?? "", status, String(accepted), String(quarantined)].map(
          escapeControlsInCell,
        ),
      );
      await print(context, self, sources, SOURCE_COLUMNS, rows);
    });
  command
    .command("presets")
    .description("the mappings for well-known senders")
    .action(async (_: unknown, self: Command) => {
      const presets = await (await clientFor(self)).call("GET /api/v1/ingest/presets");
      const rows = presets.map(({ name, format, title }) => [name, format, title].map(escapeControlsInCell));
      await print(context, self, presets, PRESET_COLUMNS, rows);
    });
  command
    .command("create")
    .description("make a source; its records go to /api/v1/ingest/KEY")
    .argument("<key>", "2 to 63 lowercase letters, digits and hyphens")
    .option("--preset <name>", "the mapping for a well-known sender, as obs sources presets lists them")
    .option("--name <name>", "what it is called; else its key")
    .action(async (key: string, { preset, name = key }: CreateFlags, self: Command) => {
      requireSourceKey(key);
      const api = await clientFor(self);
      const body = { sourceKey: key, name, ...(preset !== undefined && { preset }) };
      const source = await api.call("POST /api/v1/ingest/sources", { body, expect: 201 });
      if (self.optsWithGlobals<GlobalOptions>().json === true)
        await context.stdout.write(`${jsonText(source, context.stdout)}\n`);
      else await context.stderr.write(`made the source ${key}: ${api.baseUrl}/api/v1/ingest/${key}\n`);
    });
}

async function print(
  { stdout, stderr, env }: CliContext,
  self: Command,
  records: readonly Readonly<Record<string, unknown>>[],
  columns: readonly TableColumn[],
  rows: readonly string[][],
): Promise<void> {
  if (self.optsWithGlobals<GlobalOptions>().json === true) {
    await stdout.write(records.map((record) => `${jsonText(record, stdout)}\n`).join(""));
    return;
  }
  if (rows.length === 0) {
    await stderr.write("there are none\n");
    return;
  }
  const colors = makeColors(wantsColor(env, stdout.isTerminal));
  await stdout.write(`${formatTable({ columns, rows }, stdout.columns, colors).join("\n")}\n`);
}
