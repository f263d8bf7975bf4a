import type { Sql } from "postgres";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { type Counter, countersAt } from "../counters/counter-store.ts";
import { COUNTERS_KEPT_MAX } from "./limits.ts";

/** The counters of the revision that seals count by, read once: at a revision they never change. */
export class KnownCounters {
  readonly #sql: Sql;
  #revision: bigint | null = null;
  #count = 0;
  readonly #byOrganization = new Map<number, readonly Counter[]>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Those of organisations at a revision, in the order of the organisations. Throws DependencyError. */
  async at(revision: bigint, organizationIds: readonly number[]): Promise<readonly Counter[]> {
    if (this.#revision !== revision || this.#count > COUNTERS_KEPT_MAX) {
      this.#revision = revision;
      this.#count = 0;
      this.#byOrganization.clear();
    }
    const unknown = organizationIds.filter((id) => !this.#byOrganization.has(id));
    if (unknown.length > 0) {
      const read = await askPostgres(() => countersAt(this.#sql, unknown, revision));
      const own = Map.groupBy(read, ({ organizationId }) => organizationId);
      for (const id of unknown) this.#byOrganization.set(id, own.get(id) ?? []);
      this.#count += unknown.length + read.length;
    }
    return organizationIds.flatMap((id) => this.#byOrganization.get(id) ?? []);
  }
}
