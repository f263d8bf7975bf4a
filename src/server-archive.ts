import { Archiver } from "./archive/archiver.ts";
import type { ArchiveFiles } from "./archive/files/archive-files.ts";
import { type ArchiveConfig, openArchiveFiles } from "./archive/log-archive.ts";
import { ArchiveStatements } from "./archive/statements.ts";
import type { BelievedClock } from "./clock/believed-clock.ts";
import type { Config } from "./config.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./ops/metrics.ts";
import type { DependencyCheck } from "./ops/readiness.ts";
import type { Stores } from "./storage/open.ts";

export interface ServerArchiveOptions {
  readonly config: ArchiveConfig & Pick<Config, "logRetentionDays" | "archiveRetentionDays">;
  readonly stores: Pick<Stores, "clickhouse" | "postgres">;
  readonly clock: BelievedClock;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** The archive of this server, at work. */
export interface ServerArchive {
  /** Null when there is no place for archived entries: then all stay in the log store. */
  readonly files: ArchiveFiles | null;
  readonly check: DependencyCheck;
  stop(): Promise<void>;
}

/** Throws an error with a message for the operator when the archive cannot be where it is configured to be. */
export async function openServerArchive({
  config,
  stores,
  clock,
  metrics,
  log,
}: ServerArchiveOptions): Promise<ServerArchive> {
  const files = await openArchiveFiles(config, stores.clickhouse);
  if (files === null) {
    log.info("no archive is configured: log entries stay in the log store");
    return {
      files,
      check: { name: "archive", check: async () => ({ state: "up", detail: "Not configured." }) },
      stop: async () => undefined,
    };
  }
  const archiver = new Archiver({
    sql: stores.postgres,
    believedNow: () => clock.read(),
    statements: new ArchiveStatements(stores.clickhouse, files),
    files,
    defaultDays: config.logRetentionDays,
    archiveDays: config.archiveRetentionDays,
    metrics: metrics.archive,
    now: Date.now,
    log,
    onStep: (step, { id }) => log.debug({ step, unit: id }, "archiving"),
  });
  archiver.start();
  return {
    files,
    check: { name: "archive", check: async () => archiver.status() },
    stop: () => archiver.stop(),
  };
}
