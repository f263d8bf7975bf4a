import type { Sql } from "postgres";
import type { TimeRange } from "../../../query/index.ts";
import { DependencyError } from "../../errors.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { EXTENT_RENEWED_AFTER_MS, EXTENTS_MAX_COUNT } from "./limits.ts";
import {
  type ArchivedFile,
  type ArchiveExtent,
  listArchivedFiles,
  listFilesOfDays,
  readExtent,
  readVersion,
} from "./store.ts";

interface KnownExtent {
  readonly extent: ArchiveExtent;
  /** When the ledger was asked that said so last, which is before it answered; of this process's monotonic clock. */
  askedAtMs: number;
}

/**
 * What the ledger of the archive says of each organisation. What is remembered of it may be out of date: whoever reads
 * by it asks for the version afterwards. Every function throws a DependencyError where Postgres does not answer.
 */
export class ArchiveIndex {
  readonly #sql: Sql;
  readonly #trustedMs: number;
  /** The one asked for longest ago first. */
  readonly #extents = new Map<number, KnownExtent>();
  readonly #renewals = new Map<number, Promise<void>>();

  /** `trustedMs`: less than what a deletion from the log store waits, see `DELETION_WAIT_MS`. */
  constructor(sql: Sql, trustedMs: number) {
    this.#sql = sql;
    this.#trustedMs = trustedMs;
  }

  /** As it was when it was last asked for; whether it still is so is asked meanwhile. */
  async extent(organizationId: number): Promise<ArchiveExtent> {
    const known = this.#extents.get(organizationId);
    if (known !== undefined) {
      if (performance.now() - known.askedAtMs > EXTENT_RENEWED_AFTER_MS) this.#renew(organizationId, known);
      return known.extent;
    }
    const askedAtMs = performance.now();
    const extent = await askPostgres(() =>
      inOrganization(this.#sql, organizationId, (tx) => readExtent(tx, organizationId)),
    );
    this.#extents.set(organizationId, { extent, askedAtMs });
    for (const oldest of this.#extents.keys()) {
      if (this.#extents.size <= EXTENTS_MAX_COUNT) break;
      this.#extents.delete(oldest);
    }
    return extent;
  }

  /** Whether the archive still is what an extent says; if not, the extent is asked for anew. */
  async isCurrent(organizationId: number, extent: ArchiveExtent): Promise<boolean> {
    const askedAtMs = performance.now();
    const present = await askPostgres(() => readVersion(this.#sql, organizationId));
    const known = this.#extents.get(organizationId);
    if (present !== extent.version) this.#extents.delete(organizationId);
    else if (known?.extent.version === present) known.askedAtMs = Math.max(known.askedAtMs, askedAtMs);
    return present === extent.version;
  }

  /**
   * Whether the log store still had everything, when it was read just now, that no file of an extent has. It lets go of
   * nothing so soon after the ledger has named the file, so that mostly nothing has to be asked any more.
   */
  async isHotComplete(organizationId: number, extent: ArchiveExtent): Promise<boolean> {
    const readAtMs = performance.now();
    await this.#renewals.get(organizationId);
    const known = this.#extents.get(organizationId);
    if (known?.extent.version === extent.version && readAtMs - known.askedAtMs < this.#trustedMs) return true;
    return this.isCurrent(organizationId, extent);
  }

  /** Beside what is read meanwhile. */
  #renew(organizationId: number, { extent }: KnownExtent): void {
    if (this.#renewals.has(organizationId)) return;
    const renewal = this.isCurrent(organizationId, extent).then(
      () => void this.#renewals.delete(organizationId),
      (error: unknown) => {
        this.#renewals.delete(organizationId);
        throw error;
      },
    );
    // Whoever waits for it hears of it.
    renewal.catch(() => undefined);
    this.#renewals.set(organizationId, renewal);
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
