import { gzipSync } from "node:zlib";
import { compress } from "snappyjs";
import { lengthField, varintField } from "../../test/ingest/decode/protobuf-writer.ts";
import { otlpBody } from "../decode/otlp-body.ts";
import { makeEntries } from "../ingest/bodies.ts";

/** Bodies of one kind. */
interface LargeBodies {
  readonly name: string;
  readonly path: (token: string) => string;
  readonly count: number;
  /** How many are sent at a time. */
  readonly atOnce: number;
  readonly headers: (index: number) => Record<string, string>;
  readonly body: (index: number) => Uint8Array;
  /** Whether a masking rule is in force. */
  readonly isRuled: boolean;
}

const encoder = new TextEncoder();
const JSON_TYPE = { "content-type": "application/json" };
const DELIVERY_HEADERS = { ...JSON_TYPE, "x-amz-firehose-protocol-version": "1.0" };
const NDJSON_TYPE = { "content-type": "application/x-ndjson" };
/** A multiple of what a text of some lines takes, so that a body stays just below the 20 MiB that one may have. */
const OTLP_RECORDS = 29_500;
const BULK_DOCUMENTS = 47_000;
const LOKI_LINES = 52_000;
const DELIVERY_LINES = 110_000;
const DELIVERY_LINES_OF_RECORD = 1000;

const native = () => "/api/v1/logs/ingest";
const otlp = () => "/api/v1/otlp/v1/logs";
const elastic = () => "/elasticsearch/_bulk";

/** 500 entries as large as the cap lets them be. */
const largeEntries = same(() => {
  const text = "the text of an entry, ".repeat(70);
  const attrs = Object.fromEntries(Array.from({ length: 26 }, (_, i) => [`key${i}`, text]));
  return json(Array.from({ length: 480 }, (_, i) => ({ message: `${i} ${text}`, attrs })));
});
const otlpRecords = same(() => json(otlpBody(makeEntries(OTLP_RECORDS))));

/** What the others are compared with. */
const ORDINARY: LargeBodies = {
  ...one("ordinary ingest", 800, native, JSON_TYPE, () => json(makeEntries(500))),
  atOnce: 16,
};
const CASES: readonly LargeBodies[] = [
  ORDINARY,
  { ...one("batches of OTLP", 400, otlp, JSON_TYPE, () => json(otlpBody(makeEntries(500)))), atOnce: 16 },
  one("attributes", 4, native, JSON_TYPE, () => {
    const attrs = Object.fromEntries(Array.from({ length: 500_000 }, (_, i) => [`k${i}`, i]));
    return json({ message: "m", attrs });
  }),
  one("unknown fields", 8, native, JSON_TYPE, () => {
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`unknown${i}`, "value"]));
    return json(Array.from({ length: 500 }, () => ({ message: "m", ...fields })));
  }),
  one("bulk", 8, elastic, NDJSON_TYPE, () => bulk(() => ({}))),
  {
    ...one("bulk, event ids", 4, elastic, NDJSON_TYPE, () => new Uint8Array(0)),
    body: (index) => bulk((document) => ({ _id: `${index}-${document}` })),
  },
  one("cap", 24, native, JSON_TYPE, largeEntries),
  one("OTLP", 8, otlp, JSON_TYPE, otlpRecords),
  { ...one("OTLP, masked", 4, otlp, JSON_TYPE, otlpRecords), isRuled: true },
  {
    ...one("OTLP, keyed", 8, otlp, JSON_TYPE, otlpRecords),
    headers: (index) => ({ ...JSON_TYPE, "idempotency-key": `body ${index}` }),
  },
  one(
    "Loki, Snappy",
    4,
    () => "/loki/api/v1/push",
    { "content-type": "application/x-protobuf", "content-encoding": "snappy" },
    () => {
      const lines = makeEntries(LOKI_LINES).map((entry, i) =>
        lengthField(
          2,
          lengthField(1, varintField(1, 1_760_000_000 + i)),
          lengthField(2, JSON.stringify(entry)),
        ),
      );
      return compress(lengthField(1, lengthField(1, '{app="bench"}'), ...lines));
    },
  ),
  one(
    "delivery stream",
    3,
    (token) => `/api/v1/logs/ingest/stream-a/${token}`,
    DELIVERY_HEADERS,
    () => {
      const lines = makeEntries(DELIVERY_LINES).map((entry) => JSON.stringify(entry));
      const records = Array.from({ length: Math.ceil(lines.length / DELIVERY_LINES_OF_RECORD) }, (_, i) => {
        const from = i * DELIVERY_LINES_OF_RECORD;
        const text = lines.slice(from, from + DELIVERY_LINES_OF_RECORD).join("\n");
        return { data: Buffer.from(text).toString("base64") };
      });
      return json({ requestId: "bench", timestamp: 1, records });
    },
  ),
  one("packed", 120, otlp, { ...JSON_TYPE, "content-encoding": "gzip" }, () => gzipSync(otlpRecords(0))),
];

export const CASE_NAMES: readonly string[] = CASES.map(({ name }) => name);

export function caseOf(name: string): LargeBodies {
  const found = CASES.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no case ${name}: one of ${CASE_NAMES.join(", ")}`);
  return found;
}

function one(
  name: string,
  count: number,
  path: LargeBodies["path"],
  headers: Record<string, string>,
  body: (index: number) => Uint8Array,
): LargeBodies {
  return { name, count, atOnce: count, path, headers: () => headers, body: same(body), isRuled: false };
}

/** The same bytes each time, made once. */
function same(make: (index: number) => Uint8Array): (index: number) => Uint8Array {
  let made: Uint8Array | undefined;
  return () => {
    made ??= make(0);
    return made;
  };
}

function bulk(about: (document: number) => object): Uint8Array {
  const lines = makeEntries(BULK_DOCUMENTS).map(
    (entry, i) =>
      `${JSON.stringify({ create: { _index: "logs", ...about(i) } })}\n${JSON.stringify(entry)}\n`,
  );
  return encoder.encode(lines.join(""));
}

function json(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}
