import { type Command, InvalidArgumentError, Option } from "commander";
import { LocalZone } from "../../../ingest/recognise/index.ts";
import { UsageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import {
  BATCH_MAX_ENTRIES,
  CONCURRENCY_DEFAULT,
  CONCURRENCY_MAX,
  FIRST_CONTACT_MAX_MS,
  GIVE_UP_DEFAULT_SEC,
  GIVE_UP_MAX_SEC,
} from "../limits.ts";
import { parseTime } from "../search/time-argument.ts";
import { dryRun } from "../ship/dry-run.ts";
import { LINE_FORMATS, type LineFormat } from "../ship/entry-text.ts";
import { requireSourceKey } from "../ship/ingest-source.ts";
import { runShip, type ShipRequest } from "../ship/run-ship.ts";
import { LEVELS, type Level } from "../ship/written-entry.ts";
import type { GlobalOptions } from "./global-options.ts";

interface ShipFlags {
  service?: string;
  source?: string;
  host?: string;
  level?: Level;
  format: LineFormat;
  zone?: string;
  raw?: boolean;
  sourceKey?: string;
  preset?: string;
  follow?: boolean;
  since?: string;
  dryRun?: boolean;
  batch: number;
  concurrency: number;
  giveUp: number;
  restart?: boolean;
}

/** `obs ship FILE...|-` */
export function addShipCommand(program: Command, context: CliContext): void {
  program
    .command("ship")
    .description("ship the lines of files or of standard input")
    .argument(
      "<files...>",
      "files, also .gz, .zst and .bz2, and patterns such as '/var/log/*.log'; - is standard input",
    )
    .option("-f, --follow", "go on when files grow, through their rotation and truncation, until interrupted")
    .option("--since <time>", "only what is not older: 15m, 2h, 1d, or a time, in --zone if it names none")
    .option("--dry-run", "show what the first lines become, and send nothing")
    .option("--service <name>", "service of every entry that names none")
    .option("--host <name>", "host of every entry that names none")
    .option("--source <name>", "source of every entry that names none; else the file's path")
    .addOption(new Option("--level <level>", "level of every entry that names none").choices(LEVELS))
    .addOption(
      new Option(
        "--format <format>",
        "lines, ndjson (log entries of the API), or auto: what lines say is recognised",
      )
        .choices(LINE_FORMATS)
        .default("auto"),
    )
    .option("--raw", "the text of every line is the message: the same as --format lines")
    .option("--zone <zone>", "of times that name none: Europe/Berlin, UTC, +02:00; this machine's if absent")
    .option("--preset <name>", "through a source with this preset, which is made where there is none")
    .option("--source-key <key>", "through this configured source, whose mapping makes the entries")
    .option("--batch <entries>", "entries of one request", between(1, BATCH_MAX_ENTRIES), BATCH_MAX_ENTRIES)
    .option(
      "--concurrency <requests>",
      "requests in flight",
      between(1, CONCURRENCY_MAX),
      CONCURRENCY_DEFAULT,
    )
    .option("--give-up <seconds>", "time to keep trying", between(1, GIVE_UP_MAX_SEC), GIVE_UP_DEFAULT_SEC)
    .option("--restart", "ship files from their beginning, whatever was shipped before")
    .addHelpText(
      "after",
      `
What a line says is recognised: its time, level, service, host, and what loggers put in front of the message; stacks
are joined. What is not certain is left as it is, and --raw leaves everything. Times without a year are of the newest
year in which they are not behind the file's last change. A message longer than 8192 characters becomes several entries
with the attributes _line and _part. Bytes that are not UTF-8 are counted and read as Latin-1, or with --raw replaced
by U+FFFD; a file that is no text is refused. A file is resumed
where the last run ended, also under another name; what was being sent when a run died is sent again and stored once if
that happens within ten minutes.
  obs ship app.log api.log.1.gz
  obs ship -f '/var/log/app/*.log' --service app
  journalctl -o json -f | obs ship - --preset journald`,
    )
    .action(async (files: string[], flags: ShipFlags, command: Command) => {
      // Whoever says for how long means it from the beginning.
      const isPatient = command.getOptionValueSource("giveUp") === "cli";
      const request = requestOf(files, flags, command.optsWithGlobals<GlobalOptions>(), context, isPatient);
      await (flags.dryRun === true ? dryRun(context, request) : runShip(context, request));
    });
}

function requestOf(
  names: readonly string[],
  flags: ShipFlags,
  globals: GlobalOptions,
  context: Pick<CliContext, "now">,
  isPatient: boolean,
): ShipRequest {
  const { service, source, host, level, sourceKey, preset } = flags;
  const isSource = sourceKey !== undefined || preset !== undefined;
  if (names.includes("-") && names.length > 1) throw new UsageError("- is standard input and stands alone");
  if (isSource) {
    const set = Object.entries({ service, source, host, level }).find(([, value]) => value !== undefined);
    if (set !== undefined) throw new UsageError(`--${set[0]} is for the mapping of the source to say`);
    if (flags.dryRun === true)
      throw new UsageError(
        "--dry-run shows what is made of lines here; a source makes entries on the server",
      );
    if (flags.zone !== undefined)
      throw new UsageError("--zone is for times that are read here; a source has a zone of its own");
    if (flags.since !== undefined)
      throw new UsageError("--since needs times that are read here, not by a source");
    if (sourceKey !== undefined) requireSourceKey(sourceKey);
  }
  const zone = flags.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const localZone = LocalZone.of(zone);
  if (localZone === null)
    throw new UsageError(`--zone takes a name such as Europe/Berlin, UTC or +02:00, not ${zone}`);
  if (flags.raw === true && flags.format === "ndjson")
    throw new UsageError("--raw and --format ndjson exclude each other");
  return {
    names,
    defaults: {
      ...(service !== undefined && { service }),
      ...(source !== undefined && { source }),
      ...(host !== undefined && { host }),
      ...(level !== undefined && { level }),
    },
    format: flags.raw === true ? "lines" : flags.format,
    zone,
    choice: { ...(sourceKey !== undefined && { sourceKey }), ...(preset !== undefined && { preset }) },
    follow: flags.follow === true,
    sinceMs: flags.since === undefined ? null : sinceMsOf(flags.since, context.now(), localZone),
    maxEntries: flags.batch,
    concurrency: flags.concurrency,
    giveUpMs: flags.giveUp * 1000,
    firstContactMs: isPatient ? flags.giveUp * 1000 : FIRST_CONTACT_MAX_MS,
    restart: flags.restart === true,
    json: globals.json === true,
    ...(globals.url !== undefined && { url: globals.url }),
  };
}

/** Without a zone it is of the one in which lines count that name none. */
function sinceMsOf(text: string, nowMs: number, zone: LocalZone): number {
  const time = parseTime(text, nowMs, zone);
  if (time === null)
    throw new UsageError(`--since takes a date-time or an age such as 15m, 2h or 1d, not ${text}`);
  return Date.parse(time);
}

function between(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`It must be from ${min} to ${max}.`);
    return value;
  };
}
