import { setTimeout } from "node:timers/promises";
import { ApiClient } from "../../api/client.ts";
import { CliError, EXIT, FileProblem } from "../cli-error.ts";
import { isLoopback } from "../config/base-url.ts";
import { resolveConnection } from "../config/connection.ts";
import { stateDirectory } from "../config/user-directories.ts";
import type { CliContext } from "../context.ts";
import { invocation } from "../invocation.ts";
import { LINGER_MS } from "../limits.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import { startProgressBar } from "../terminal/progress-bar.ts";
import { formatCountOf } from "../terminal/quantities.ts";
import { streamSource } from "./byte-source.ts";
import { NATIVE_INGEST, sourceIngest } from "./destination.ts";
import type { LineFormat } from "./entry-text.ts";
import { expandNames } from "./file-names.ts";
import { FileShipper } from "./file-shipper.ts";
import { followFiles } from "./follow-files.ts";
import { chooseSource, type SourceChoice } from "./ingest-source.ts";
import { openInputFile } from "./input-file.ts";
import { inputRules } from "./input-rules.ts";
import { freshState, removeOldResumeFiles } from "./resume-file.ts";
import { RunTotals } from "./run-totals.ts";
import { Sender } from "./sender.ts";
import { ship } from "./ship.ts";
import type { EntryDefaults } from "./written-entry.ts";

/** What is to be shipped, and how. */
export interface ShipRequest {
  readonly names: readonly string[];
  readonly defaults: EntryDefaults;
  readonly format: LineFormat;
  /** In which times count that name no zone. */
  readonly zone: string;
  readonly choice: SourceChoice;
  readonly follow: boolean;
  /** Milliseconds since 1970. */
  readonly sinceMs: number | null;
  readonly maxEntries: number;
  readonly concurrency: number;
  readonly giveUpMs: number;
  readonly firstContactMs: number;
  readonly restart: boolean;
  readonly json: boolean;
  readonly url?: string;
}

/** Ships what the request names and says what that was. */
export async function runShip(context: CliContext, request: ShipRequest): Promise<void> {
  const { baseUrl, token } = await resolveConnection(context, request.url);
  const api = new ApiClient({ baseUrl, token, fetch: context.fetch });
  const isStream = request.names.includes("-");
  // Before anything is sent or made: what cannot be shipped may be a mistake in the names.
  const files = isStream || request.follow ? null : await examine(context, request.names);
  const source = await chooseSource(api, request.choice);
  if (source?.isNew === true)
    await context.stderr.write(`made the source ${source.key} with the preset ${request.choice.preset}\n`);
  const run = new ShipRun(context, request, api, source?.key ?? null);
  if (files !== null) await run.shipFiles(files);
  else if (isStream) await run.shipStream();
  else await run.follow();
}

/** Files that can be shipped, and how many cannot. */
interface Examined {
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly refused: number;
}

/** Looks at the files that are named and says which cannot be shipped. Throws CliError when none can. */
async function examine(context: CliContext, names: readonly string[]): Promise<Examined> {
  const paths = await expandNames(names, process.cwd());
  if (paths.length === 0) throw new CliError(`no file matches ${names.map(escapeControls).join(" ")}`);
  const files: { path: string; size: number }[] = [];
  for (const path of paths) {
    try {
      await using input = await openInputFile(path);
      files.push({ path, size: input.size });
    } catch (error) {
      if (!(error instanceof FileProblem) || paths.length === 1) throw error;
      await context.stderr.write(`obs: ${error.message}\n`);
    }
  }
  if (files.length === 0) throw new CliError("none of these files can be shipped");
  return { files, refused: paths.length - files.length };
}

class ShipRun {
  readonly #context: CliContext;
  readonly #request: ShipRequest;
  readonly #baseUrl: string;
  readonly #sourceKey: string | null;
  readonly #sender: Sender;
  readonly #interrupted = new AbortController();
  readonly #totals: RunTotals;

