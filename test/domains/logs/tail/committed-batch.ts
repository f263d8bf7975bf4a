import { NativeFormat } from "../../../../ingest/decode/native.ts";
import type { CommittedBatch } from "../../../../ingest/index.ts";
import { LogBatch } from "../../../../ingest/log-batch.ts";
import { LOG_ID_STEP } from "../../../../ingest/log-id.ts";
import { ByteBuffer } from "../../../../ingest/native/byte-buffer.ts";

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const encoder = new TextEncoder();
const format = new NativeFormat();
let nextId = 1n << 50n;

/** The entries of one request. */
export interface SentEntries {
  readonly organizationId: number;
  readonly entries: readonly object[];
}

/**
 * Requests as the pipeline tells of them once they are durable together, which those of several organizations are that
 * arrive during one sync; ids grow from one batch to the next.
 */
export function committedRequests(requests: readonly SentEntries[]): CommittedBatch {
  const batch = new LogBatch();
  for (const { organizationId, entries } of requests) {
    batch.beginRequest(organizationId, NOW_MS);
    format.decode(encoder.encode(JSON.stringify(entries)), batch, new Set());
    batch.keepRequest();
  }
  const out = new ByteBuffer();
  const firstId = nextId;
  batch.writeTo(out, firstId, LOG_ID_STEP);
  nextId += BigInt(batch.rows * LOG_ID_STEP);
  return {
    organizations: new Set(requests.map(({ organizationId }) => organizationId)),
    block: out.view().slice(),
    lastId: nextId - BigInt(LOG_ID_STEP),
  };
}

/** The same of one request alone. */
export function committedBatch(organizationId: number, entries: readonly object[]): CommittedBatch {
  return committedRequests([{ organizationId, entries }]);
}
