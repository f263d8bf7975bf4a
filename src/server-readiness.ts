import type { Ingest } from "../ingest/index.ts";
import type { MailSender } from "./mail/mail-sender.ts";
import { type DependencyCheck, type Readiness, readinessOf } from "./ops/readiness.ts";
import type { Stores } from "./storage/open.ts";

/** How long an acknowledged entry may wait for the store before the server calls itself behind. */
const MAX_FLUSH_LAG_MS = 30_000;

/** What `/health/ready` looks at: every store, the write-ahead log between them, mail, and the archive. */
export function serverReadiness(
  stores: Stores,
  ingest: Ingest,
  mail: Pick<MailSender, "status">,
  archive: DependencyCheck,
  now: () => number,
): Readiness {
  const storeChecks = stores.statuses().map(
    ({ name }): DependencyCheck => ({
      name,
      check: async () => {
        const status = stores.statuses().find((candidate) => candidate.name === name);
        // Without Redis every instance counts alone, which is worse but works.
        const failed = name === "redis" ? "degraded" : "down";
        return {
          state: status?.ok === true ? "up" : failed,
          ...(status?.detail ? { detail: status.detail } : {}),
        };
      },
    }),
  );
  return readinessOf([
    ...storeChecks,
    { name: "write-ahead-log", check: async () => logState(ingest, now()) },
    { name: "mail", check: async () => mail.status() },
    archive,
  ]);
}

function logState({ wal }: Ingest, nowMs: number): Awaited<ReturnType<DependencyCheck["check"]>> {
  if (wal.bytes >= wal.maxBytes) return { state: "down", detail: "Full: new entries are refused." };
  const lagMs = wal.oldestUnflushedMs === undefined ? 0 : nowMs - wal.oldestUnflushedMs;
  if (lagMs > MAX_FLUSH_LAG_MS) return { state: "degraded", detail: "Entries wait for the log store." };
  const { recordsDamaged } = wal.recovery;
  return recordsDamaged === 0
    ? { state: "up" }
    : {
        state: "degraded",
        detail: `${recordsDamaged} damaged regions were found at the start and set aside.`,
      };
}
