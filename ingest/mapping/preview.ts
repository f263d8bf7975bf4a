import type { CommittedBlock } from "../committed-block.ts";
import type { JsonObject } from "../decode/json-body.ts";
import { LogBatch } from "../log-batch.ts";
import type { RecordDecoder } from "../record/record-decoder.ts";
import { RecordWriter } from "../record/record-writer.ts";
import { attributesOf, blockOf } from "./batch-entries.ts";
import type { CompiledMapping } from "./compile-mapping.ts";

/** An entry as it would be stored; null for what it would not have. */
export interface MappedEntry {
  /** ISO-8601; null where the time of receipt would be taken. */
  readonly ts: string | null;
  readonly message: string;
  readonly level: string | null;
  readonly service: string | null;
  readonly source: string | null;
  readonly host: string | null;
  readonly traceId: string | null;
  readonly spanId: string | null;
  readonly event_id: string | null;
  readonly attrs: Readonly<Record<string, unknown>>;
}

/** What would become of a record. */
export type Preview =
  | { readonly entry: MappedEntry; readonly problem: null }
  | { readonly entry: null; readonly problem: string };

/** Records shown of one body. */
const ENTRIES_MAX_COUNT = 20;

/** What a mapping would make of a record. */
export function mapRecord(map: CompiledMapping, record: JsonObject): Preview {
  const previews = previewWith((writer) => {
    const reason = map(record, writer);
    if (reason !== null) writer.reject({ place: "", reason, raw: "" });
  });
  const [preview] = previews;
  if (preview === undefined) throw new Error("a mapping wrote no record and refused none");
  return preview;
}

/** What would become of the first records of a body: of those that would be stored, then of those that would not. Throws IngestRejectedError. */
export function previewBody(decoder: RecordDecoder, body: Uint8Array): Preview[] {
  return previewWith((writer) => decoder.decode(body, writer));
}

/** Writes entries as they are stored, and reads them from there, so that nothing is shown that would not be. */
function previewWith(write: (writer: RecordWriter) => void): Preview[] {
  const batch = new LogBatch();
  const writer = new RecordWriter();
  batch.beginRequest(0, 0);
  writer.open(batch, new Set());
  write(writer);
  const refused = writer.rejections.map(({ reason }): Preview => ({ entry: null, problem: reason }));
  const stored: Preview[] = [];
  if (batch.rows > 0) {
    const block = blockOf(batch);
    for (let row = 0; row < Math.min(block.rows, ENTRIES_MAX_COUNT); row++)
      stored.push({ entry: entryOf(block, row), problem: null });
  }
  return [...stored, ...refused].slice(0, ENTRIES_MAX_COUNT);
}

function entryOf(block: CommittedBlock, row: number): MappedEntry {
  const orNull = (text: string): string | null => (text === "" ? null : text);
  return {
    ts: timeText(block.ts(row)),
    message: block.messageText(row),
    level: orNull(block.level(row)),
    service: orNull(nameText(block.service, row)),
    source: orNull(nameText(block.source, row)),
    host: orNull(nameText(block.host, row)),
    traceId: orNull(block.traceId(row)),
    spanId: orNull(block.spanId(row)),
    event_id: orNull(block.eventId(row)),
    attrs: attributesOf(block, row),
  };
}

function nameText({ texts, indexes }: CommittedBlock["service"], row: number): string {
  return texts[indexes[row] ?? 0] ?? "";
}

/** The preview was received at the epoch, which no record says by itself. */
function timeText(ns: bigint): string | null {
  if (ns === 0n) return null;
  const seconds = ns / 1_000_000_000n - (ns < 0n && ns % 1_000_000_000n !== 0n ? 1n : 0n);
  const nanos = String(ns - seconds * 1_000_000_000n)
    .padStart(9, "0")
    .replace(/0{0,6}$/, "");
  return new Date(Number(seconds) * 1000).toISOString().replace(".000Z", `.${nanos}Z`);
}
