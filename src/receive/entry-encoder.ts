import type { CommittedBlock, TextSlices } from "../../ingest/index.ts";
import { TextBuffer } from "./text-buffer.ts";

const utf8 = new TextEncoder();
const bytesOf = (text: string): Uint8Array => utf8.encode(text);

const ID = bytesOf('{"id":"');
const TS = bytesOf('","ts":"');
const RECEIVED_AT = bytesOf('","receivedAt":"');
const LEVEL = bytesOf('","level":');
const SERVICE = bytesOf(',"service":');
const SOURCE = bytesOf(',"source":');
const HOST = bytesOf(',"host":');
const MESSAGE = bytesOf(',"message":');
const EVENT_ID = bytesOf(',"event_id":');
const TRACE_ID = bytesOf(',"traceId":');
const SPAN_ID = bytesOf(',"spanId":');
const ATTRS = bytesOf(',"attrs":{');
const END = bytesOf("}}");
const NULL = bytesOf("null");
const COMMA = bytesOf(",");
const COLON = bytesOf(":");

/** What all entries are put together in, one after the other. */
const buffer = new TextBuffer();

/**
 * Entries of one batch as JSON, the same text that `encodeEntry` makes of them, put together from the bytes of the batch:
 * a fifth of what it costs to make values of them first.
 */
export class EntryEncoder {
  readonly #block: CommittedBlock;
  /** Texts that many entries share, as JSON, by list. */
  readonly #shared = new Map<readonly string[], (Uint8Array | undefined)[]>();

  constructor(block: CommittedBlock) {
    this.#block = block;
  }

  encode(row: number): string {
    const block = this.#block;
    const { traceId, spanId, eventId } = block.details;
    const { millis, nanos } = block.time(row);
    buffer.clear();
    buffer.addBytes(ID);
    buffer.addAscii(block.id(row).toString());
    buffer.addBytes(TS);
    buffer.addTime(millis, nanos);
    buffer.addBytes(RECEIVED_AT);
    buffer.addTime(Number(block.receivedAt(row)), 0);
    buffer.addBytes(LEVEL);
    this.#addLevel(block.level(row));
    buffer.addBytes(SERVICE);
    this.#addShared(block.service, row);
    buffer.addBytes(SOURCE);
    this.#addShared(block.source, row);
    buffer.addBytes(HOST);
    this.#addShared(block.host, row);
    buffer.addBytes(MESSAGE);
    addString(block.message, row);
    buffer.addBytes(EVENT_ID);
    addOptional(eventId, row);
    buffer.addBytes(TRACE_ID);
    addOptional(traceId, row);
    buffer.addBytes(SPAN_ID);
    addOptional(spanId, row);
    buffer.addBytes(ATTRS);
    this.#addAttributes(row);
    buffer.addBytes(END);
    return buffer.text();
  }

  #addLevel(level: string): void {
    if (level === "") buffer.addBytes(NULL);
    else {
      buffer.addAscii('"');
      buffer.addAscii(level);
      buffer.addAscii('"');
    }
  }

  #addShared({ texts, indexes }: CommittedBlock["service"], at: number): void {
    const index = indexes[at] ?? 0;
    const text = texts[index] ?? "";
    if (text === "") buffer.addBytes(NULL);
    else buffer.addBytes(this.#sharedJson(texts, index, text));
  }

  #sharedJson(texts: readonly string[], index: number, text: string): Uint8Array {
    let known = this.#shared.get(texts);
    if (known === undefined) {
      known = [];
      this.#shared.set(texts, known);
    }
    known[index] ??= bytesOf(JSON.stringify(text));
    return known[index];
  }

  #addAttributes(row: number): void {
    const { attrs, attrJsonKeys } = this.#block.details;
    const { texts } = attrs.keys;
    const start = row === 0 ? 0 : (attrs.ends[row - 1] ?? 0);
    const end = attrs.ends[row] ?? 0;
    const jsonStart = row === 0 ? 0 : (attrJsonKeys.ends[row - 1] ?? 0);
    const jsonEnd = attrJsonKeys.ends[row] ?? 0;
    for (let at = start; at < end; at++) {
      if (at > start) buffer.addBytes(COMMA);
      const index = attrs.keys.indexes[at] ?? 0;
      const key = texts[index] ?? "";
      buffer.addBytes(this.#sharedJson(texts, index, key));
      buffer.addBytes(COLON);
      if (this.#isJson(key, jsonStart, jsonEnd)) addJson(attrs.values, at);
      else addString(attrs.values, at);
    }
  }

  #isJson(key: string, start: number, end: number): boolean {
    const { texts, indexes } = this.#block.details.attrJsonKeys.elements;
    for (let at = start; at < end; at++) if (texts[indexes[at] ?? 0] === key) return true;
    return false;
  }
}

/** Null for an empty text. */
function addJson({ bytes, starts, ends }: TextSlices, at: number): void {
  if (starts[at] === ends[at]) buffer.addBytes(NULL);
  else buffer.addSlice(bytes, starts[at] ?? 0, ends[at] ?? 0);
}

function addString({ bytes, starts, ends }: TextSlices, at: number): void {
  buffer.addString(bytes, starts[at] ?? 0, ends[at] ?? 0);
}

/** Null for an empty text. */
function addOptional(slices: TextSlices, at: number): void {
  if (slices.starts[at] === slices.ends[at]) buffer.addBytes(NULL);
  else addString(slices, at);
}
