import { CommittedBlock } from "../../../ingest/committed-block.ts";
import { IngestRejectedError } from "../../../ingest/errors.ts";
import { LogBatch } from "../../../ingest/log-batch.ts";
import { LOG_ID_STEP } from "../../../ingest/log-id.ts";
import { ByteBuffer } from "../../../ingest/native/byte-buffer.ts";
import type { RecordDecoder } from "../../../ingest/record/record-decoder.ts";
import { RecordWriter } from "../../../ingest/record/record-writer.ts";

/** When every decoded request arrived: 2026-11-21T12:00:00.123Z. */
export const RECEIVED_AT_MS = Date.UTC(2026, 10, 21, 12, 0, 0, 123);

/** An entry as the store will hold it; fields without a value are left out. */
export interface DecodedEntry {
  /** Nanoseconds since 1970. */
  readonly ts: bigint;
  readonly message: string;
  readonly level?: string;
  readonly service?: string;
  readonly source?: string;
  readonly host?: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly eventId?: string;
  /** Texts as they are, other values parsed. */
  readonly attrs: Readonly<Record<string, unknown>>;
}

export interface DecodedRequest {
  readonly entries: readonly DecodedEntry[];
  readonly rejections: readonly { readonly place: string; readonly reason: string; readonly raw: string }[];
  /** Why the whole body was refused; null when it was not. */
  readonly refusal: string | null;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What a decoder makes of a body, read back from the columns. Throws whatever is no refusal: that is a defect. */
export function decodeRequest(
  format: RecordDecoder,
  body: string | Uint8Array,
  skip: ReadonlySet<number> = new Set(),
): DecodedRequest {
  const writer = new RecordWriter();
  const batch = new LogBatch();
  batch.beginRequest(1, RECEIVED_AT_MS);
  writer.open(batch, skip);
  try {
    format.decode(typeof body === "string" ? encoder.encode(body) : body, writer);
  } catch (error) {
    if (!(error instanceof IngestRejectedError)) throw error;
    return { entries: [], rejections: [], refusal: error.message };
  }
  batch.keepRequest();
  return {
    entries: batch.rows === 0 ? [] : entriesOf(batch),
    rejections: writer.rejections.map(({ place, reason, raw }) => ({
      place,
      reason,
      raw: decoder.decode(raw ?? undefined),
    })),
    refusal: null,
  };
}

/** What one of the strict formats makes of a body: entries, or the refusal of all of it. */
export function decodeNative(
  format: { decode(body: Uint8Array, batch: LogBatch, skip: ReadonlySet<number>): void },
  body: Uint8Array,
  skip: ReadonlySet<number> = new Set(),
): DecodedRequest {
  const batch = new LogBatch();
  batch.beginRequest(1, RECEIVED_AT_MS);
  try {
    format.decode(body, batch, skip);
  } catch (error) {
    if (!(error instanceof IngestRejectedError)) throw error;
    return { entries: [], rejections: [], refusal: error.message };
  }
  batch.keepRequest();
  return { entries: batch.rows === 0 ? [] : entriesOf(batch), rejections: [], refusal: null };
}

/** The entries that a decoder makes of a body of which it rejects nothing. */
export function decodeEntries(format: RecordDecoder, body: string | Uint8Array): readonly DecodedEntry[] {
  const { entries, rejections, refusal } = decodeRequest(format, body);
  if (refusal !== null) throw new Error(`the body was refused: ${refusal}`);
  if (rejections.length > 0) throw new Error(`records were rejected: ${JSON.stringify(rejections)}`);
  return entries;
}

/** The entries of a batch whose requests are all kept; the batch is of no further use. */
export function entriesOf(batch: LogBatch): DecodedEntry[] {
  const out = new ByteBuffer();
  batch.writeTo(out, 1n, LOG_ID_STEP);
  return entriesOfBlock(new CommittedBlock(out.view()));
}

export function entriesOfBlock(block: CommittedBlock): DecodedEntry[] {
  return Array.from({ length: block.rows }, (_, row) => entryOf(block, row));
}

function entryOf(block: CommittedBlock, row: number): DecodedEntry {
  const texts = {
    level: block.level(row),
    service: indexed(block.service, row),
    source: indexed(block.source, row),
    host: indexed(block.host, row),
    traceId: block.traceId(row),
    spanId: block.spanId(row),
    eventId: block.eventId(row),
  };
  const [keys, values, jsonKeys] = block.attributes(row);
  const attrs = keys.map((key, i) => [key, attributeOf(values[i] ?? "", jsonKeys.includes(key))]);
  return {
    ts: block.ts(row),
    message: block.messageText(row),
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== "")),
    attrs: Object.fromEntries(attrs),
  };
}

function attributeOf(text: string, isJson: boolean): unknown {
  if (!isJson) return text;
  return text === "" ? null : JSON.parse(text);
}

function indexed({ texts, indexes }: CommittedBlock["service"], row: number): string {
  return texts[indexes[row] ?? 0] ?? "";
}
