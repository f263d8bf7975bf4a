import type { TransactionSql } from "postgres";
import type { AuditRecord } from "./audit-entry.ts";
import { canonicalJson } from "./canonical-json.ts";
import { type ChainedRow, GENESIS_HASH, rowHash } from "./chain.ts";

/**
 * Adds rows to the chain of an organisation, in the transaction of the change they tell of. The head stays locked until
 * that ends, so this is to be the last thing a transaction does: changes of one organisation wait here for each other,
 * and who waits for nothing else afterwards cannot deadlock.
 */
export async function appendAudit(
  tx: TransactionSql,
  organizationId: number,
  records: readonly AuditRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const [head] = await tx<{ seq: string; hash: Uint8Array; ids: string[] }[]>`
    INSERT INTO audit_heads (organization_id, seq, hash) VALUES (${organizationId}, 0, ${GENESIS_HASH})
    ON CONFLICT (organization_id) DO UPDATE SET seq = audit_heads.seq
    RETURNING seq, hash,
      ARRAY(SELECT nextval('audit_log_id_seq')::text FROM generate_series(1, ${records.length}::integer)) AS ids`;
  if (head === undefined) throw new Error("the head of the audit chain is out of reach");
  const rows = chained(organizationId, { seq: Number(head.seq), hash: head.hash }, head.ids, records);
  // In one statement: an apply of files brings rows by the thousand, and whoever comes next waits for the head.
  await tx`
    INSERT INTO audit_log
      (id, organization_id, seq, created_at, actor_user_id, actor_token_id, actor_email, action, resource, meta, hash)
    OVERRIDING SYSTEM VALUE
    SELECT id, ${organizationId}::integer, seq, created_at, actor_user_id, actor_token_id, actor_email, action, resource,
           meta::jsonb, decode(hash, 'hex')
    FROM unnest(
      ${rows.map(({ id }) => id)}::bigint[], ${rows.map(({ seq }) => seq)}::bigint[],
      ${rows.map(({ createdAt }) => createdAt)}::timestamptz[],
      ${rows.map(({ actorUserId }) => actorUserId)}::bigint[], ${rows.map(({ actorPatId }) => actorPatId)}::bigint[],
      ${rows.map(({ actorEmail }) => actorEmail)}::text[], ${rows.map(({ action }) => action)}::text[],
      ${rows.map(({ resource }) => resource)}::text[], ${rows.map(({ meta }) => canonicalJson(meta))}::text[],
      ${rows.map(({ hash }) => hash.toString("hex"))}::text[])
      AS row (id, seq, created_at, actor_user_id, actor_token_id, actor_email, action, resource, meta, hash)`;
  const last = rows.at(-1);
  if (last === undefined) throw new Error("a record became no row");
  await tx`
    UPDATE audit_heads SET seq = ${last.seq}, hash = ${last.hash} WHERE organization_id = ${organizationId}`;
}

/** Records as rows of the chain, each behind the one before it. */
function chained(
  organizationId: number,
  head: { readonly seq: number; readonly hash: Uint8Array },
  ids: readonly string[],
  records: readonly AuditRecord[],
): (ChainedRow & { readonly hash: Buffer })[] {
  let { seq, hash } = head;
  return records.map(({ actor, action, resource, meta, createdAtMs }, i) => {
    seq += 1;
    const row: ChainedRow = {
      ...{ organizationId, seq, id: Number(ids[i]) },
      createdAt: new Date(createdAtMs).toISOString(),
      actorUserId: actor.userId,
      actorPatId: actor.tokenId,
      actorEmail: actor.email,
      ...{ action, resource, meta },
    };
    const own = rowHash(hash, row);
    hash = own;
    return { ...row, hash: own };
  });
}
