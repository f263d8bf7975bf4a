import type { TransactionSql } from "postgres";
import type { SecretBox } from "../../access/secret-box.ts";
import { checkedMessage, type MailMessage } from "./message.ts";
import { insertMail } from "./outbox-store.ts";

const SEAL_PURPOSE = "mail";

/** Puts a mail into the outbox; it is sent if and when the transaction is kept, and forgotten once it has expired. */
export type EnqueueMail = (tx: TransactionSql, message: MailMessage, expiresAtMs: number) => Promise<void>;

/** The writing end of the outbox. The transaction may be restricted to an organisation. */
export function outbox({ box, now }: { box: SecretBox; now: () => number }): EnqueueMail {
  return async (tx, message, expiresAtMs) => {
    const sealed = box.seal(JSON.stringify(checkedMessage(message)), SEAL_PURPOSE);
    await insertMail(tx, { sealed, createdAtMs: now(), expiresAtMs });
  };
}

/** The message of a row. Throws an Error for one that this server's key did not seal. */
export function openMail(box: SecretBox, sealed: Uint8Array): MailMessage {
  return checkedMessage(JSON.parse(box.open(sealed, SEAL_PURPOSE)));
}
