/** Records are read from their bytes where their shape is known; what comes of them is what comes of their values. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ElasticsearchBulk } from "../../../../ingest/decode/elasticsearch-bulk/elasticsearch-bulk.ts";
import { PlainDocuments } from "../../../../ingest/decode/elasticsearch-bulk/plain-documents.ts";
import { JsonTape } from "../../../../ingest/decode/json-tape.ts";
import {
  LEARNING_COST,
  LEARNING_SAVED_MAX,
  SHAPE_MEMBERS_MAX,
} from "../../../../ingest/decode/plain-json/limits.ts";
import { ShapeTable } from "../../../../ingest/decode/plain-json/shape-table.ts";
import { SplunkEvents } from "../../../../ingest/decode/splunk-hec/splunk-event.ts";
import { IngestRejectedError } from "../../../../ingest/errors.ts";
import { LogBatch } from "../../../../ingest/log-batch.ts";
import type { RecordDecoder } from "../../../../ingest/record/record-decoder.ts";
import { RecordWriter } from "../../../../ingest/record/record-writer.ts";
import { anyText } from "../../log-entry-arbitrary.ts";
import { type DecodedRequest, decodeRequest } from "../decoded-entries.ts";

const RUNS = 400;
const encoder = new TextEncoder();

/** Half of the names and values are those that mean something. */
const name = fc.oneof(
  fc.constantFrom(
    ..."message line msg level severity time @timestamp ts t $date instant epochSecond service name host hostname".split(
      " ",
    ),
    ..."source trace_id trace id span_id event fields log logger logger_name pid short_message __proto__ constructor 0 17 a.b a b".split(
      " ",
    ),
    ..."log.level service.name Message LEVEL TIME event.original jsonpayload e\u0301 toString".split(" "),
    "",
    "x".repeat(260),
    "é".repeat(130),
  ),
  anyText(6),
);
const number = fc.oneof(
  fc.constantFrom(
    ..."0 -0 1.0 1e3 1E+2 0.000001 0.0000001 12.50 3.25 -7 1769903998.123 1769903998 1769903998123456789 20 4".split(
      " ",
    ),
    ..."100000000 99999999.9 123456789012345678 0.1234567890123456 1e400 -1769903998 0.10 -0.5 30".split(" "),
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.integer().map(String),
);
const text = fc.oneof(
  fc.constantFrom(
    ..."info ERROR warn ERROR+2 17 1769903998 2026-01-31T23:59:59Z 0af7651916cd43dd8448eb211c80319c 00F067AA0BA902B7".split(
      " ",
    ),
    ...'00f067aa0ba902b7 {} @cee:{} {"msg":"inner"} 2026-01-31T23:59:60.123456789+01:00'.split(" "),
    "2026-01-31 23:59:59,5",
    `2026-01-31T23:59:59.${"1".repeat(60)}Z`,
    "line\r\n",
    "line\n",
    "\n",
    "\r\n",
    ' {"msg":1}',
    "😀".repeat(9_000),
    "h".repeat(300),
    "v".repeat(70_000),
  ),
  anyText(12),
);
/** Texts as other writers write them: with escapes that need not be, and half of a pair. */
const written = fc.oneof(
  text.map((value) => JSON.stringify(value)),
  fc.constantFrom('"\\u0069nfo"', '"a\\/b"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\u007b}"'),
);
const scalar = fc.oneof(
  { weight: 4, arbitrary: written },
  { weight: 2, arbitrary: number },
  {
    weight: 1,
    arbitrary: fc.constantFrom("true", "false", "null"),
  },
);

/** The JSON text of an object with names that may come twice and white space anywhere. */
const { object } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 5, arbitrary: scalar },
    {
      weight: 1,
      arbitrary: fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
    },
    { weight: 2, arbitrary: tie("object") },
  ),
  object: fc
    .array(
      fc.tuple(
        name.map((value) => JSON.stringify(value)),
        tie("value"),
        fc.constantFrom("", "", " ", "\t"),
      ),
      { maxLength: 6 },
    )
    .map(
      (members) => `{${members.map(([key, value, blank]) => `${key}${blank}:${blank}${value}`).join(",")}}`,
    ),
}));
const envelope = fc
  .record(
    {
      time: fc.oneof(number, written, object),
      host: fc.oneof(written, scalar),
      source: fc.oneof(written, scalar),
      sourcetype: scalar,
      event: fc.oneof(object, object, scalar),
      fields: fc.oneof({ weight: 4, arbitrary: object }, { weight: 1, arbitrary: scalar }),
      extra: fc.oneof(object, scalar),
    },
    { requiredKeys: ["event"] },
  )
  .map(
    (members) =>
      `{${Object.entries(members)
        .map(([key, value]) => `"${key}":${value}`)
        .join(",")}}`,
  );

/** Bytes that are changed after the body is made. */
const damage = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.tuple(fc.nat(), fc.oneof(fc.nat(255), fc.constantFrom(...encoder.encode('{}[]",:\n\\ ')))),
      {
        maxLength: 2,
      },
    ),
  },
);

function damaged(body: string, changes: readonly (readonly [number, number])[]): Uint8Array {
  const bytes = encoder.encode(body);
  for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
  return bytes;
}

/** Often enough for a shape to be learnt and to be used more than learning it costs. */
const REPEATED = 12;
/** A line that holds nothing, but with which a body is not plain. */
const BLANK_LINE = "\u001e\n";
const BYTE_ORDER_MARK = "\ufeff";
const LINE_FEED = 0x0a;