  constructor(context: CliContext, request: ShipRequest, api: ApiClient, sourceKey: string | null) {
    this.#context = context;
    this.#request = request;
    this.#baseUrl = api.baseUrl;
    this.#sourceKey = sourceKey;
    const resumable = !request.names.includes("-");
    const hint = resumable ? "; run the same command again to go on" : "";
    const interrupt = (exitCode: number): void =>
      this.#interrupted.abort(new CliError(`interrupted${hint}`, { exitCode }));
    process.once("SIGINT", () => interrupt(EXIT.interrupted));
    process.once("SIGTERM", () => interrupt(EXIT.terminated));
    const signal = this.#interrupted.signal;
    this.#sender = new Sender({
      api,
      destination: sourceKey === null ? NATIVE_INGEST : sourceIngest(sourceKey),
      concurrency: request.concurrency,
      gzip: !isLoopback(api.baseUrl),
      giveUpMs: request.giveUpMs,
      firstContactMs: request.firstContactMs,
      resumable,
      now: Date.now,
      random: Math.random,
      interrupted: signal,
      onStall: (message) => this.#say(`${message}; still trying`),
      sleep: (ms) => setTimeout(ms, undefined, { signal }).catch(() => undefined),
    });
    this.#totals = new RunTotals(this.#sender.totals, request.zone, sourceKey);
  }

  async shipStream(): Promise<void> {
    const { sinceMs, maxEntries, concurrency } = this.#request;
    const interrupted = this.#interrupted.signal;
    const source = streamSource(Bun.stdin.stream(), interrupted);
    const { openSession, digest } = this.#rulesOf(null, sinceMs);
    const result = await ship({
      sender: this.#sender,
      maxEntries,
      concurrency,
      interrupted,
      open: () => source,
      resume: freshState("-", sinceMs),
      openSession,
      modifiedMs: this.#context.now(),
      optionsDigest: digest,
      lingerMs: LINGER_MS,
      onProgress: () => undefined,
    });
    this.#totals.add(result);
    await this.#report();
  }

  /** One after the other; what is wrong with one of them does not hold up the others. */
  async shipFiles({ files, refused }: Examined): Promise<void> {
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    const bar = await startProgressBar(this.#context.stderr.isTerminal, bytes, 0);
    let behind = 0;
    const shipper = await this.#shipper((done, lines) =>
      bar.update(behind + done, this.#totals.lines + lines),
    );
    let failed = refused;
    try {
      for (const { path, size } of files) {
        if (this.#interrupted.signal.aborted) break;
        try {
          await using input = await openInputFile(path);
          this.#totals.add(await shipper.ship(input, { fromStart: this.#request.restart, follow: false }));
        } catch (error) {
          if (!(error instanceof FileProblem) || files.length + refused === 1) throw error;
          failed++;
          this.#say(error.message);
        }
        behind += size;
        bar.update(behind, this.#totals.lines);
      }
    } finally {
      bar.stop();
    }
    await this.#report();
    if (failed > 0)
      throw new CliError(`${failed} of ${formatCountOf(files.length + refused, "file")} not shipped whole`);
  }

  async follow(): Promise<void> {
    const shipper = await this.#shipper(() => undefined);
    const wanted = (): Promise<string[]> => expandNames(this.#request.names, process.cwd());
    if (!this.#request.json) {
      const found = formatCountOf((await wanted()).length, "file");
      await this.#context.stderr.write(`following ${found}; Ctrl-C ends\n`);
    }
    await followFiles({
      shipper,
      wanted,
      fromStart: this.#request.restart,
      interrupted: this.#interrupted.signal,
      onShipped: (result) => this.#totals.add(result),
      onNotice: (message) => this.#say(message),
    });
    await this.#report();
  }

  async #shipper(onProgress: (bytes: number, lines: number) => void): Promise<FileShipper> {
    const directory = stateDirectory(this.#context);
    await removeOldResumeFiles(directory, this.#context.now());
    const { sinceMs, maxEntries, concurrency } = this.#request;
    return new FileShipper({
      sender: this.#sender,
      maxEntries,
      concurrency,
      interrupted: this.#interrupted.signal,
      now: this.#context.now,
      stateDirectory: directory,
      baseUrl: this.#baseUrl,
      rulesOf: (file, since) => this.#rulesOf(file, since),
      sinceMs,
      onProgress,
    });
  }

  #rulesOf(file: string | null, sinceMs: number | null): ReturnType<typeof inputRules> {
    const { defaults, format, zone, maxEntries } = this.#request;
    return inputRules({ defaults, format, zone, maxEntries, sourceKey: this.#sourceKey }, file, sinceMs);
  }

  #say(message: string): void {
    // A progress bar may stand on the line; it is drawn again below.
    const clear = this.#context.stderr.isTerminal ? "\r\u001b[K" : "";
    void this.#context.stderr.write(`${clear}obs: ${message}\n`);
  }

  /** Says what was shipped; throws when it was interrupted. */
  async #report(): Promise<void> {
    const { stdout, stderr, env } = this.#context;
    if (this.#request.json) await stdout.write(`${JSON.stringify(this.#totals.asJson())}\n`);
    else await stderr.write(`${this.#totals.asLines(invocation(env)).join("\n")}\n`);
    this.#interrupted.signal.throwIfAborted();
  }
}
