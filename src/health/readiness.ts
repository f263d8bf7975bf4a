/** How a dependency is: `degraded` means the server works around it, `down` that it cannot do its work. */
export type DependencyState = "up" | "degraded" | "down";

/** What everybody may know about a dependency; `detail` is a short sentence without addresses or errors. */
export interface DependencyStatus {
  readonly name: string;
  readonly state: DependencyState;
  readonly detail?: string;
}

/** Tells how the dependencies of the server are. Never rejects, and never takes longer than its own bound. */
export interface Readiness {
  check(): Promise<readonly DependencyStatus[]>;
}

/** Looks at one dependency; a rejection means it is down. */
export interface DependencyCheck {
  readonly name: string;
  readonly check: () => Promise<Omit<DependencyStatus, "name">>;
}

/** Longer than any healthy store takes; a probe of an orchestrator gives up after a few seconds. */
const CHECK_TIMEOUT_MS = 2_000;

/** Answers are shared for this long, so that whoever asks for health cannot load the stores. */
const SHARED_MS = 500;

/** Combines checks, run side by side, each bounded in time. */
export function readinessOf(checks: readonly DependencyCheck[], nowMs: () => number = Date.now): Readiness {
  let shared: { untilMs: number; statuses: Promise<readonly DependencyStatus[]> } | undefined;
  return {
    check: () => {
      const now = nowMs();
      if (shared === undefined || now >= shared.untilMs) {
        shared = { untilMs: now + SHARED_MS, statuses: Promise.all(checks.map(runCheck)) };
      }
      return shared.statuses;
    },
  };
}

/** The worst state among dependencies. */
export function worstState(statuses: readonly DependencyStatus[]): DependencyState {
  if (statuses.some((status) => status.state === "down")) return "down";
  return statuses.some((status) => status.state === "degraded") ? "degraded" : "up";
}

async function runCheck({ name, check }: DependencyCheck): Promise<DependencyStatus> {
  const late = Promise.withResolvers<DependencyStatus>();
  const timer = setTimeout(
    () => late.resolve({ name, state: "down", detail: "no answer in time" }),
    CHECK_TIMEOUT_MS,
  );
  try {
    const found = check().then((status) => ({ ...status, name }));
    return await Promise.race([found, late.promise]);
  } catch {
    // What went wrong is logged where the dependency is used; here it only matters that it does not answer.
    return { name, state: "down", detail: "not reachable" };
  } finally {
    clearTimeout(timer);
  }
}
