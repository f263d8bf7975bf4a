import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { ApiClient } from "../../api/client.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { isLoopback } from "../config/base-url.ts";
import { resolveConnection } from "../config/connection.ts";
import { stateDirectory } from "../config/user-directories.ts";
import type { CliContext } from "../context.ts";
import {
  BATCH_MAX_ENTRIES,
  CONCURRENCY_DEFAULT,
  CONCURRENCY_MAX,
  GIVE_UP_DEFAULT_SEC,
  GIVE_UP_MAX_SEC,
  LINGER_MS,
} from "../limits.ts";
import { fileSource, streamSource } from "../ship/byte-source.ts";
import {
  type EntryDefaults,
  EntryText,
  LEVELS,
  type Level,
  LINE_FORMATS,
  type LineFormat,
} from "../ship/entry-text.ts";
import { START } from "../ship/position.ts";
import { ResumeFile, type ResumeState, removeOldResumeFiles } from "../ship/resume-file.ts";
import { type ShipOptions, type ShipResult, ship } from "../ship/ship.ts";
import { takeShipLock } from "../ship/ship-lock.ts";
import { startProgressBar } from "../terminal/progress-bar.ts";
import type { GlobalOptions } from "./global-options.ts";

interface ShipFlags {
  service?: string;
  source?: string;
  host?: string;
  level?: Level;
  format: LineFormat;
  batch: number;
  concurrency: number;
  giveUp: number;
  restart?: boolean;
}

/** `obs ship FILE|-` */
export function addShipCommand(program: Command, context: CliContext): void {
  program
    .command("ship")
    .description("ship the lines of a file or of standard input")
    .argument("<file>", "a file, or - for standard input")
    .option("--service <name>", "service of every entry that names none")
    .option("--host <name>", "host of every entry that names none")
    .option("--source <name>", "source of every entry that names none")
    .addOption(new Option("--level <level>", "level of every entry that names none").choices(LEVELS))
    .addOption(
      new Option(
        "--format <format>",
        "lines, ndjson (log entries of the API), or auto: an entry where a line is one",
      )
        .choices(LINE_FORMATS)
        .default("auto"),
    )
    .option("--batch <entries>", "entries of one request", between(1, BATCH_MAX_ENTRIES), BATCH_MAX_ENTRIES)
    .option(
      "--concurrency <requests>",
      "requests in flight",
      between(1, CONCURRENCY_MAX),
      CONCURRENCY_DEFAULT,
    )
    .option("--give-up <seconds>", "time to keep trying", between(1, GIVE_UP_MAX_SEC), GIVE_UP_DEFAULT_SEC)
    .option("--restart", "ship a file from its beginning, whatever was shipped before")
    .addHelpText(
      "after",
      `
A line ends at LF or CRLF. A line longer than 8192 characters becomes several entries with the attributes _line and
_part. Bytes that are not UTF-8 are replaced by U+FFFD and counted. A file is resumed where the last run ended; what
was being sent when a run died is sent again and stored once if that happens within ten minutes.`,
    )
    .action(async (file: string, flags: ShipFlags, command: Command) => {
      await runShip(context, file, flags, command.optsWithGlobals<GlobalOptions>());
    });
}

async function runShip(
  context: CliContext,
  file: string,
  flags: ShipFlags,
  globals: GlobalOptions,
): Promise<void> {
  const { baseUrl, token } = await resolveConnection(context, globals.url);
  const interrupted = new AbortController();
  const hint = file === "-" ? "" : "; run the same command again to go on";
  const interrupt = (exitCode: number): void =>
    interrupted.abort(new CliError(`interrupted${hint}`, { exitCode }));
  process.once("SIGINT", () => interrupt(EXIT.interrupted));
  process.once("SIGTERM", () => interrupt(EXIT.terminated));
  const defaults = defaultsOf(flags);
  const common = {
    api: new ApiClient({ baseUrl, token, fetch: context.fetch }),
    format: flags.format,
    entryText: new EntryText(defaults),
    optionsDigest: digestOf({ defaults, format: flags.format, batch: flags.batch }),
    maxEntries: flags.batch,
    concurrency: flags.concurrency,
    gzip: !isLoopback(baseUrl),
    giveUpMs: flags.giveUp * 1000,
    interrupted: interrupted.signal,
    onStall: (message: string) => {
      // A progress bar may stand on the line; it is drawn again below.
      const clear = context.stderr.isTerminal ? "\r\u001b[K" : "";
      void context.stderr.write(`${clear}obs: ${message}; still trying\n`);
    },
  };
  const startedAt = performance.now();
  const result =
    file === "-" ? await shipStream(common) : await shipFile(context, file, baseUrl, flags, common);
  await printResult(context, result, (performance.now() - startedAt) / 1000, globals.json === true);
  interrupted.signal.throwIfAborted();
}

