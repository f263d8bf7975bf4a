/** A body that is decoded on another thread becomes the entries that it becomes in place, in every format. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { packItems } from "../../../ingest/apart/bulk-items.ts";
import { decodeBody } from "../../../ingest/apart/decode-body.ts";
import type { DecoderSpec } from "../../../ingest/apart/decoder-spec.ts";
import { CommittedBlock } from "../../../ingest/committed-block.ts";
import { ElasticsearchBulk } from "../../../ingest/decode/elasticsearch-bulk/elasticsearch-bulk.ts";
import { blockOf } from "../../../ingest/entry-record.ts";
import { IngestRejectedError } from "../../../ingest/errors.ts";
import { LogBatch } from "../../../ingest/log-batch.ts";
import { RecordWriter } from "../../../ingest/record/record-writer.ts";
import { type DecodedRequest, entriesOfBlock, RECEIVED_AT_MS } from "../decode/decoded-entries.ts";
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

/** The way over the other thread: a copied job, and slices of so many bytes, some of them of one entry. */
function decodeApart(spec: DecoderSpec, body: Uint8Array, sliceBytes: number): DecodedRequest {
  try {
    const job = structuredClone({ organizationId: 1, keys: null, receivedAtMs: RECEIVED_AT_MS, spec, body });
    const { slices, rejections } = decodeBody(job, sliceBytes);
    return {
      entries: slices.flatMap((slice) => entriesOfBlock(new CommittedBlock(blockOf(slice)))),
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

function expectSame(format: FormatUnderTest, spec: DecoderSpec, body: Uint8Array, sliceBytes: number): void {
  expect(decodeApart(spec, body.slice(), sliceBytes)).toEqual(format.decode(body));
}

/** From slices of one entry to one slice. */
const sliceBytes = fc.constantFrom(1, 300, 1000, 1 << 20);

describe("decoded apart", () => {
  test.each(formats)("%s is the same in slices of any size", (_, format, spec) => {
    const message = fc
      .string({ minLength: 1, maxLength: 40, unit: "grapheme" })
      .map((text) => `m ${text.replace(format.cannotHold, "-")}`);
    const bodies = fc.array(message, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(bodies, sliceBytes, (messages, bytes) =>
        expectSame(format, spec, format.bodyOf(messages), bytes),
      ),
      { numRuns: 20 },
    );
  });

  test.each(formats)("%s is refused and rejected in the same words", (_, format, spec) => {
    for (const body of ["", "[]", "{}", "null", "[1,{},[]]", '{"a":1}\nx\n', "[".repeat(100), "\xff"])
      expectSame(
        format,
        spec,
        Uint8Array.from(body, (char) => char.charCodeAt(0)),
        1,
      );
  });

  test("native entries of every shape are the same", () => {
    const [[, format, spec] = []] = formats;
    if (format === undefined || spec === undefined) throw new Error("no native format");
    fc.assert(
      fc.property(fc.array(nativeEntry, { minLength: 1, maxLength: 8 }), sliceBytes, (entries, bytes) =>
        expectSame(format, spec, encoder.encode(JSON.stringify(entries)), bytes),
      ),
      { numRuns: 50 },
    );
  });

  test.each(["native", "ndjson"])(
    "%s that is only unusual is read anew, and no entry is there twice",
    (name) => {
      const [, format, spec] = formats.find(([known]) => known === name) ?? [];
      if (format === undefined || spec === undefined) throw new Error(`no format ${name}`);
      const lines = ['{"message":"a"}', '{"message":"b"}', '{"message":"c","ts":1.7e9}'];
      const body = name === "native" ? `[${lines.join(",")}]` : lines.join("\n");
      expectSame(format, spec, encoder.encode(body), 1);
    },
  );

  test("what records inherit is theirs in every slice", () => {
    const [, format, spec] = formats.find(([known]) => known === "otlp") ?? [];
    if (format === undefined || spec === undefined) throw new Error("no format otlp");
    const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
    const logRecords = ["a", "b", "c"].map((each) => ({
      body: { stringValue: each },
      attributes: [text(`own.${each}`, each), text("shared", each)],
    }));
    const resourceLogs = ["one", "two"].map((each) => ({
      resource: {
        attributes: [text("service.name", each), text("host.name", each), text("zone", each)],
        droppedAttributesCount: 2,
      },
      scopeLogs: [{ scope: { name: `scope ${each}`, attributes: [text("shared", "scope")] }, logRecords }],
    }));
    for (const bytes of [1, 400, 1000])
      expectSame(format, spec, encoder.encode(JSON.stringify({ resourceLogs })), bytes);
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
    const job = { organizationId: 1, keys: null, receivedAtMs: 0, body };
    const apart = decodeBody({ ...job, spec: { kind: "elasticsearch-bulk", defaultIndex: "logs" } });
    expect(apart.items).toEqual(packItems(bulk.items));
    expect(bulk.items).toHaveLength(3);
  });
});
