import { ElasticsearchBulk } from "../decode/elasticsearch-bulk/elasticsearch-bulk.ts";
import { NativeFormat } from "../decode/native.ts";
import { NdjsonFormat } from "../decode/ndjson/ndjson.ts";
import type { EntrySlice, SliceOwner } from "../entry-slice.ts";
import type { LogBatch } from "../log-batch.ts";
import type { SourceDecoder } from "../mapping/learned-texts.ts";
import type { RecordDecoder } from "../record/record-decoder.ts";
import { RecordWriter } from "../record/record-writer.ts";
import type { RejectedRecord } from "../record/rejections.ts";
import { type PackedItems, packItems } from "./bulk-items.ts";
import {
  type DecoderSpec,
  type RecordDecoderSpec,
  recordDecoderOf,
  type StrictDecoderSpec,
} from "./decoder-spec.ts";
import { SlicedBatch } from "./sliced-batch.ts";

/** A body to be decoded where nobody waits for the thread. */
export interface DecodeJob extends SliceOwner {
  readonly receivedAtMs: number;
  readonly spec: DecoderSpec;
  readonly body: Uint8Array;
}

/** What a body holds. */
export interface DecodedBody {
  readonly slices: readonly EntrySlice[];
  readonly rejected: number;
  /** The rejected records that are kept. */
  readonly rejections: readonly RejectedRecord[];
  /** What became of each action of a bulk request. */
  readonly items: PackedItems;
  /** The first records, as they came, of a body for a source that is learning. */
  readonly learned: readonly string[];
}

const NO_ROWS: ReadonlySet<number> = new Set();
const NO_ITEMS = packItems([]);

/** Decodes a body into slices of its entries. Throws IngestRejectedError. `sliceBytes`: smaller in tests. */
export function decodeBody(job: DecodeJob, sliceBytes?: number): DecodedBody {
  const { organizationId, keys, receivedAtMs, spec, body } = job;
  const batch = new SlicedBatch({ organizationId, keys }, receivedAtMs, sliceBytes);
  const decoded = isStrict(spec)
    ? decodeStrict(spec, body, batch)
    : decodeRecords(spec, body, batch, receivedAtMs);
  return { ...decoded, slices: batch.takeSlices() };
}

type WithoutEntries = Omit<DecodedBody, "slices">;

function isStrict(spec: DecoderSpec): spec is StrictDecoderSpec {
  return spec.kind === "native" || spec.kind === "ndjson";
}

function decodeStrict({ kind }: StrictDecoderSpec, body: Uint8Array, batch: LogBatch): WithoutEntries {
  const format = kind === "native" ? new NativeFormat() : new NdjsonFormat();
  format.decode(body, batch, NO_ROWS);
  return { rejected: 0, rejections: [], items: NO_ITEMS, learned: [] };
}

function decodeRecords(
  spec: RecordDecoderSpec,
  body: Uint8Array,
  batch: LogBatch,
  receivedAtMs: number,
): WithoutEntries {
  const decoder = recordDecoderOf(spec, () => receivedAtMs);
  const writer = new RecordWriter();
  writer.open(batch, NO_ROWS);
  decoder.decode(body, writer);
  return {
    rejected: writer.rejected,
    rejections: writer.rejections,
    items: decoder instanceof ElasticsearchBulk ? packItems(decoder.items) : NO_ITEMS,
    learned: isSourceDecoder(decoder) ? decoder.learned.texts : [],
  };
}

function isSourceDecoder(decoder: RecordDecoder): decoder is SourceDecoder {
  return "learned" in decoder;
}
