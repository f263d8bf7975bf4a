import { EntryColumns, type EntryDetails } from "./entry-columns.ts";
import type { LogBatch } from "./log-batch.ts";
import type { IndexedTexts } from "./native/block-reader.ts";
import { ByteBuffer } from "./native/byte-buffer.ts";
import type { WrittenTexts } from "./native/written-texts.ts";

/** The entries of the open request of a batch as they lie in its columns, until something is appended or taken back. */
export function requestColumns(batch: LogBatch): EntryColumns {
  return new EntryColumns({
    rows: batch.requestRows,
    ts: batch.ts.sinceBookmark(),
    levels: batch.level.sinceBookmark(),
    service: batch.service.sinceBookmark(),
    source: batch.source.sinceBookmark(),
    host: batch.host.sinceBookmark(),
    message: batch.message.sinceBookmark(),
    details: () => detailsOf(batch),
  });
}

/** Memory for a copy of such entries, which is used again for the next. */
export class RequestCopy {
  readonly #message = new ByteBuffer();
  readonly #values = new ByteBuffer();

  /** Texts of attributes, until the next are copied. */
  ofTexts(texts: WrittenTexts): WrittenTexts {
    return texts.copyTo(this.#values);
  }

  /** Messages, until the next are copied. */
  ofMessages(texts: WrittenTexts): WrittenTexts {
    return texts.copyTo(this.#message);
  }

  /** The entries of the open request of a batch, until the next are copied. */
  of(batch: LogBatch): EntryColumns {
    const { traceId, spanId, eventId, attrs, attrJsonKeys } = detailsOf(batch);
    const details: EntryDetails = {
      traceId: traceId.copyTo(new ByteBuffer()),
      spanId: spanId.copyTo(new ByteBuffer()),
      eventId: eventId.copyTo(new ByteBuffer()),
      attrs: { keys: copyIndexed(attrs.keys), values: this.ofTexts(attrs.values), ends: attrs.ends },
      attrJsonKeys: { elements: copyIndexed(attrJsonKeys.elements), ends: attrJsonKeys.ends },
    };
    return new EntryColumns({
      rows: batch.requestRows,
      ts: copyView(batch.ts.sinceBookmark()),
      levels: copyView(batch.level.sinceBookmark()),
      service: copyIndexed(batch.service.sinceBookmark()),
      source: copyIndexed(batch.source.sinceBookmark()),
      host: copyIndexed(batch.host.sinceBookmark()),
      message: this.ofMessages(batch.message.sinceBookmark()),
      details: () => details,
    });
  }
}

function detailsOf(batch: LogBatch) {
  const { rows, traceId, spanId, eventId, attrs, attrJsonKeys } = batch;
  traceId.fillTo(rows);
  spanId.fillTo(rows);
  return {
    traceId: traceId.sinceBookmark(),
    spanId: spanId.sinceBookmark(),
    eventId: eventId.sinceBookmark(),
    attrs: attrs.sinceBookmark(),
    attrJsonKeys: attrJsonKeys.sinceBookmark(),
  };
}

function copyView({ buffer, byteOffset, byteLength }: DataView): DataView {
  return new DataView(buffer.slice(byteOffset, byteOffset + byteLength));
}

/** The texts stay: a dictionary that forgets some goes on with another list. */
function copyIndexed({ texts, indexes }: IndexedTexts): IndexedTexts {
  return { texts, indexes: new Uint32Array(indexes) };
}
