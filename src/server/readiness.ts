import type { Ingest } from "../../ingest/index.ts";
import type { EventDelivery } from "../changes/events/event-delivery.ts";
import type { LogWrites } from "../health/log-writes.ts";
import { type DependencyCheck, type Readiness, readinessOf } from "../health/readiness.ts";
import type { MailSender } from "../notify/mail/mail-sender.ts";
import type { Stores } from "../storage/open.ts";

/** How long an acknowledged entry may wait for the store before the server calls itself behind. */
const MAX_FLUSH_LAG_MS = 30_000;

interface ServerReadinessOptions {
  readonly stores: Pick<Stores, "statuses">;
  readonly ingest: Pick<Ingest, "wal">;
  readonly writes: LogWrites;
  readonly disk: DependencyCheck;
  readonly mail: Pick<MailSender, "status">;
  readonly archive: DependencyCheck;
  readonly events: Pick<EventDelivery, "status">;
  readonly now: () => number;
}

/** What health is asked for. */
export interface ServerReadiness {
  /** Every store, the write-ahead log between them, the disk it is on, mail, the archive, and events. */
  readonly all: Readiness;
  /** What an acknowledgement of entries needs: the log, its disk, and Postgres, which knows the senders. */
  readonly ingest: Readiness;
}

export function serverReadiness(options: ServerReadinessOptions): ServerReadiness {
  const { stores, disk, mail, archive, events } = options;
  const storeChecks = stores.statuses().map(({ name }) => storeCheck(stores, name));
  const log: DependencyCheck = { name: "write-ahead-log", check: async () => logState(options) };
  return {
    all: readinessOf([
      ...storeChecks,
      log,
      disk,
      { name: "mail", check: async () => mail.status() },
      archive,
      { name: "events", check: async () => events.status() },
    ]),
    ingest: readinessOf([...storeChecks.filter(({ name }) => name === "postgres"), log, disk]),
  };
}

function storeCheck(stores: Pick<Stores, "statuses">, name: string): DependencyCheck {
  return {
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
  };
}

function logState({
  ingest: { wal },
  writes,
  now,
}: ServerReadinessOptions): Awaited<ReturnType<DependencyCheck["check"]>> {
  if (wal.bytes >= wal.maxBytes) return { state: "down", detail: "Full: new entries are refused." };
  if (writes.isFailing) return { state: "down", detail: "The newest entries could not be made durable." };
  const lagMs = wal.oldestUnflushedMs === undefined ? 0 : now() - wal.oldestUnflushedMs;
  if (lagMs > MAX_FLUSH_LAG_MS) return { state: "degraded", detail: "Entries wait for the log store." };
  const { recordsDamaged } = wal.recovery;
  return recordsDamaged === 0
    ? { state: "up" }
    : {
        state: "degraded",
        detail: `${recordsDamaged} damaged regions were found at the start and set aside.`,
      };
}
