import type { DependencyCheck } from "../health/readiness.ts";
import type { Route } from "../http/route.ts";
import type { RemoveExpired } from "./housekeeping.ts";

/**
 * What a part of the server asks of the composition: a domain, or what domains stand on. A part has whichever of these it
 * needs; most domains are routes and nothing else.
 */
export interface Part {
  readonly routes?: readonly Route[];
  /** What readiness asks about. */
  readonly checks?: readonly DependencyCheck[];
  /** What is removed from Postgres when its time is over. */
  readonly housekeeping?: readonly RemoveExpired[];
  /** Begins its work; parts start one after the other, in the order of their list, and before the first request. */
  start?(): void | Promise<void>;
  /** Ends answers that would never end by themselves. */
  endStreams?(): Promise<void>;
  /** Takes in nothing more, beside the HTTP listener. */
  endIntake?(): Promise<void>;
  /** Ends its work, which nothing asks for any more; what is not done then is done by the next start. */
  stop?(): Promise<void>;
  /** Writes what is left in memory, for nothing adds to it any more. */
  settle?(): Promise<void>;
}

/** Starts parts one after the other. */
export async function startParts(parts: readonly Part[]): Promise<void> {
  for (const part of parts) await part.start?.();
}

/** Stops parts in the order in which data flows; `stopListening` ends the requests that are left. */
export async function stopParts(parts: readonly Part[], stopListening: () => Promise<void>): Promise<void> {
  await Promise.all(parts.map((part) => part.endStreams?.()));
  await Promise.all([stopListening(), ...parts.map((part) => part.endIntake?.())]);
  // At the same time, for together they could take longer than the stop may.
  await Promise.all(parts.map((part) => part.stop?.()));
  await Promise.all(parts.map((part) => part.settle?.()));
}
