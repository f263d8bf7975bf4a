import type { Assignment, SlotResult } from "./schedule.ts";
import type { SlotTime } from "./slot-clock.ts";
import type { Canary } from "./uplink.ts";

/** What the thread that makes checks is begun with. */
export interface CheckThreadSettings {
  readonly canaries: readonly Canary[];
  readonly time: SlotTime;
  readonly sentAtMs: number;
}

/** What it is told; `sentAtMs` is by the monotonic clock of the sender. */
export type ToCheckThread =
  | { readonly kind: "assign"; readonly assignments: readonly Assignment[] }
  | { readonly kind: "drop"; readonly monitorIds: readonly number[] }
  | {
      readonly kind: "go_on";
      readonly time: SlotTime;
      readonly mayStartUntilMs: number;
      readonly sentAtMs: number;
    };

/** What it tells. */
export type FromCheckThread =
  | { readonly kind: "results"; readonly results: readonly SlotResult[] }
  /** Something is wrong with ourselves: why checks find nothing out. */
  | { readonly kind: "fault"; readonly message: string };

/** What checks may reach, and with what. */
export interface CheckSettings {
  /** As `OUTBOUND_ALLOW`. */
  readonly allow: readonly string[];
  readonly allowPrivate: boolean;
  /** Null looks for a Chromium on the path. */
  readonly browserPath: string | null;
}

/** The program that makes checks with such settings. */
export const CHECK_PROGRAM = new URL("./check-worker.ts", import.meta.url);
