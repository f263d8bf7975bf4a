import { join } from "node:path";
import { Archiver } from "../../src/archive/archiver.ts";
import type { ArchiveFiles } from "../../src/archive/files/archive-files.ts";
import { DirectoryFiles } from "../../src/archive/files/directory-files.ts";
import type { UnitKey } from "../../src/archive/ledger/unit-store.ts";
import { ArchiveStatements } from "../../src/archive/statements.ts";
import type { ArchiveStep } from "../../src/archive/steps.ts";
import { Claimant } from "../../src/jobs/claims/claimant.ts";
import { createLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/server/metrics.ts";
import type { Stores } from "../../src/storage/open.ts";
import { TEST_DELETION_WAIT_MS } from "../harness/log-ranges.ts";

export const NOW_MS = Date.parse("2026-11-21T12:00:00Z");
export const DAY_MS = 86_400_000;

interface ArchiverChoices {
  readonly defaultDays?: number;
  readonly archiveDays?: number;
  readonly now?: () => number;
  /** As `now` says when absent. */
  readonly believedNow?: () => Promise<number>;
  /** Nothing is held when absent. */
  readonly heldSince?: () => Promise<number | null>;
  readonly onStep?: (step: ArchiveStep, unit: UnitKey) => void;
  readonly statements?: ArchiveStatements;
  /** Of its data directory; one of its own when absent. */
  readonly place?: string;
}

/** Those of a suite, or of a server. */
type ArchiveStores = Pick<Stores, "clickhouse" | "postgres">;

/** An archiver as the server makes it, with files in a directory; several over the same stores are several instances. */
export function testArchiver(stores: ArchiveStores, directory: string, choices: ArchiverChoices = {}) {
  const files = new DirectoryFiles(join(directory, "archive"));
  return { ...archiverOver(stores, files, choices), files };
}

export function archiverOver(stores: ArchiveStores, files: ArchiveFiles, choices: ArchiverChoices = {}) {
  const now = choices.now ?? (() => NOW_MS);
  const metrics = createMetrics();
  const archiver = new Archiver({
    sql: stores.postgres,
    claimant: new Claimant(choices.place ?? null),
    statements: choices.statements ?? new ArchiveStatements(stores.clickhouse, files),
    files,
    defaultDays: choices.defaultDays ?? 30,
    archiveDays: choices.archiveDays ?? 0,
    now,
    deletionWaitMs: TEST_DELETION_WAIT_MS,
    believedNow: choices.believedNow ?? (async () => now()),
    heldSince: choices.heldSince ?? (async () => null),
    onStep: choices.onStep ?? (() => undefined),
    metrics: metrics.archive,
    log: createLogger("silent"),
  });
  const stopping = new AbortController();
  return { archiver, metrics, stop: () => stopping.abort(), run: () => archiver.runOnce(stopping.signal) };
}

export async function makeOrganization(stores: ArchiveStores): Promise<number> {
  const [row] = await stores.postgres<{ id: number }[]>`
    INSERT INTO organizations (name, created_at) VALUES ('Example', now()) RETURNING id`;
  if (row === undefined) throw new Error("no organisation was made");
  return row.id;
}

/** The ids that the log store has of an organisation, sorted. */
export async function hotIds(stores: ArchiveStores, organizationId: number): Promise<string[]> {
  const result = await stores.clickhouse.query({
    query: "SELECT id FROM logs WHERE organization_id = {organizationId: UInt32} ORDER BY id",
    query_params: { organizationId },
    format: "JSONEachRow",
  });
  return (await result.json<{ id: string }>()).map(({ id }) => id);
}

interface UnitState {
  state: string;
  day: string;
  file: string | null;
  rows: number;
}

export async function unitsOf(stores: ArchiveStores, organizationId: number): Promise<UnitState[]> {
  return stores.postgres<UnitState[]>`
    SELECT state, to_char(day, 'YYYY-MM-DD') AS day, file, rows::integer AS rows
    FROM log_archive_units WHERE organization_id = ${organizationId} ORDER BY day, id`;
}

/** The ids in the files that searches of the archive read, sorted; what is there twice is there twice. */
export async function archivedIds(
  stores: ArchiveStores,
  organizationId: number,
  files: DirectoryFiles,
): Promise<string[]> {
  const ids: string[] = [];
  for (const { state, file } of await unitsOf(stores, organizationId)) {
    if (state === "planned" || file === null) continue;
    const source = files.source([file]);
    const result = await stores.clickhouse.query({
      query: "SELECT id FROM file({pattern: String}, 'Parquet', {structure: String})",
      query_params: { pattern: source.pattern, structure: source.structure },
      format: "JSONEachRow",
    });
    ids.push(...(await result.json<{ id: string }>()).map(({ id }) => id));
  }
  return ids.sort((left, right) => (BigInt(left) < BigInt(right) ? -1 : 1));
}
