/** How one engine process is started. It ends when the pipe on its standard input closes. */
interface EngineCommand {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly workingDirectory: string;
}

/** A database engine that runs as a child process of the server. */
export interface Engine {
  readonly name: string;
  /** Where standard output and error go. */
  readonly outputPath: string;
  /** Before every start: sets up what is missing and settles what an earlier process left behind. */
  readonly prepare: () => Promise<void>;
  readonly command: () => EngineCommand;
  /** Resolves when the engine answers a query; rejects while it does not. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
}

/** What an engine's process sees of the environment: nothing of ours, which holds secrets. */
export function engineEnvironment(): Record<string, string> {
  return { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LANG: "C", TZ: "UTC" };
}
