import type { Command } from "commander";
import { CHECK_PROGRAM } from "../../../src/probes/index.ts";
import { ApiClient } from "../../api/client.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { resolveBaseUrl } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { runProbe } from "../probe/run-probe.ts";
import type { GlobalOptions } from "./global-options.ts";

interface ProbeFlags {
  readonly region: string;
  readonly token?: string;
  readonly allow?: string;
  readonly denyPrivate?: boolean;
}

/** `obs probe --region REGION` */
export function addProbeCommand(program: Command, context: CliContext): void {
  program
    .command("probe")
    .description("check monitors from here, as another region of a server")
    .requiredOption("--region <region>", "what this place is called in the monitors' regions")
    .option("--token <token>", "the token of the region, else OBS_TOKEN")
    .option(
      "--allow <targets>",
      "hosts, addresses and CIDRs besides the internet, as the server's OUTBOUND_ALLOW",
    )
    .option("--deny-private", "check nothing in private networks")
    .addHelpText(
      "after",
      `
The server's PROBE_TOKENS names the region and its token. Only this program connects, so it may stand behind a firewall.
While the server is away it goes on for ten minutes and hands in later what it found.`,
    )
    .action(async (flags: ProbeFlags, self: Command) => {
      await probe(context, flags, self.optsWithGlobals<GlobalOptions>());
    });
}

async function probe(context: CliContext, flags: ProbeFlags, globals: GlobalOptions): Promise<void> {
  const baseUrl = await resolveBaseUrl(context, globals.url);
  const token = flags.token ?? context.env.OBS_TOKEN?.trim();
  if (token === undefined || token === "") throw new CliError("no token: give --token, or set OBS_TOKEN");
  process.once("SIGINT", () => process.exit(EXIT.interrupted));
  process.once("SIGTERM", () => process.exit(EXIT.terminated));
  await context.stderr.write(`obs: checking for ${baseUrl} as ${flags.region}\n`);
  await runProbe({
    api: new ApiClient({ baseUrl, token, fetch: context.fetch }),
    region: flags.region,
    program: CHECK_PROGRAM,
    settings: {
      allow: flags.allow?.split(",").map((entry) => entry.trim()) ?? [],
      allowPrivate: flags.denyPrivate !== true,
      browserPath: null,
    },
    say: (text) => context.stderr.write(`obs: ${text}\n`),
  });
}
