import { createHash } from "node:crypto";
import type { AuditRecord } from "./audit-entry.ts";
import { canonicalJson } from "./canonical-json.ts";

/** What the first row of a chain follows. */
export const GENESIS_HASH: Uint8Array = Buffer.alloc(32);

/**
 * The hash of a row: SHA-256 over the hash of the row before it and the canonical JSON of everything the row says,
 * its organisation and its place included. 32 bytes.
 */
export function rowHash(
  previous: Uint8Array,
  place: { readonly organizationId: number; readonly seq: number },
  record: AuditRecord,
): Buffer {
  const { createdAtMs, actor, action, resource, meta } = record;
  const text = canonicalJson({
    organizationId: place.organizationId,
    seq: place.seq,
    createdAt: new Date(createdAtMs).toISOString(),
    actorUserId: actor.userId,
    actorTokenId: actor.tokenId,
    actorEmail: actor.email,
    action,
    resource,
    meta,
  });
  return createHash("sha256").update(previous).update(text).digest();
}
