import { Archiver } from "../archive/archiver.ts";
import type { ArchiveFiles } from "../archive/files/archive-files.ts";
import { DELETION_WAIT_MS } from "../archive/limits.ts";
import { ArchiveStatements } from "../archive/statements.ts";
import type { Config } from "../config/config.ts";
import type { DependencyCheck } from "../health/readiness.ts";
import { Claimant } from "../jobs/claims/claimant.ts";
import type { BelievedClock } from "../jobs/clock/believed-clock.ts";
import type { Logger } from "../log.ts";
import { directoryIdentity } from "../storage/instance/directory-identity.ts";
import type { Stores } from "../storage/open.ts";
import type { Metrics } from "./metrics.ts";

interface ServerArchiveOptions {
  readonly config: Pick<Config, "logRetentionDays" | "archiveRetentionDays" | "dataDirectory">;
  /** Null when there is no place for archived entries: then all stay in the log store. */
  readonly files: ArchiveFiles | null;
  readonly stores: Pick<Stores, "clickhouse" | "postgres">;
  readonly clock: BelievedClock;
  readonly heldSince: (signal: AbortSignal) => Promise<number | null>;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** The archive of this server. */
interface ServerArchive {
  readonly checks: readonly DependencyCheck[];
  start(): void;
  stop(): Promise<void>;
}

export function openServerArchive({
  config,
  files,
  stores,
  clock,
  heldSince,
  metrics,
  log,
}: ServerArchiveOptions): ServerArchive {
  if (files === null) {
    return {
      checks: [{ name: "archive", check: async () => ({ state: "up", detail: "Not configured." }) }],
      start: () => log.info("no archive is configured: log entries stay in the log store"),
      stop: async () => undefined,
    };
  }
  const archiver = new Archiver({
    sql: stores.postgres,
    claimant: new Claimant(directoryIdentity(config.dataDirectory)),
    believedNow: () => clock.read(),
    heldSince,
    statements: new ArchiveStatements(stores.clickhouse, files),
    files,
    defaultDays: config.logRetentionDays,
    archiveDays: config.archiveRetentionDays,
    deletionWaitMs: DELETION_WAIT_MS,
    metrics: metrics.archive,
    now: Date.now,
    log,
    onStep: (step, { id }) => log.debug({ step, unit: id }, "archiving"),
  });
  return {
    checks: [{ name: "archive", check: async () => archiver.status() }],
    start: () => archiver.start(),
    stop: () => archiver.stop(),
  };
}