/** Begins every line that is not blank with a mark that is no part of it, with which no line is plain. */
function withMarks(body: Uint8Array): Uint8Array {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < body.length; ) {
    const feed = body.indexOf(LINE_FEED, start);
    const end = feed === -1 ? body.length : feed + 1;
    const line = body.subarray(start, end);
    const isBlank = line.every(
      (byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === LINE_FEED,
    );
    lines.push(...(isBlank ? [line] : [encoder.encode(BYTE_ORDER_MARK), line]));
    start = end;
  }
  return Buffer.concat(lines);
}

function bulk(body: Uint8Array): { request: DecodedRequest; items: unknown } {
  const decoder = new ElasticsearchBulk("logs");
  return { request: decodeRequest(decoder, body), items: decoder.items };
}

/** The values of attributes to the byte, as a number can be written in several ways; null for a body that is refused. */
function valuesOf(decoder: RecordDecoder, body: Uint8Array): string | null {
  const batch = new LogBatch();
  const writer = new RecordWriter();
  batch.beginRequest(1, 0);
  writer.open(batch, new Set());
  try {
    decoder.decode(body, writer);
  } catch (error) {
    if (error instanceof IngestRejectedError) return null;
    throw error;
  }
  return Buffer.from(batch.attrs.values.data.view()).toString("latin1");
}

const hec = new SplunkEvents();

describe("records that are read from their bytes become what their values become", () => {
  test("documents of a bulk request", () =>
    fc.assert(
      fc.property(object, fc.constantFrom("", " ", "\r"), damage, (document, blank, changes) => {
        const body = damaged(`{"create":{}}\n${document}${blank}\n`.repeat(REPEATED), changes);
        expect(bulk(body)).toEqual(bulk(withMarks(body)));
        const values = valuesOf(new ElasticsearchBulk("logs"), withMarks(body));
        expect(valuesOf(new ElasticsearchBulk("logs"), body)).toBe(values);
      }),
      { numRuns: RUNS },
    ));

  test("events of the event collector", () =>
    fc.assert(
      fc.property(
        envelope,
        fc.constantFrom("\n", "", " ", "\r\n", ","),
        damage,
        (event, between, changes) => {
          const body = damaged(`${event}${between}`.repeat(REPEATED), changes);
          // What begins as an array is read as one, which it is not behind a mark.
          fc.pre(!Buffer.from(body).toString("latin1").trimStart().startsWith("["));
          const marked = Buffer.concat([encoder.encode(BLANK_LINE), body]);
          expect(decodeRequest(hec, body)).toEqual(decodeRequest(hec, marked));
          expect(valuesOf(hec, body)).toBe(valuesOf(hec, marked));
        },
      ),
      { numRuns: RUNS },
    ));

  test("with more members, deeper objects and longer names than a shape has", () => {
    const wide = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`member${i}`, i]));
    const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
    for (const value of [wide, deep(30), deep(31), deep(32), { ["n".repeat(400)]: 1, message: "m" }]) {
      const body = encoder.encode(`{"create":{}}\n${JSON.stringify(value)}\n`.repeat(2));
      expect(bulk(body)).toEqual(bulk(withMarks(body)));
    }
  });
});

describe("a usual record", () => {
  const place = { index: "logs", id: null, isCreated: true };
  /** Whether it is once its shape has had time to be learnt. */
  const isPlain = (line: string): boolean =>
    Array.from({ length: LEARNING_COST + 1 }, () => isReadPlainly(line)).at(-1) === true;
  const isReadPlainly = (line: string): boolean => {
    const documents = new PlainDocuments();
    const bytes = encoder.encode(line);
    const batch = new LogBatch();
    const writer = new RecordWriter();
    batch.beginRequest(1, Date.now());
    writer.open(batch, new Set());
    documents.use(bytes);
    return documents.write(writer, place, bytes);
  };

  test.each([
    '{"@timestamp":"2026-01-31T23:59:59Z","message":"m","log":{"level":"warn"},"labels":{"a":1,"b":[1]}}',
    '{"message":"with \\"escapes\\"","n":1e3,"o":{}}',
  ])("%s is read so", (line) => expect(isPlain(line)).toBe(true));

  test.each([
    ["a name that comes twice", '{"a":1,"a":2}'],
    ["a name with escapes", '{"\\u0061":1}'],
    ["a name that is an index", '{"b":1,"1":2}'],
    ["more than one value", '{"a":1}{"b":2}'],
    ["a time that is an object", '{"instant":{"epochSecond":1769903998}}'],
  ])("with %s is not", (_, line) => expect(isPlain(line)).toBe(false));
});

test("names that never come again are seldom learnt, and other records are read among them", () => {
  let learnt = 0;
  const shapes = new ShapeTable(true, () => ++learnt);
  const tape = new JsonTape(32);
  const find = (line: string): number | null => {
    tape.clear();
    tape.use(encoder.encode(line));
    return shapes.find(tape, tape.readValue(0), new Uint32Array(SHAPE_MEMBERS_MAX));
  };
  let read = 0;
  const rounds = 10_000;
  for (let i = 0; i < rounds; i++) {
    find(`{"k${i}":1}`);
    find(`{"o${i % 97}":{"k${i}":1}}`);
    if (find('{"message":"m"}') !== null) read++;
  }
  expect(learnt).toBeLessThanOrEqual((3 * rounds + LEARNING_SAVED_MAX) / LEARNING_COST);
  expect(read).toBeGreaterThan(rounds * 0.9);
});
