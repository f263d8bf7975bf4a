import type { TransactionSql } from "postgres";
import type { AuditRecord } from "./audit-entry.ts";
import { canonicalJson } from "./canonical-json.ts";
import { GENESIS_HASH, rowHash } from "./chain.ts";

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
  let seq = Number(head.seq);
  let hash = head.hash;
  for (const [i, record] of records.entries()) {
    seq += 1;
    const id = Number(head.ids[i]);
    const { actor, action, resource, meta } = record;
    const createdAt = new Date(record.createdAtMs).toISOString();
    hash = rowHash(hash, {
      organizationId,
      seq,
      id,
      createdAt,
      actorUserId: actor.userId,
      actorPatId: actor.tokenId,
      actorEmail: actor.email,
      action,
      resource,
      meta,
    });
    await tx`
      INSERT INTO audit_log
        (id, organization_id, seq, created_at, actor_user_id, actor_token_id, actor_email, action, resource, meta, hash)
      OVERRIDING SYSTEM VALUE
      VALUES (${id}, ${organizationId}, ${seq}, ${createdAt}, ${actor.userId}, ${actor.tokenId}, ${actor.email},
              ${action}, ${resource}, ${canonicalJson(meta)}::text::jsonb, ${hash})`;
  }
  await tx`
    UPDATE audit_heads SET seq = ${seq}, hash = ${hash} WHERE organization_id = ${organizationId}`;
}
