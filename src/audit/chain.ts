import { createHash } from "node:crypto";
import { canonicalJson, type JsonValue } from "./canonical-json.ts";

/** Everything an audit row says, as its hash covers it and as an export shows it. */
export type ChainedRow = {
  readonly organizationId: number;
  /** Its place in the chain of the organisation, from 1 without gaps. */
  readonly seq: number;
  readonly id: number;
  /** ISO 8601, to the millisecond. */
  readonly createdAt: string;
  readonly actorUserId: number | null;
  /** Null for a session. */
  readonly actorPatId: number | null;
  readonly actorEmail: string;
  readonly action: string;
  readonly resource: string;
  readonly meta: JsonValue;
};

/** What the first row of a chain follows. */
export const GENESIS_HASH: Uint8Array = Buffer.alloc(32);

/** The hash of a row: SHA-256 over the hash of the row before it and the row's canonical JSON. 32 bytes. */
export function rowHash(previous: Uint8Array, row: ChainedRow): Buffer {
  return createHash("sha256").update(previous).update(canonicalJson(row)).digest();
}
