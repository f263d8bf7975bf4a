import type { Command } from "commander";
import { ApiClient } from "../../api/client.ts";
import { UsageError } from "../cli-error.ts";
import { resolveConnection } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { readGatus } from "../import/gatus.ts";
import { readGrafanaOnCall } from "../import/grafana-oncall.ts";
import type { Imported } from "../import/imported.ts";
import { readOnCallApi, readOnCallFile } from "../import/oncall-export.ts";
import { readSigma } from "../import/sigma.ts";
import { readUptimeKuma } from "../import/uptime-kuma.ts";
import { writeImported } from "../import/write-imported.ts";
import { invocation, shellWord } from "../invocation.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import { jsonText } from "../terminal/json-text.ts";
import { formatCountOf } from "../terminal/quantities.ts";
import type { GlobalOptions } from "./global-options.ts";

interface ImportFlags {
  readonly to: string;
  readonly overwrite?: boolean;
  readonly from?: string;
}

/** `obs import uptime-kuma|gatus|grafana-oncall|sigma` */
export function addImportCommand(program: Command, context: CliContext): void {
  const command = program
    .command("import")
    .description("write what other programs have set up into YAML files; nothing is changed on the server");
  const importer = (name: string, description: string): Command =>
    command
      .command(name)
      .description(description)
      .option("--to <dir>", "the folder that is written", "obs")
      .option("--overwrite", "also where there are YAML files already");
  importer("uptime-kuma", "monitors, maintenance and status pages of Uptime Kuma 1 or 2")
    .argument("<files>", "its SQLite file, kuma.db")
    .action(async (path: string, flags: ImportFlags, self: Command) => {
      await finish(context, readUptimeKuma(path), `Uptime Kuma (${path})`, flags, self);
    });
  importer("gatus", "endpoints of Gatus as monitors")
    .argument("<files>", "its configuration, a file or a folder")
    .action(async (path: string, flags: ImportFlags, self: Command) => {
      await finish(context, await readGatus(path), `Gatus (${path})`, flags, self);
    });
  importer("grafana-oncall", "schedules and escalation chains of Grafana OnCall")
    .argument("[files]", "a JSON file of what its API answers; docs/configuration-as-code.md says how")
    .option("--from <address>", "ask its API; ONCALL_TOKEN is the token")
    .action(async (path: string | undefined, flags: ImportFlags, self: Command) => {
      const origin = flags.from ?? path ?? "";
      const found = await onCall(context, path, flags.from);
      await finish(context, readGrafanaOnCall(found), `Grafana OnCall (${origin})`, flags, self);
    });
  importer("sigma", "Sigma rules, as the server converts them")
    .argument("<files>", "a file or a folder of rules")
    .action(async (path: string, flags: ImportFlags, self: Command) => {
      const { baseUrl, token } = await resolveConnection(context, self.optsWithGlobals<GlobalOptions>().url);
      const api = new ApiClient({ baseUrl, token, fetch: context.fetch });
      await finish(context, await readSigma(api, path), `Sigma (${path})`, flags, self);
    });
}

function onCall(context: CliContext, path: string | undefined, from: string | undefined) {
  if ((path === undefined) === (from === undefined)) throw new UsageError("name a file, or --from ADDRESS");
  if (path !== undefined) return readOnCallFile(path);
  const token = context.env.ONCALL_TOKEN;
  if (token === undefined || token === "") throw new UsageError("ONCALL_TOKEN is not set");
  return readOnCallApi(context, from ?? "", token);
}

async function finish(
  context: CliContext,
  imported: Imported,
  origin: string,
  { to, overwrite = false }: ImportFlags,
  self: Command,
): Promise<void> {
  const files = await writeImported(to, imported, origin, overwrite);
  const { stdout, stderr, env } = context;
  const leftOut = [...imported.leftOut.values()].flat();
  if (self.optsWithGlobals<GlobalOptions>().json === true) {
    const records = imported.records.map(({ kind, key, notes }) => ({ kind, key, notes }));
    await stdout.write(`${jsonText({ files, records, leftOut }, stdout)}\n`);
    return;
  }
  for (const file of files) await stdout.write(`${escapeControls(file)}\n`);
  const noted = imported.records.filter(({ notes }) => notes.length > 0).length;
  const counts = `${formatCountOf(imported.records.length, "record")}, ${noted} with a comment of what was not taken over`;
  await stderr.write(`${counts}; ${leftOut.length} left out, as the heads of the files say\n`);
  if (imported.secrets.size > 0)
    await stderr.write(
      `${formatCountOf(imported.secrets.size, "secret")} in ${escapeControls(to)}/secrets, which git passes over\n`,
    );
  await stderr.write(`nothing is changed on the server: ${invocation(env)} plan ${shellWord(to)}\n`);
}
