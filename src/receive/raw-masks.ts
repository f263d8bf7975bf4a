import { setImmediate as nextTurn } from "node:timers/promises";
import type { Mapping, RawMasker, RejectedRecord, SourceFormat } from "../../ingest/index.ts";
import { throwForClient } from "./ingest-refusals.ts";

/** Raw text that is masked before others get a turn: some milliseconds. */
const BYTES_PER_TURN = 256 * 1024;

/** What organisations hide of records that could not be read. */
export interface RawMasks {
  /** Null where nothing is. Rejects with IngestUnavailableError when nobody can tell: then nothing may be kept. */
  rawMaskerOf(organizationId: number): Promise<RawMasker | null>;
}

/** What a configured source makes of the fields of its senders. */
interface SourceFields {
  readonly format: SourceFormat;
  readonly mapping: Mapping;
}

async function maskerOf(
  masks: RawMasks,
  organizationId: number,
  source: SourceFields | null,
): Promise<RawMasker | null> {
  const masker = await masks.rawMaskerOf(organizationId).catch(throwForClient);
  return source === null ? masker : (masker?.ofSource(source) ?? null);
}

/** Rejected records without what the organisation hides. Throws ApiError. */
export async function maskedRecords(
  masks: RawMasks,
  organizationId: number,
  records: readonly RejectedRecord[],
  source: SourceFields | null,
): Promise<readonly RejectedRecord[]> {
  if (records.length === 0) return records;
  const masker = await maskerOf(masks, organizationId, source);
  if (masker === null) return records;
  const masked: RejectedRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    masked.push(masker.record(record));
    bytes += record.raw?.length ?? 0;
    if (bytes < BYTES_PER_TURN) continue;
    bytes = 0;
    await nextTurn();
  }
  return masked;
}

/** The same of texts of a source that is learning, whose fields are still called as the sender does. */
export async function maskedTexts(
  masks: RawMasks,
  organizationId: number,
  texts: readonly string[],
): Promise<readonly string[]> {
  if (texts.length === 0) return texts;
  const masker = await maskerOf(masks, organizationId, null);
  return masker === null ? texts : texts.map((text) => masker.text(text));
}
