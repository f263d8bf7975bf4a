/** A body that is decoded on another thread becomes the entries that it becomes in place, in every format. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { packItems } from "../../../ingest/apart/bulk-items.ts";
import { decodeBody } from "../../../ingest/apart/decode-body.ts";
import type { DecoderSpec } from "../../../ingest/apart/decoder-spec.ts";
import { appendBlock } from "../../../ingest/append-block.ts";
import { ElasticsearchBulk } from "../../../ingest/decode/elasticsearch-bulk/elasticsearch-bulk.ts";
import { IngestRejectedError } from "../../../ingest/errors.ts";
import { LogBatch } from "../../../ingest/log-batch.ts";
import { RecordWriter } from "../../../ingest/record/record-writer.ts";
import { type DecodedRequest, entriesOf, RECEIVED_AT_MS } from "../decode/decoded-entries.ts";
import { FORMATS, type FormatUnderTest } from "../decode/formats-under-test.ts";
import { nativeEntry } from "../log-entry-arbitrary.ts";

const SPECS: Readonly<Record<string, DecoderSpec>> = {
  native: { kind: "native" },
  ndjson: { kind: "ndjson" },
  otlp: { kind: "otlp" },
  "otlp-protobuf": { kind: "otlp-protobuf" },
  "elasticsearch-bulk": { kind: "elasticsearch-bulk", defaultIndex: "logs" },
  "elasticsearch-document": {
    kind: "elasticsearch-document",
    place: { index: "logs", id: null, isCreated: false },
  },
  gelf: { kind: "gelf" },
  "journal-export": { kind: "journal-export" },
  "loki-protobuf": { kind: "loki-protobuf" },
  "loki-push": { kind: "loki-push" },
  "splunk-hec-event": { kind: "splunk-hec-event" },
  "splunk-hec-raw": { kind: "splunk-hec-raw", about: {} },
  "platform-a": { kind: "platform-a" },
  "platform-b": { kind: "platform-b", request: { messageCount: null, drainToken: null } },
  "stream-a": { kind: "stream-a", records: null, attributes: "{}" },
  "source-json": source("json", { fields: { message: { from: "text" } } }, false),
  "source-ndjson": source("ndjson", { fields: { message: { from: "text" } } }, false),
  "source-cef": source("cef", { fields: { service: { from: "deviceProduct" } } }, false),
  "source-learning": source("ndjson", {}, true),
};
const formats = FORMATS.flatMap((format) => {
  const spec = SPECS[format.name];
  return spec === undefined ? [] : [[format.name, format, spec] as const];
});
const encoder = new TextEncoder();
const decoder = new TextDecoder();

function source(format: "json" | "ndjson" | "cef", mapping: object, learning: boolean): DecoderSpec {
  return { kind: "source", format, mapping: { ...mapping }, learning };
}

/** The way over the other thread: a copied job, and a block that is appended behind what others have in the batch. */
function decodeApart(spec: DecoderSpec, body: Uint8Array, skip: ReadonlySet<number>): DecodedRequest {
  const batch = new LogBatch();
  batch.beginRequest(2, 0);
  batch.message.append("of another request");
  batch.service.append("another");
  batch.attrs.keys.append("k");
  batch.attrs.values.append("v");
  batch.endRow();
  batch.keepRequest();
  try {
    const job = structuredClone({ organizationId: 1, receivedAtMs: RECEIVED_AT_MS, spec, body });
    const { block, rejections } = decodeBody(job);
    batch.beginRequest(1, RECEIVED_AT_MS);
    appendBlock(batch, block, new Set());
    // What was appended is taken back without a trace and appended again, as when some of it is stored already.
    batch.rewindRequest();
    appendBlock(batch, block, skip);
    batch.keepRequest();
    return {
      entries: entriesOf(batch).slice(1),
      rejections: rejections.map(({ place, reason, raw }) => ({
        place,
        reason,
        raw: decoder.decode(raw ?? undefined),
      })),
      refusal: null,
    };
  } catch (error) {
    if (!(error instanceof IngestRejectedError)) throw error;
    return { entries: [], rejections: [], refusal: error.message };
  }
}

function expectSame(format: FormatUnderTest, spec: DecoderSpec, body: Uint8Array, skip: Set<number>): void {
  expect(decodeApart(spec, body.slice(), skip)).toEqual(format.decode(body, skip));
}

describe("decoded apart", () => {
  test.each(formats)("%s is the same, also without some of the entries", (_, format, spec) => {
    const message = fc
      .string({ minLength: 1, maxLength: 40, unit: "grapheme" })
      .map((text) => `m ${text.replace(format.cannotHold, "-")}`);
    const bodies = fc.array(message, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(bodies, fc.array(fc.nat(11), { maxLength: 6 }), (messages, skipped) => {
        const skip = new Set(skipped.filter((position) => position < messages.length));
        expectSame(format, spec, format.bodyOf(messages), skip);
      }),
      { numRuns: 20 },
    );
  });

  test.each(formats)("%s is refused and rejected in the same words", (_, format, spec) => {
    for (const body of ["", "[]", "{}", "null", "[1,{},[]]", '{"a":1}\nx\n', "[".repeat(100), "\xff"])
      expectSame(
        format,
        spec,
        Uint8Array.from(body, (char) => char.charCodeAt(0)),
        new Set(),
      );
  });

  test("native entries of every shape are the same", () => {
    const [[, format, spec] = []] = formats;
    if (format === undefined || spec === undefined) throw new Error("no native format");
    fc.assert(
      fc.property(fc.array(nativeEntry, { minLength: 1, maxLength: 8 }), fc.nat(7), (entries, skipped) => {
        const skip = new Set(skipped < entries.length ? [skipped] : []);
        expectSame(format, spec, encoder.encode(JSON.stringify(entries)), skip);
      }),
      { numRuns: 50 },
    );
  });

  test("the actions of a bulk request are told as they are in place", () => {
    const body = encoder.encode(
      '{"create":{"_id":"1"}}\n{"message":"a"}\n{"index":{"_index":"x"}}\n7\n{"delete":{"_id":"2"}}\n',
    );
    const bulk = new ElasticsearchBulk("logs");
    const writer = new RecordWriter();
    const batch = new LogBatch();
    batch.beginRequest(1, 0);
    writer.open(batch, new Set());
    bulk.decode(body, writer);
    const job = { organizationId: 1, receivedAtMs: 0, body };
    const apart = decodeBody({ ...job, spec: { kind: "elasticsearch-bulk", defaultIndex: "logs" } });
    expect(apart.items).toEqual(packItems(bulk.items));
    expect(bulk.items).toHaveLength(3);
  });
});
