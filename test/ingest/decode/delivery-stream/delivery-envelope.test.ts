import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type DeliveryEnvelope,
  readDeliveryEnvelope,
} from "../../../../ingest/decode/delivery-stream/delivery-envelope.ts";
import { IngestRejectedError } from "../../../../ingest/errors.ts";
import { REQUEST_MAX_RECORDS } from "../../../../ingest/limits.ts";

const bytesOf = (value: unknown): Uint8Array<ArrayBuffer> =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

/** What is in an envelope: the same whether its data is written elsewhere or over the body itself. */
const read = (value: unknown) => {
  const body = bytesOf(value);
  const elsewhere = recordsIn(readDeliveryEnvelope(body));
  expect(recordsIn(readDeliveryEnvelope(body, body))).toEqual(elsewhere);
  return elsewhere;
};

const recordsIn = ({ requestId, data, positions, ends, isRaw }: DeliveryEnvelope) => {
  const records = [...positions].map((position, i) => {
    const bytes = Buffer.from(data.subarray(ends[i - 1] ?? 0, ends[i]));
    return isRaw[i] === 1 ? { position, raw: bytes.toString() } : { position, data: bytes };
  });
  return { requestId, records };
};

describe("the envelope of a delivery", () => {
  test("gives the bytes of every record, whatever they are", () =>
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 })), (payloads) => {
        const records = payloads.map((payload) => ({ data: Buffer.from(payload).toString("base64") }));
        const envelope = read({ requestId: "r-1", timestamp: 1_578_090_901_599, records });
        expect(envelope.requestId).toBe("r-1");
        expect(envelope.records.map(({ data }) => data)).toEqual(payloads.map((p) => Buffer.from(p)));
      }),
    ));

  test("gives the same bytes and places, and says what is no data, however a sender writes it", () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 60 }).map((payload) => ({ payload })),
            fc.jsonValue({ maxDepth: 2 }).map((other) => ({ other })),
          ),
          { maxLength: 12 },
        ),
        fc.constantFrom<[boolean, boolean]>([false, false], [true, false], [false, true], [true, true]),
        (given, [isIndented, escapesSlashes]) => {
          const records = given.map((record) =>
            "payload" in record
              ? { data: Buffer.from(record.payload).toString("base64") }
              : { more: 1, data: record.other },
          );
          const text = JSON.stringify({ records, requestId: "behind them" }, null, isIndented ? 2 : 0);
          const envelope = read(escapesSlashes ? text.replaceAll("/", "\\/") : text);
          expect(envelope.requestId).toBe("behind them");
          const expected = given.flatMap((record, position): unknown[] => {
            if ("payload" in record)
              return record.payload.length === 0 ? [] : [{ position, data: Buffer.from(record.payload) }];
            const { other } = record;
            if (other === "") return [];
            if (typeof other !== "string") return [{ position, record: records[position] }];
            const decoded = Buffer.from(other, "base64");
            const isData = other.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(other);
            return [isData ? { position, data: decoded } : { position, raw: other.toWellFormed() }];
          });
          const found = envelope.records.map((record): unknown => {
            const { position, raw } = { raw: undefined, ...record };
            const given = records[position]?.data;
            // A record that is kept whole is written as its sender wrote it, but for white space.
            return raw === undefined || typeof given === "string"
              ? record
              : { position, record: JSON.parse(raw) };
          });
          expect(found).toEqual(expected);
        },
      ),
    ));

  test("takes no memory but its own where its data is written over it", () => {
    const body = bytesOf({ records: Array.from({ length: 50 }, () => ({ data: "YWJj" })) });
    const { data } = readDeliveryEnvelope(body, body);
    expect(data.buffer).toBe(body.buffer);
    expect(Buffer.from(data).toString()).toBe("abc".repeat(50));
  });

  test("leaves out records without data and keeps the places of the others", () => {
    const envelope = read({ requestId: "r", records: [{ data: "" }, { data: "YQ==" }] });
    expect(envelope.records.map(({ position }) => position)).toEqual([1]);
  });

  test("refuses more records than a request may have", () => {
    const records = (count: number): string => `{"records":[{"data":""}${',{"data":""}'.repeat(count - 1)}]}`;
    expect(read(records(REQUEST_MAX_RECORDS)).records).toEqual([]);
    expect(() => read(records(REQUEST_MAX_RECORDS + 1))).toThrow(IngestRejectedError);
  });

  test.each(["a", "YQ=", "Y Q==", "YQ==YQ==", "Yé==", "====", "-_-_"])(
    "knows that %p is not base64",
    (data) => {
      expect(read({ records: [{ data }] }).records).toEqual([{ position: 0, raw: data }]);
    },
  );

  test.each([[17], [null], ["text"], [[]], [{}], [{ data: 1 }], [{ data: null }]])(
    "keeps a record that is %p",
    (record) => {
      const [kept] = read({ records: [record] }).records;
      expect(kept).toEqual({ position: 0, raw: JSON.stringify(record) });
    },
  );

  test.each(["", "{", "[]", "null", "{}", '{"records":{}}', '{"records":"x"}', "<html>", "[".repeat(10_000)])(
    "refuses %p",
    (body) => {
      expect(() => read(body)).toThrow(IngestRejectedError);
    },
  );
});
