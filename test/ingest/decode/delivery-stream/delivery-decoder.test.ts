import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DeliveryDecoder } from "../../../../ingest/decode/delivery-stream/delivery-decoder.ts";
import { readCommonAttributes } from "../../../../ingest/decode/delivery-stream/delivery-envelope.ts";
import { type DecodedRequest, decodeEntries, decodeRequest, RECEIVED_AT_MS } from "../decoded-entries.ts";

const RECEIVED = BigInt(RECEIVED_AT_MS) * 1_000_000n;

/** What becomes of these records of a delivery, with the attributes of the whole. */
function decodeRecords(
  records: readonly (string | Uint8Array)[],
  attributes: Record<string, unknown> = {},
): DecodedRequest {
  const parts = records.map((record) => Buffer.from(record));
  let end = 0;
  const unpacked = {
    positions: Uint32Array.from(parts.keys()),
    lines: new Uint32Array(parts.length),
    ends: Uint32Array.from(parts, (part) => {
      end += part.length;
      return end;
    }),
    problems: new Uint8Array(parts.length),
    reasons: [],
  };
  return decodeRequest(new DeliveryDecoder(unpacked, attributes), Buffer.concat(parts));
}

const messagesOf = ({ entries }: DecodedRequest): string[] => entries.map(({ message }) => message);

function subscription(logEvents: readonly unknown[], messageType = "DATA_MESSAGE"): string {
  return JSON.stringify({
    messageType,
    owner: "111122223333",
    logGroup: "/aws/lambda/checkout",
    logStream: "2026/11/21/[1]abc",
    subscriptionFilters: ["to obs"],
    logEvents,
  });
}

describe("a record of a delivery", () => {
  test("holds lines of text, one object, or several, with and without line breaks between them", () => {
    const decoded = decodeRecords([
      "one line",
      "two\nlines\n",
      '{"msg":"an object"}',
      '{"msg":"a"}{"msg":"b"}{"msg":"c"}',
      '{"msg":"d"}\n{"msg":"e"}\n',
      '[{"msg":"f"},{"msg":"g"}]',
      "[not an array",
      "",
    ]);
    expect(decoded.rejections).toEqual([]);
    expect(messagesOf(decoded)).toEqual([
      "one line",
      "two",
      "lines",
      "an object",
      "a",
      "b",
      "c",
      "d",
      "e",
      "f",
      "g",
      "[not an array",
    ]);
  });

  test("has the attributes of the delivery, and its own first", () => {
    const { entries } = decodeRecords(['{"msg":"a","env":"own"}', "text"], {
      env: "prod",
      team: { name: "web" },
    });
    expect(entries.map(({ attrs }) => attrs)).toEqual([
      { env: "own", "team.name": "web" },
      { env: "prod", "team.name": "web" },
    ]);
  });

  test("that is broken is rejected by itself, with its place and whole", () => {
    const { entries, rejections } = decodeRecords([
      '{"msg":"a"}\n{"msg":',
      new Uint8Array([0xff, 0xfe]),
      '{"msg":"b"}',
    ]);
    expect(entries.map(({ message }) => message)).toEqual(["a", "b"]);
    expect(rejections.map(({ place, reason }) => [place, reason])).toEqual([
      ["/records/0 line 2", "is a JSON object without an end"],
      ["/records/1", "is not UTF-8"],
    ]);
    expect(rejections[0]?.raw).toBe('{"msg":');
  });

  test("of text is recognised where it is certain what it is", () => {
    const [lambda, plain] = decodeEntries(
      new DeliveryDecoder(),
      "2026-11-21T10:00:00.123Z\t8e5f0000-0000-4000-8000-000000000001\tERROR\tcannot open\nhello\n",
    );
    expect(lambda).toMatchObject({
      ts: 1_795_255_200_123_000_000n,
      level: "error",
      message: "cannot open",
      attrs: { "faas.invocation_id": "8e5f0000-0000-4000-8000-000000000001" },
    });
    expect(plain).toMatchObject({ message: "hello", attrs: {} });
    expect(plain?.level).toBeUndefined();
  });

  test("of an edge network has its time where the data sets put it", () => {
    const line =
      '{"EdgeStartTimestamp":"2026-11-21T10:00:00Z","RayID":"8e5f","ClientRequestHost":"example.com"}';
    const [entry] = decodeEntries(new DeliveryDecoder(), `${line}\n`);
    expect(entry).toMatchObject({ ts: 1_795_255_200_000_000_000n, attrs: { RayID: "8e5f" } });
    const [nanos] = decodeEntries(
      new DeliveryDecoder(),
      '{"EdgeStartTimestamp":1795255200123456789,"RayID":"8e5f"}',
    );
    expect(nanos?.ts).toBe(1_795_255_200_123_456_789n);
  });

  test("ends where the next one begins, whatever bytes are there", () =>
    fc.assert(
      fc.property(
        fc.array(
          fc
            .string({ unit: "binary", minLength: 1, maxLength: 12 })
            .filter(
              (text) =>
                text.isWellFormed() &&
                text.trim() === text &&
                ![..."\n{[\u001e\ufeff"].some((char) => text.includes(char)),
            ),
          { maxLength: 6 },
        ),
        (texts) => expect(messagesOf(decodeRecords(texts))).toEqual(texts),
      ),
    ));
});

