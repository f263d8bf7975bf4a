import type { Sql, TransactionSql } from "postgres";
import {
  type KeptColumn,
  type KeptFunction,
  type KeptNames,
  type KeptTable,
  NOTHING_KEPT,
} from "../../../query/index.ts";
import type { Logger } from "../../log.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { LookupCache } from "../../storage/lookup-cache.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { NAMES_LIFE_MS, ORGANIZATIONS_MAX } from "./limits.ts";

interface KeptDirectoryOptions {
  readonly sql: Sql;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Logger;
}

/** What a query needs of it. */
export type NamesOf = Pick<KeptDirectory, "namesOf">;

interface NamedRow {
  readonly kind: "function" | "table";
  readonly name: string;
  readonly parameters: string;
  readonly body: string;
  readonly rows_id: string;
  readonly columns: readonly KeptColumn[];
}

/**
 * What organisations keep under names for their queries. It is trusted for a second: a change holds at once on the instance
 * that made it and within a second on the others. While Postgres does not answer, what was known last is used; where
 * nothing is known, nobody can say what a name means.
 */
export class KeptDirectory {
  readonly #options: KeptDirectoryOptions;
  readonly #cache: LookupCache<KeptNames>;
  /** Those asked for longest ago first. */
  readonly #last = new Map<number, KeptNames>();

  constructor(options: KeptDirectoryOptions) {
    this.#options = options;
    const { now } = options;
    this.#cache = new LookupCache({
      now,
      lifeMs: NAMES_LIFE_MS,
      max: ORGANIZATIONS_MAX,
      absentMax: ORGANIZATIONS_MAX,
    });
  }

  /** Throws DependencyError when nobody can tell. */
  async namesOf(organizationId: number): Promise<KeptNames> {
    try {
      const names = await this.#cache.get(String(organizationId), () => this.#look(organizationId));
      return names ?? NOTHING_KEPT;
    } catch (error) {
      const last = this.#last.get(organizationId);
      if (last === undefined) throw error;
      this.#options.log.warn({ err: error, organizationId }, "names that queries use could not be looked up");
      return last;
    }
  }

  /** Makes this instance ask anew. */
  forget(organizationId: number): void {
    this.#cache.forget(String(organizationId));
    this.#last.delete(organizationId);
  }

  /** Null for an organisation that keeps nothing, as most do. */
  async #look(organizationId: number): Promise<KeptNames | null> {
    const { sql } = this.#options;
    const rows = await askPostgres(() =>
      inOrganization(sql, organizationId, (tx) => readNames(tx, organizationId)),
    );
    const names = namesOfRows(this.#last.get(organizationId) ?? NOTHING_KEPT, rows);
    this.#remember(organizationId, names);
    return rows.length === 0 ? null : names;
  }

  #remember(organizationId: number, names: KeptNames): void {
    this.#last.delete(organizationId);
    this.#last.set(organizationId, names);
    for (const oldest of this.#last.keys()) {
      if (this.#last.size <= ORGANIZATIONS_MAX) return;
      this.#last.delete(oldest);
    }
  }
}

function readNames(tx: TransactionSql, organizationId: number): Promise<NamedRow[]> {
  return tx<NamedRow[]>`
    SELECT 'function' AS kind, name, parameters, body, '' AS rows_id, '[]'::jsonb AS columns
    FROM kql_functions WHERE organization_id = ${organizationId}
    UNION ALL
    SELECT 'table', name, '', '', rows_id::text, columns
    FROM kql_tables WHERE organization_id = ${organizationId}`;
}

/** As a transaction sees them. */
export async function namesWithin(tx: TransactionSql, organizationId: number): Promise<KeptNames> {
  return namesOfRows(NOTHING_KEPT, await readNames(tx, organizationId));
}

/** What has not changed is the same object: the compiler knows by it what it has read. */
function namesOfRows(before: KeptNames, rows: readonly NamedRow[]): KeptNames {
  const functions = new Map<string, KeptFunction>();
  const tables = new Map<string, KeptTable>();
  for (const { kind, name, parameters, body, rows_id: rowsId, columns } of rows) {
    const known = before.functions.get(name);
    const isSame = known?.parameters === parameters && known.body === body;
    if (kind === "table") tables.set(name, { rowsId, columns });
    else functions.set(name, isSame ? known : { name, parameters, body });
  }
  return { functions, tables };
}