type CommonOptions = Omit<ShipOptions, "open" | "resume" | "record" | "lingerMs" | "onProgress">;

async function shipStream(common: CommonOptions): Promise<ShipResult> {
  const source = streamSource(Bun.stdin.stream(), common.interrupted);
  return ship({
    ...common,
    open: () => source,
    resume: { run: crypto.randomUUID(), position: START, inputEnd: null },
    lingerMs: LINGER_MS,
    onProgress: () => undefined,
  });
}

async function shipFile(
  context: CliContext,
  name: string,
  baseUrl: string,
  flags: ShipFlags,
  common: CommonOptions,
): Promise<ShipResult> {
  const path = resolve(name);
  const file = await openFile(path);
  try {
    const directory = stateDirectory(context);
    await removeOldResumeFiles(directory, context.now());
    const resumeFile = ResumeFile.at(directory, path, baseUrl);
    using _ = takeShipLock(resumeFile.lockPath, new Date(context.now()));
    const fresh: ResumeState = { run: crypto.randomUUID(), position: START, inputEnd: null };
    const resume = flags.restart === true ? fresh : await resumeFile.load(file);
    const { size } = await file.stat();
    const bar = startProgressBar(context.stderr.isTerminal, size, resume.position.offset);
    try {
      return await ship({
        ...common,
        open: (offset, end) => fileSource(file, offset, end),
        resume,
        record: (state) => resumeFile.save(file, state),
        lingerMs: Number.POSITIVE_INFINITY,
        onProgress: ({ position, tally }) => bar.update(position.offset, tally.lines),
      });
    } finally {
      bar.stop();
    }
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (error) {
    const missing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw new CliError(missing ? `no such file: ${path}` : `cannot read ${path}`, { cause: error });
  }
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new CliError(`${path} is not a regular file; for a pipe use - and standard input`);
}

function defaultsOf({ service, source, host, level }: ShipFlags): EntryDefaults {
  return {
    ...(service === undefined ? {} : { service }),
    ...(source === undefined ? {} : { source }),
    ...(host === undefined ? {} : { host }),
    ...(level === undefined ? {} : { level }),
  };
}

function digestOf(options: object): string {
  return createHash("sha256").update(JSON.stringify(options)).digest("hex").slice(0, 16);
}

function between(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`It must be from ${min} to ${max}.`);
    return value;
  };
}

async function printResult(
  context: CliContext,
  result: ShipResult,
  seconds: number,
  json: boolean,
): Promise<void> {
  const { resumedAt, tally, bytes, retries } = result;
  if (json) {
    const rounded = Math.round(seconds * 1000) / 1000;
    await context.stdout.write(
      `${JSON.stringify({ ...tally, resumedAt, bytes, seconds: rounded, retries })}\n`,
    );
    return;
  }
  const notes = [
    resumedAt > 0 ? `${resumedAt} bytes before them were shipped earlier, --restart repeats them` : "",
    tally.nativeLines > 0 ? `${tally.nativeLines} were entries` : "",
    tally.splitLines > 0 ? `${tally.splitLines} long lines split` : "",
    tally.emptyLines > 0 ? `${tally.emptyLines} empty lines skipped` : "",
    tally.invalidUtf8Entries > 0 ? `${tally.invalidUtf8Entries} entries with bytes that are not UTF-8` : "",
    retries > 0 ? `${retries} retries` : "",
  ].filter((note) => note !== "");
  const rate = Math.round(tally.lines / Math.max(seconds, 0.001));
  const summary = `shipped ${tally.lines} lines, ${bytes} bytes in ${seconds.toFixed(1)} s (${rate} lines/s)`;
  await context.stderr.write(`${[summary, ...notes].join("; ")}\n`);
}
