import type { Command } from "commander";
import { ApiClient } from "../../api/client.ts";
import type { JsonRecord } from "../../api/json.ts";
import { EXIT } from "../cli-error.ts";
import { resolveConnection } from "../config/connection.ts";
import type { CliContext } from "../context.ts";
import { STALL_NOTICE_MS, TAIL_SILENCE_MS } from "../limits.ts";
import { explainQueryProblems } from "../query/query-problems.ts";
import { formatEntry } from "../search/format-entry.ts";
import { wordMarker } from "../search/mark-words.ts";
import { followTail, type TailEvent } from "../tail/follow-tail.ts";
import { escapeControls } from "../terminal/escape-controls.ts";
import { jsonText } from "../terminal/json-text.ts";
import { addColorOption, type ColorFlags, colorsOf } from "./color-option.ts";
import { addFilterOptions, type FilterFlags, filterOf } from "./filter-options.ts";
import type { GlobalOptions } from "./global-options.ts";

type TailFlags = FilterFlags & ColorFlags;

/** `obs tail [WORD...]` */
export function addTailCommand(program: Command, context: CliContext): void {
  const command = program.command("tail").description("show log entries as they come in");
  addColorOption(addFilterOptions(command))
    .addHelpText(
      "after",
      `
Goes on until it is interrupted. When the server is away it reconnects by itself and goes on behind the last entry.
A word that begins with a dash goes behind --: obs tail error -- -timeout`,
    )
    .action(async (words: string[], flags: TailFlags, self: Command) => {
      await runTail(context, words, flags, self.optsWithGlobals<GlobalOptions>());
    });
}

async function runTail(
  context: CliContext,
  words: readonly string[],
  flags: TailFlags,
  globals: GlobalOptions,
): Promise<void> {
  const { baseUrl, token } = await resolveConnection(context, globals.url);
  process.once("SIGINT", () => process.exit(EXIT.interrupted));
  process.once("SIGTERM", () => process.exit(EXIT.terminated));
  const { stdout } = context;
  const colors = colorsOf(flags, context);
  const mark = await wordMarker(words.join(" "), colors);
  const lineOf = (entry: JsonRecord): string => {
    if (globals.json !== true) return formatEntry(entry, colors, { mark, singleLine: true });
    return jsonText(entry, stdout);
  };
  const reporter = new ConnectionReporter(context);
  const events = followTail({
    api: new ApiClient({ baseUrl, token, fetch: context.fetch }),
    filter: filterOf(words, flags),
    silenceMs: TAIL_SILENCE_MS,
    monotonicMs: () => performance.now(),
    sleep: (ms) => Bun.sleep(ms),
    random: Math.random,
  });
  try {
    for await (const event of events) {
      if (event.kind === "entries") await stdout.write(`${event.entries.map(lineOf).join("\n")}\n`);
      else await reporter.report(event);
    }
  } catch (error) {
    throw explainQueryProblems(error, flags.query);
  }
}

/** Says on standard error what happens to the connection; while it is away, not more often than anybody wants to read. */
class ConnectionReporter {
  readonly #context: CliContext;
  /** When the present break began; null while there is a stream. */
  #brokenAtMs: number | null = null;
  #toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(context: CliContext) {
    this.#context = context;
  }

  async report(event: Exclude<TailEvent, { kind: "entries" }>): Promise<void> {
    const { now } = this.#context;
    switch (event.kind) {
      case "broken": {
        const isNew = this.#brokenAtMs === null;
        this.#brokenAtMs ??= now();
        if (!isNew && now() - this.#toldAtMs < STALL_NOTICE_MS) return;
        this.#toldAtMs = now();
        return this.#say(`${event.reason}; ${isNew ? "reconnecting" : "still trying"}`);
      }
      case "open": {
        const brokenAtMs = this.#brokenAtMs;
        this.#brokenAtMs = null;
        if (brokenAtMs === null) return this.#sayThatItWaits();
        const seconds = ((now() - brokenAtMs) / 1000).toFixed(1);
        return this.#say(event.isResumed ? `the tail has resumed after ${seconds} s` : "connected");
      }
      case "dropped":
        return this.#say(leftOut(event.count, event.isOfBreak));
      case "notice":
        return this.#say(event.message);
    }
  }

  /** Only to a person, who else could not tell a tail without entries from one that hangs. */
  async #sayThatItWaits(): Promise<void> {
    if (this.#context.stderr.isTerminal)
      await this.#say("connected; entries are shown as they come in, Ctrl-C ends it");
  }

  #say(text: string): Promise<void> {
    return this.#context.stderr.write(`obs: ${escapeControls(text)}\n`);
  }
}

function leftOut(count: number, isOfBreak: boolean): string {
  const which = count === 1 ? "1 entry was left out" : `${count} entries were left out`;
  const why = isOfBreak
    ? "the break was too long to show all that came during it"
    : "they came faster than they could be shown";
  return `${which}: ${why}; obs search finds them`;
}
