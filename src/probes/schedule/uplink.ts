import type { CheckError, CheckSpec, RunCheck } from "../check.ts";
import { CANARY_TIMEOUT_MS, UPLINK_BELIEVED_MS } from "./limits.ts";
import { monotonicMs } from "./slot-clock.ts";

/** Where one connects to see whether the own line is up. */
export interface Canary {
  readonly host: string;
  readonly port: number;
}

/** What a line that is cut looks like; a target that answers wrongly was reached. */
const UNREACHED: ReadonlySet<CheckError | null> = new Set([
  "timeout",
  "name_not_resolved",
  "connection_refused",
  "connection_reset",
  "unreachable",
  "dns_no_answer",
]);

/**
 * Makes checks whose failure says nothing when the own line is down: only when a target is not reached and every canary
 * fails, too, is the outcome unknown. Without canaries nothing is guessed.
 */
export function besideCanaries(
  run: RunCheck,
  canaries: readonly Canary[],
  now: () => number = monotonicMs,
): RunCheck {
  if (canaries.length === 0) return run;
  const specs = canaries.map(canarySpec);
  let asked: { readonly atMs: number; readonly isDown: Promise<boolean> } | null = null;
  const isUplinkDown = (): Promise<boolean> => {
    if (asked === null || now() - asked.atMs > UPLINK_BELIEVED_MS) {
      const isDown = Promise.all(specs.map(run)).then((outcomes) =>
        outcomes.every(({ status }) => status === "down"),
      );
      asked = { atMs: now(), isDown };
    }
    return asked.isDown;
  };
  return async (spec) => {
    const outcome = await run(spec);
    if (outcome.status !== "down" || !UNREACHED.has(outcome.error)) return outcome;
    return (await isUplinkDown()) ? { ...outcome, status: "unknown", error: "own_uplink" } : outcome;
  };
}

function canarySpec({ host, port }: Canary): CheckSpec {
  return {
    type: "tcp",
    url: host,
    timeoutMs: CANARY_TIMEOUT_MS,
    degradedResponseTimeMs: null,
    method: null,
    headers: {},
    body: null,
    followRedirects: false,
    tlsSkipVerify: false,
    expectedStatusCode: null,
    port,
    keyword: null,
    keywordMatchType: "contains",
    expiryWarnDays: 14,
    steps: [],
  };
}
