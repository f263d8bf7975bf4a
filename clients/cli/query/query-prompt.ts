import { createInterface } from "node:readline";
import type { ApiClient } from "../../api/client.ts";
import { CliError, EXIT, UsageError } from "../cli-error.ts";
import { COMPLETIONS_SHOWN_MAX, QUERY_MAX_BYTES } from "../limits.ts";
import { escapeControls } from "../terminal/escape-controls.ts";

type Choices = [choices: string[], typed: string];

/**
 * Asks for a query on the terminal, line by line up to the end of the input or an empty line behind a text. Tab completes what
 * is being written with what the server knows, and says of names that no entry has them.
 */
export async function askForQuery(api: ApiClient): Promise<string> {
  const lines: string[] = [];
  const prompt = createInterface({
    input: process.stdin,
    output: process.stderr,
    prompt: "kql> ",
    terminal: true,
    historySize: 0,
    completer: (line: string, done: (error: null, choices: Choices) => void) => {
      // Without an answer there is nothing to choose from; the query itself will tell what is wrong.
      completionsOf(api, lines, line).then(
        ({ choices, note }) => {
          if (note !== "") process.stderr.write(`\n${note}\n`);
          done(null, choices);
          if (note !== "") prompt.prompt(true);
        },
        () => done(null, [[], line]),
      );
    },
  });
  let isInterrupted = false;
  prompt.on("SIGINT", () => {
    isInterrupted = true;
    prompt.close();
  });
  prompt.prompt();
  for await (const line of prompt) {
    if (line.trim() === "" && lines.some((before) => before.trim() !== "")) break;
    lines.push(line);
    if (Buffer.byteLength(lines.join("\n")) > QUERY_MAX_BYTES)
      throw new UsageError(`the query has more than ${QUERY_MAX_BYTES} bytes`);
    prompt.setPrompt("...> ");
    prompt.prompt();
  }
  prompt.close();
  if (isInterrupted) throw new CliError("interrupted", { exitCode: EXIT.interrupted });
  return lines.join("\n");
}

async function completionsOf(
  api: ApiClient,
  before: readonly string[],
  line: string,
): Promise<{ readonly choices: Choices; readonly note: string }> {
  const query = [...before, line].join("\n");
  const { items, replace, names } = await api.call("POST /api/v1/kql/completions", { body: { query } });
  const lineStart = query.length - line.length;
  const typed = query.slice(Math.max(replace.start, lineStart), replace.end);
  // The terminal puts a choice in place of what is typed, and keeps only those that begin with it.
  const fitting = items.filter(({ insert }) => insert.toLowerCase().startsWith(typed.toLowerCase()));
  const inserts = fitting.slice(0, COMPLETIONS_SHOWN_MAX).map(({ insert }) => escapeControls(insert));
  return {
    choices: [inserts, typed],
    note: names.map(({ message }) => escapeControls(message)).join("\n"),
  };
}
