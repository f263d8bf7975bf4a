import type { Sql } from "postgres";
import type { TimeRange } from "../../../query/index.ts";
import { DependencyError } from "../../errors.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { EXTENTS_MAX_COUNT } from "./limits.ts";
import {
  type ArchivedFile,
  type ArchiveExtent,
  listArchivedFiles,
  listFilesOfDays,
  readExtent,
  readVersion,
} from "./store.ts";

/**
 * What the ledger of the archive says of each organisation. What is remembered of it may be out of date: whoever reads
 * by it asks for the version afterwards. Every function throws a DependencyError where Postgres does not answer.
 */
export class ArchiveIndex {
  readonly #sql: Sql;
  /** The one asked for longest ago first. */
  readonly #extents = new Map<number, ArchiveExtent>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** As it was when it was last asked for. */
  async extent(organizationId: number): Promise<ArchiveExtent> {
    const known = this.#extents.get(organizationId);
    if (known !== undefined) return known;
    const extent = await askPostgres(() =>
      inOrganization(this.#sql, organizationId, (tx) => readExtent(tx, organizationId)),
    );
    this.#extents.set(organizationId, extent);
    for (const oldest of this.#extents.keys()) {
      if (this.#extents.size <= EXTENTS_MAX_COUNT) break;
      this.#extents.delete(oldest);
    }
    return extent;
  }

  /** Whether the archive still is what an extent says; if not, the extent is asked for anew. */
  async isCurrent(organizationId: number, { version }: ArchiveExtent): Promise<boolean> {
    const present = await askPostgres(() => readVersion(this.#sql, organizationId));
    if (present === version) return true;
    this.#extents.delete(organizationId);
    return false;
  }

  list(organizationId: number, timeRange: TimeRange, limit: number): Promise<ArchivedFile[]> {
    return askPostgres(() =>
      inOrganization(this.#sql, organizationId, (tx) =>
        listArchivedFiles(tx, organizationId, timeRange, limit),
      ),
    );
  }

  listDays(organizationId: number, days: readonly [string, string], limit: number): Promise<ArchivedFile[]> {
    return askPostgres(() =>
      inOrganization(this.#sql, organizationId, (tx) => listFilesOfDays(tx, organizationId, days, limit)),
    );
  }
}

/** Whether it is the ledger that did not answer. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof DependencyError && error.dependency === "postgres";
}
