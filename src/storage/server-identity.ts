import type { Sql } from "postgres";

const KEY_BYTES = 32;

/** The signing key all instances share for a purpose, made by the first one that asks; 32 bytes. */
export async function loadSigningKey(sql: Sql, purpose: string): Promise<Uint8Array> {
  const fresh = Buffer.from(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
  await sql`INSERT INTO signing_keys (purpose, key) VALUES (${purpose}, ${fresh}) ON CONFLICT (purpose) DO NOTHING`;
  const [row] = await sql<{ key: Uint8Array }[]>`SELECT key FROM signing_keys WHERE purpose = ${purpose}`;
  if (row === undefined) throw new Error("the signing key is gone");
  return row.key;
}
