/** What a run of some tests came to. */
export interface TestRun {
  /** Names of tests that failed. */
  readonly failures: readonly string[];
  /** The tests could not be run at all, or did not end in time. */
  readonly problem: string | null;
  readonly seconds: number;
}

/** A test that never ends counts as one that noticed the fault; a whole suite of an area takes two minutes. */
const RUN_MAX_MS = 400_000;
/** More failures say nothing new. */
export const FAILURES_MAX_COUNT = 10;

/** Runs tests in a directory. The stores that they start end with them. */
export async function runTests(directory: string, tests: readonly string[]): Promise<TestRun> {
  const startedMs = performance.now();
  const command = ["bun", "test", "--timeout", "60000", `--bail=${FAILURES_MAX_COUNT}`];
  const child = Bun.spawn([...command, ...tests.map((path) => `./${path}`)], {
    cwd: directory,
    stdout: "ignore",
    stderr: "pipe",
    env: { ...Bun.env, FORCE_COLOR: "0" },
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), RUN_MAX_MS);
  const output = await new Response(child.stderr).text();
  const exitCode = await child.exited;
  clearTimeout(timer);
  // Told where they fail, and again at the end.
  const told = output.matchAll(/^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/gm);
  const failures = [...new Set([...told].map(([, name = ""]) => name))];
  const problem = exitCode !== 0 && failures.length === 0 ? lastLines(output) : null;
  const seconds = (performance.now() - startedMs) / 1000;
  return { failures, problem, seconds };
}

function lastLines(output: string): string {
  const lines = output.split("\n").filter((line) => /error|timed out|killed/i.test(line));
  return lines[0] ?? "it ended without a result";
}
