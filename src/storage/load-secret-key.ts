import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Sql } from "postgres";
import { parseSecretKey, SECRET_KEY_BYTES, SecretBox } from "../access/secret-box.ts";
import { askPostgres } from "./ask-postgres.ts";
import { writeDurably } from "./write-durably.ts";

const KEY_FILE = "secret.key";

/**
 * Opens the box for secrets at rest: with the configured key, else with the one in the data directory, which is made
 * at the first start and readable by its owner only. Instances that share a database have to share the key, so the
 * database remembers which one it is; throws an Error for the operator when this is another one.
 */
export async function openSecretBox(
  sql: Sql,
  configuredKey: Uint8Array | null,
  dataDirectory: string,
): Promise<SecretBox> {
  const path = join(dataDirectory, KEY_FILE);
  const isNew = configuredKey === null && !existsSync(path);
  const key = configuredKey ?? (isNew ? randomBytes(SECRET_KEY_BYTES) : readKey(path));
  const box = new SecretBox(key);
  // Before the database remembers it: a key that is remembered and lost would be lost for good.
  if (isNew) writeDurably(path, `${Buffer.from(key).toString("base64")}\n`);
  const remembered = await askPostgres(() => rememberFingerprint(sql, box.fingerprint));
  if (remembered === box.fingerprint) return box;
  if (isNew) rmSync(path);
  throw new Error(
    configuredKey === null && !isNew
      ? `${path} is not the key with which the database's secrets are encrypted: restore it from a backup`
      : "the database's secrets are encrypted with another key: set SECRET_KEY to it, the same for every instance",
  );
}

/** The box as it is known without the database; null for a server that has no key yet. Throws an Error for the operator. */
export function openSecretBoxAlone(
  configuredKey: Uint8Array | null,
  dataDirectory: string,
): SecretBox | null {
  const path = join(dataDirectory, KEY_FILE);
  if (configuredKey === null && !existsSync(path)) return null;
  return new SecretBox(configuredKey ?? readKey(path));
}

function readKey(path: string): Uint8Array {
  const key = parseSecretKey(readFileSync(path, "utf8").trim());
  if (key === null) throw new Error(`${path} is damaged: restore it from a backup`);
  return key;
}

/** The fingerprint of the database's key: the first one that was shown to it. */
async function rememberFingerprint(sql: Sql, fingerprint: string): Promise<string> {
  await sql`INSERT INTO secret_key (fingerprint) VALUES (${fingerprint}) ON CONFLICT DO NOTHING`;
  const [row] = await sql<{ fingerprint: string }[]>`SELECT fingerprint FROM secret_key`;
  if (row === undefined) throw new Error("the fingerprint of the key is gone");
  return row.fingerprint;
}
