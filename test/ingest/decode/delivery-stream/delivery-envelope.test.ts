import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  deliveredRecords,
  readDeliveryEnvelope,
} from "../../../../ingest/decode/delivery-stream/delivery-envelope.ts";
import { IngestRejectedError } from "../../../../ingest/errors.ts";
import { REQUEST_MAX_RECORDS } from "../../../../ingest/limits.ts";

const read = (value: unknown) => {
  const envelope = readDeliveryEnvelope(
    Buffer.from(typeof value === "string" ? value : JSON.stringify(value)),
  );
  return { requestId: envelope.requestId, records: [...deliveredRecords(envelope)] };
};

describe("the envelope of a delivery", () => {
  test("gives the bytes of every record, whatever they are", () =>
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 })), (payloads) => {
        const records = payloads.map((payload) => ({ data: Buffer.from(payload).toString("base64") }));
        const envelope = read({ requestId: "r-1", timestamp: 1_578_090_901_599, records });
        expect(envelope.requestId).toBe("r-1");
        expect(envelope.records.map(({ data }) => Buffer.from(data ?? []))).toEqual(
          payloads.map((p) => Buffer.from(p)),
        );
      }),
    ));

  test("leaves out records without data and keeps the places of the others", () => {
    const envelope = read({ requestId: "r", records: [{ data: "" }, { data: "YQ==" }] });
    expect(envelope.records.map(({ place }) => place)).toEqual(["/records/1"]);
  });

  test("refuses more records than a request may have", () => {
    const records = (count: number): string => `{"records":[{"data":""}${',{"data":""}'.repeat(count - 1)}]}`;
    expect(read(records(REQUEST_MAX_RECORDS)).records).toEqual([]);
    expect(() => read(records(REQUEST_MAX_RECORDS + 1))).toThrow(IngestRejectedError);
  });

  test.each(["a", "YQ=", "Y Q==", "YQ==YQ==", "Yé==", "====", "-_-_"])(
    "knows that %p is not base64",
    (data) => {
      expect(read({ records: [{ data }] }).records).toEqual([
        { place: "/records/0", data: null, text: data },
      ]);
    },
  );

  test.each([[17], [null], ["text"], [[]], [{}], [{ data: 1 }], [{ data: null }]])(
    "keeps a record that is %p",
    (record) => {
      const [kept] = read({ records: [record] }).records;
      expect(kept).toEqual({ place: "/records/0", data: null, text: JSON.stringify(record) });
    },
  );

  test.each(["", "{", "[]", "null", "{}", '{"records":{}}', '{"records":"x"}', "<html>", "[".repeat(10_000)])(
    "refuses %p",
    (body) => {
      expect(() => read(body)).toThrow(IngestRejectedError);
    },
  );
});
