/** Entries as they are taken in: in the store, and as the block that was committed. */
import { NativeFormat } from "../../ingest/decode/native.ts";
import { CommittedBlock } from "../../ingest/index.ts";
import { LogBatch } from "../../ingest/log-batch.ts";
import { LOG_ID_STEP } from "../../ingest/log-id.ts";
import { ByteBuffer } from "../../ingest/native/byte-buffer.ts";
import { createClickHouseLogStore } from "../../src/storage/clickhouse-log-store.ts";
import type { TestStores } from "../harness/stores.ts";

export const FIRST_ID = 1n << 50n;
const encoder = new TextEncoder();
const format = new NativeFormat();

/** Takes entries in for an organisation that has no others. */
export async function storeBlock(
  { clickhouseEndpoint }: Pick<TestStores, "clickhouseEndpoint">,
  organizationId: number,
  entries: readonly object[],
  nowMs: number,
): Promise<CommittedBlock> {
  const batch = new LogBatch();
  batch.beginRequest(organizationId, nowMs);
  format.decode(encoder.encode(JSON.stringify(entries)), batch, new Set());
  batch.keepRequest();
  const out = new ByteBuffer();
  batch.writeTo(out, FIRST_ID, LOG_ID_STEP);
  const store = createClickHouseLogStore(clickhouseEndpoint);
  await store.insert([out.view()], crypto.randomUUID(), new AbortController().signal);
  return new CommittedBlock(out.view().slice());
}

/** The position among the entries of the one with the id. */
export function positionOf(id: unknown): number {
  return Number((BigInt(String(id)) - FIRST_ID) / BigInt(LOG_ID_STEP));
}
