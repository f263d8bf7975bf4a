import type { OutboundScope } from "../../outbound/outbound-scope.ts";
import { CheckFailure } from "../check-failure.ts";

const OUTPUT_MAX_BYTES = 16_384;

/**
 * Pings an address once with the `ping` of the system, which may do it where we may not. Answers the round trip in milliseconds, null
 * when nothing came back. Throws CheckFailure, `ping_not_permitted`, where there is none, or it cannot ping either.
 */
export async function pingByProgram(
  program: string | null,
  address: string,
  timeoutMs: number,
  scope: OutboundScope,
): Promise<number | null> {
  if (program === null) throw notPermitted();
  const seconds = Math.max(1, Math.ceil(timeoutMs / 1000));
  const startedAt = performance.now();
  const child = Bun.spawn([program, "-n", "-c", "1", "-W", String(seconds), address], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    env: { LC_ALL: "C" },
    maxBuffer: OUTPUT_MAX_BYTES,
  });
  scope.hold({ destroy: () => child.kill("SIGKILL") });
  const output = await child.stdout.text();
  const code = await child.exited;
  const elapsedMs = performance.now() - startedAt;
  if (code === 0) return Number(/ time[=<]([\d.]+) ?ms/.exec(output)?.[1] ?? elapsedMs);
  // One is what it ends with when it has pinged and heard nothing.
  if (code === 1) return null;
  throw notPermitted();
}

function notPermitted(): CheckFailure {
  return new CheckFailure("ping_not_permitted", { status: "unknown" });
}
