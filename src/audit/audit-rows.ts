import type { Sql, TransactionSql } from "postgres";
import { patient } from "../concurrency/patience.ts";
import { askPostgres } from "../storage/ask-postgres.ts";
import { inOrganization } from "../storage/organization-transaction.ts";
import type { JsonValue } from "./canonical-json.ts";
import type { ChainedRow } from "./chain.ts";
import { STATEMENT_TIMEOUT_MS } from "./limits.ts";

/** A row as it is stored. */
export interface StoredRow {
  readonly row: ChainedRow;
  readonly hash: Uint8Array;
}

/** What a query for whole rows answers. */
export interface AuditTuple {
  readonly id: string;
  readonly organization_id: number;
  readonly seq: string;
  readonly created_at: Date;
  readonly actor_user_id: string | null;
  readonly actor_token_id: string | null;
  readonly actor_email: string;
  readonly action: string;
  readonly resource: string;
  readonly meta: JsonValue;
  readonly hash: Uint8Array;
}

export function storedRowOf(tuple: AuditTuple): StoredRow {
  const { created_at, actor_user_id, actor_token_id } = tuple;
  return {
    row: {
      organizationId: tuple.organization_id,
      seq: Number(tuple.seq),
      id: Number(tuple.id),
      // Only tampering makes a time that is none; the row is then read all the same, and found to be broken.
      createdAt: Number.isNaN(created_at.getTime()) ? "" : created_at.toISOString(),
      actorUserId: actor_user_id === null ? null : Number(actor_user_id),
      actorPatId: actor_token_id === null ? null : Number(actor_token_id),
      actorEmail: tuple.actor_email,
      action: tuple.action,
      resource: tuple.resource,
      meta: tuple.meta,
    },
    hash: tuple.hash,
  };
}

/** Reads in a transaction of the organisation that Postgres ends when nobody waits for it any more. */
export function readAudit<T>(
  sql: Sql,
  organizationId: number,
  read: (tx: TransactionSql) => Promise<T>,
): Promise<T> {
  return askPostgres(() =>
    inOrganization(sql, organizationId, async (tx) => {
      await tx`SELECT set_config('statement_timeout', ${String(patient(STATEMENT_TIMEOUT_MS))}, true)`;
      return read(tx);
    }),
  );
}
