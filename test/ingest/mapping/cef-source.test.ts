import { expect, test } from "bun:test";
import { REQUEST_MAX_RECORDS } from "../../../ingest/limits.ts";
import { LogBatch } from "../../../ingest/log-batch.ts";
import { CefSourceDecoder } from "../../../ingest/mapping/cef-source.ts";
import { RecordWriter } from "../../../ingest/record/record-writer.ts";

test.each([true, false])(
  "of a request with too many lines of CEF only as many are read as one may have, learning: %p",
  (learning) => {
    let linesRead = 0;
    const now = (): number => ++linesRead;
    const decoder = new CefSourceDecoder({ mapping: { fields: { team: { const: "red" } } }, learning, now });
    const writer = new RecordWriter();
    const batch = new LogBatch();
    batch.beginRequest(1, 0);
    writer.open(batch, new Set());
    const body = Buffer.from("CEF:0|a|b|1|c|d|1|\n".repeat(REQUEST_MAX_RECORDS + 1_000));
    expect(() => decoder.decode(body, writer)).toThrow("at most 100000 records in a request");
    expect([linesRead, writer.accepted]).toEqual([REQUEST_MAX_RECORDS, 0]);
  },
);
