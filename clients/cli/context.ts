import { writeSync } from "node:fs";
import { homedir, hostname } from "node:os";
import type { Fetch } from "../api/client.ts";
import { EXIT } from "./cli-error.ts";
import { invocation } from "./invocation.ts";

/** One of the process' output streams. */
export interface Output {
  readonly isTerminal: boolean;
  /** How many characters fit side by side; null where that is not limited. */
  readonly columns: number | null;
  /** Resolves when the stream takes more; rejects never: where nothing can be written any more, the process ends. */
  write(text: string): Promise<void>;
}

/** What a command touches of the world around it. */
export interface CliContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly hostName: string;
  readonly stdinIsTerminal: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly fetch: Fetch;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The context of the real process. */
export function processContext(): CliContext {
  return {
    env: process.env,
    homeDirectory: homedir(),
    hostName: hostname(),
    stdinIsTerminal: process.stdin.isTTY === true,
    stdout: processOutput(process.stdout),
    stderr: processOutput(process.stderr),
    fetch: (url, init) => fetch(url, init),
    now: Date.now,
  };
}

/** How this command was run, for advice on failures that know of no context. */
export function commandName(): string {
  return invocation(process.env);
}

function processOutput(stream: NodeJS.WriteStream): Output {
  stream.on("error", endUnwritten);
  return {
    isTerminal: stream.isTTY === true,
    get columns() {
      return stream.isTTY === true && stream.columns > 0 ? stream.columns : null;
    },
    write: (text) =>
      new Promise((resolve) => {
        stream.write(text, (error) => {
          if (error) endUnwritten(error);
          resolve();
        });
      }),
  };
}

function endUnwritten(error: NodeJS.ErrnoException): never {
  // `obs search --all | head`: the reader has what it wanted.
  if (error.code === "EPIPE") process.exit(EXIT.ok);
  try {
    writeSync(2, `obs: the output cannot be written: ${error.code ?? error.message}\n`);
  } catch {
    // Standard error is where it cannot be written.
  }
  process.exit(EXIT.failure);
}
