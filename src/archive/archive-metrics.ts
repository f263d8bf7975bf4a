import { Counter, Gauge, type Registry } from "prom-client";

export interface ArchiveMetrics {
  /** Units of work, by how they ended. */
  readonly units: Counter<"outcome">;
  /** Entries moved. */
  readonly rows: Counter;
  /** Units that are not done, as the last round found. */
  readonly open: Gauge;
  /** Rounds that ended well. */
  readonly rounds: Counter;
}

export function archiveMetrics(registry: Registry): ArchiveMetrics {
  const registers = [registry];
  return {
    units: new Counter({
      name: "obs_archive_units_total",
      help: "Units of archiving (entries of an organisation and a day), by outcome (archived, empty, failed).",
      labelNames: ["outcome"],
      registers,
    }),
    rows: new Counter({
      name: "obs_archive_rows_total",
      help: "Entries moved from the log store to the archive.",
      registers,
    }),
    rounds: new Counter({
      name: "obs_archive_rounds_total",
      help: "Rounds of this instance that found out what is to be archived, and did what was due.",
      registers,
    }),
    open: new Gauge({
      name: "obs_archive_units_open",
      help: "Units of archiving that wait or are being worked on, by any instance.",
      registers,
    }),
  };
}
