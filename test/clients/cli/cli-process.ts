import { join } from "node:path";

const MAIN = join(import.meta.dir, "../../../clients/cli/main.ts");

/** The command line as one user of a machine has it: its settings and its state are in `directory`. */
export interface CliUser {
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface CliResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type CliProcess = Bun.Subprocess<Blob | "ignore", "pipe", "pipe">;

/** Starts `obs` with nothing of the environment that could change what it does. */
export function spawnCli(user: CliUser, args: readonly string[], stdin?: string | Uint8Array): CliProcess {
  return Bun.spawn([process.execPath, MAIN, ...args], {
    cwd: user.directory,
    env: environmentOf(user),
    stdin:
      stdin === undefined ? "ignore" : new Blob([typeof stdin === "string" ? stdin : new Uint8Array(stdin)]),
    stdout: "pipe",
    stderr: "pipe",
  });
}

function environmentOf(user: CliUser): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: user.directory,
    XDG_CONFIG_HOME: join(user.directory, "config"),
    XDG_STATE_HOME: join(user.directory, "state"),
    ...user.env,
  };
}

/** `obs` on a terminal of its own. */
interface CliOnTerminal {
  /** What stands on the terminal so far, output and errors alike, as the program wrote it. */
  screen(): string;
  /** Types a key. */
  type(text: string): void;
  readonly exited: Promise<number>;
}

export function spawnOnTerminal(user: CliUser, args: readonly string[], columns = 80): CliOnTerminal {
  const decoder = new TextDecoder();
  let screen = "";
  const drained = Promise.withResolvers<void>();
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    cwd: user.directory,
    env: { TERM: "xterm-256color", ...environmentOf(user) },
    terminal: {
      cols: columns,
      rows: 40,
      data: (_, bytes) => {
        screen += decoder.decode(bytes, { stream: true });
      },
      exit: () => drained.resolve(),
    },
  });
  const exited = child.exited.then(async (code) => {
    child.terminal?.close();
    await drained.promise;
    return code;
  });
  return { screen: () => screen, type: (text) => child.terminal?.write(text), exited };
}

/** What a started `obs` wrote and answered with, once it has ended. */
export async function cliResult(child: CliProcess): Promise<CliResult> {
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}

export function runCli(
  user: CliUser,
  args: readonly string[],
  stdin?: string | Uint8Array,
): Promise<CliResult> {
  return cliResult(spawnCli(user, args, stdin));
}

/** Runs `obs`, which must succeed; gives its standard output. */
export async function obs(
  user: CliUser,
  args: readonly string[],
  stdin?: string | Uint8Array,
): Promise<string> {
  const { exitCode, stdout, stderr } = await runCli(user, args, stdin);
  if (exitCode !== 0) throw new Error(`obs ${args.join(" ")} ended with ${exitCode}: ${stderr}`);
  return stdout;
}
