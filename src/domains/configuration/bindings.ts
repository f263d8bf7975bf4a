import type { TransactionSql } from "postgres";
import type { JsonObject } from "../../audit/canonical-json.ts";
import { isJsonObject } from "../../configuration/json.ts";

/** What a key in files stands for. */
export interface Binding {
  readonly kind: string;
  readonly key: string;
  readonly recordId: string;
  /** The record's fields when files were last applied; ids as they are, secrets as fingerprints. */
  readonly base: JsonObject;
}

/** By kind and key. */
export async function readBindings(tx: TransactionSql, organizationId: number): Promise<Binding[]> {
  const rows = await tx<{ kind: string; key: string; record_id: string; base: unknown }[]>`
    SELECT kind, key, record_id, base FROM config_bindings
    WHERE organization_id = ${organizationId} ORDER BY kind, key`;
  return rows.map(({ kind, key, record_id: recordId, base }) => {
    if (!isJsonObject(base)) throw new Error("the base of a binding is no object");
    return { kind, key, recordId, base };
  });
}

/** Takes away what keys stand for, and says anew what others do. */
export async function writeBindings(
  tx: TransactionSql,
  organizationId: number,
  { gone, bound }: { readonly gone: readonly Binding[]; readonly bound: readonly Binding[] },
  nowMs: number,
): Promise<void> {
  const leaving = [...gone, ...bound];
  await tx`
    DELETE FROM config_bindings b
    USING unnest(${leaving.map(({ kind }) => kind)}::text[], ${leaving.map(({ key }) => key)}::text[]) AS l (kind, key)
    WHERE b.organization_id = ${organizationId} AND b.kind = l.kind AND b.key = l.key`;
  await tx`
    INSERT INTO config_bindings (organization_id, kind, key, record_id, base, applied_at)
    SELECT ${organizationId}::integer, kind, key, record_id, base::jsonb, ${new Date(nowMs)}::timestamptz
    FROM unnest(${bound.map(({ kind }) => kind)}::text[], ${bound.map(({ key }) => key)}::text[],
                ${bound.map(({ recordId }) => recordId)}::text[], ${bound.map(({ base }) => JSON.stringify(base))}::text[])
      AS made (kind, key, record_id, base)`;
}