describe("the envelope of a log group", () => {
  test("gives an entry for each event, with its own id, time and origin", () => {
    const { entries, rejections } = decodeRecords([
      subscription([
        {
          id: "31953106606966983378809025079804211143289615424298221568",
          timestamp: 1_432_826_855_000,
          message: "START\n",
        },
        {
          id: "31953106606966983378809025079804211143289615424298221569",
          timestamp: 1_432_826_855_001,
          message: '{"level":"ERROR","message":"boom","timestamp":"2026-11-21T10:00:00Z","service":"cart"}',
          extractedFields: { account: "7" },
        },
      ]),
    ]);
    expect(rejections).toEqual([]);
    const origin = {
      logGroup: "/aws/lambda/checkout",
      logStream: "2026/11/21/[1]abc",
      owner: "111122223333",
    };
    expect(entries).toEqual([
      {
        ts: 1_432_826_855_000_000_000n,
        eventId: "stream-a:31953106606966983378809025079804211143289615424298221568",
        service: "/aws/lambda/checkout",
        message: "START",
        attrs: origin,
      },
      {
        ts: 1_795_255_200_000_000_000n,
        eventId: "stream-a:31953106606966983378809025079804211143289615424298221569",
        service: "cart",
        level: "error",
        message: "boom",
        attrs: { ...origin, "extractedFields.account": "7" },
      },
    ]);
  });

  test("that only asks whether somebody listens is no entry", () => {
    const control = subscription(
      [{ id: "", timestamp: 1_432_826_855_000, message: "CWL CONTROL MESSAGE" }],
      "CONTROL_MESSAGE",
    );
    expect(decodeRecords([control])).toEqual({ entries: [], rejections: [], refusal: null });
  });

  test("may hold events that are none, and several envelopes may follow one another", () => {
    const decoded = decodeRecords([
      subscription([{ id: "1", timestamp: "?", message: "a" }, null, { id: "2" }]) +
        subscription([{ message: "b" }]),
    ]);
    expect(messagesOf(decoded)).toEqual(["a", "b"]);
    expect(decoded.entries[0]?.ts).toBe(RECEIVED);
    expect(decoded.rejections.map(({ place }) => place)).toEqual([
      "/records/0 line 1 /logEvents/1",
      "/records/0 line 1 /logEvents/2",
    ]);
    // What is kept can be read again by itself.
    const kept = decoded.rejections[1]?.raw ?? "";
    expect(decodeRequest(new DeliveryDecoder(), kept).rejections).toHaveLength(1);
  });

  test("without what makes it one is an ordinary object", () => {
    const { entries } = decodeRecords(['{"messageType":"DATA_MESSAGE","message":"x","logEvents":1}']);
    expect(entries[0]).toMatchObject({ message: "x", attrs: { messageType: "DATA_MESSAGE", logEvents: 1 } });
  });
});

describe("the attributes of a delivery", () => {
  test("are those of the header; a broken header has none", () => {
    expect(readCommonAttributes('{"commonAttributes":{"env":"prod"}}')).toEqual({ env: "prod" });
    for (const header of [
      null,
      "",
      "{",
      "[]",
      '{"commonAttributes":[1]}',
      '{"commonAttributes":"a"}',
      "null",
    ])
      expect(readCommonAttributes(header)).toEqual({});
  });
});
