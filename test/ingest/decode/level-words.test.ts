/** The words and numbers by which senders say how bad something is mean the same on every wire that has a place for them. */
import { describe, expect, test } from "bun:test";
import { DeploymentDrainDecoder } from "../../../ingest/decode/deployment-drain/drain-decoder.ts";
import { ElasticsearchBulk } from "../../../ingest/decode/elasticsearch-bulk/elasticsearch-bulk.ts";
import { ForwardDecoder } from "../../../ingest/decode/forward/forward-decoder.ts";
import { encodeValue } from "../../../ingest/decode/forward/message-pack.ts";
import { GelfDecoder } from "../../../ingest/decode/gelf/gelf-decoder.ts";
import { JournalDecoder } from "../../../ingest/decode/journal/journal-decoder.ts";
import { LogplexDecoder } from "../../../ingest/decode/logplex/logplex-decoder.ts";
import { LokiPush } from "../../../ingest/decode/loki-push/loki-push.ts";
import { NativeFormat } from "../../../ingest/decode/native.ts";
import { NdjsonFormat } from "../../../ingest/decode/ndjson/ndjson.ts";
import { OtlpJsonDecoder } from "../../../ingest/decode/otlp/otlp-json.ts";
import { OtlpProtobufDecoder } from "../../../ingest/decode/otlp/otlp-protobuf.ts";
import { SplunkEvents } from "../../../ingest/decode/splunk-hec/splunk-event.ts";
import { SyslogRecords } from "../../../ingest/decode/syslog/syslog-records.ts";
import { sourceDecoder } from "../../../ingest/mapping/source-decoder.ts";
import type { RecordDecoder } from "../../../ingest/record/record-decoder.ts";
import { type DecodedRequest, decodeNative, decodeRequest } from "./decoded-entries.ts";
import { lengthField } from "./protobuf-writer.ts";

const WORDS: Readonly<Record<string, string>> = {
  WARNING: "warn",
  Warn: "warn",
  ERR: "error",
  Severe: "error",
  crit: "fatal",
  EMERG: "fatal",
  Panic: "fatal",
  notice: "info",
  Informational: "info",
  dbg: "debug",
  FINEST: "trace",
};

type Decode = (body: string | Uint8Array) => DecodedRequest;
const encoder = new TextEncoder();
const lenient =
  (decoder: RecordDecoder): Decode =>
  (body) =>
    decodeRequest(decoder, body);
const strict =
  (format: NativeFormat | NdjsonFormat): Decode =>
  (body) =>
    decodeNative(format, typeof body === "string" ? encoder.encode(body) : body);

interface Wire {
  readonly decode: Decode;
  /** A body with a record of that level. */
  readonly bodyOf: (level: string | number) => string | Uint8Array;
}

const message = "something happened";
const otlpRecord = (record: object): string =>
  JSON.stringify({
    resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: message }, ...record }] }] }],
  });

const WIRES: Readonly<Record<string, Wire>> = {
  native: { decode: strict(new NativeFormat()), bodyOf: (level) => JSON.stringify([{ message, level }]) },
  "native ndjson": {
    decode: strict(new NdjsonFormat()),
    bodyOf: (level) => JSON.stringify({ message, level }),
  },
  otlp: { decode: lenient(new OtlpJsonDecoder()), bodyOf: (level) => otlpRecord({ severityText: level }) },
  "otlp protobuf": {
    decode: lenient(new OtlpProtobufDecoder()),
    bodyOf: (level) =>
      lengthField(
        1,
        lengthField(
          2,
          lengthField(2, lengthField(3, String(level)), lengthField(5, lengthField(1, message))),
        ),
      ),
  },
  bulk: {
    decode: lenient(new ElasticsearchBulk("logs")),
    bodyOf: (level) => `{"create":{}}\n${JSON.stringify({ message, level })}\n`,
  },
  "bulk, log.level": {
    decode: lenient(new ElasticsearchBulk("logs")),
    bodyOf: (level) => `{"create":{}}\n${JSON.stringify({ message, log: { level } })}\n`,
  },
  loki: {
    decode: lenient(new LokiPush()),
    bodyOf: (level) =>
      JSON.stringify({
        streams: [{ stream: { app: "a", level: String(level) }, values: [["1700000000000000000", message]] }],
      }),
  },
  "loki, a line of JSON": {
    decode: lenient(new LokiPush()),
    bodyOf: (level) =>
      JSON.stringify({
        streams: [
          {
            stream: { app: "a" },
            values: [["1700000000000000000", JSON.stringify({ msg: message, level })]],
          },
        ],
      }),
  },
  hec: {
    decode: lenient(new SplunkEvents()),
    bodyOf: (level) => JSON.stringify({ event: message, fields: { level } }),
  },
  "hec, an event of JSON": {
    decode: lenient(new SplunkEvents()),
    bodyOf: (level) => JSON.stringify({ event: { message, level } }),
  },
  gelf: {
    decode: lenient(new GelfDecoder()),
    bodyOf: (level) => JSON.stringify({ version: "1.1", host: "h", short_message: message, level }),
  },
  forward: {
    decode: lenient(new ForwardDecoder()),
    bodyOf: (level) => encodeValue(["app", 1_700_000_000, { message, level }]),
  },
  "a deployment drain": {
    decode: lenient(new DeploymentDrainDecoder()),
    bodyOf: (level) => JSON.stringify([{ id: "1", timestamp: 1_700_000_000_000, message, level }]),
  },
  "a source": {
    decode: lenient(
      sourceDecoder({
        format: "json",
        mapping: { fields: { message: { from: "text" }, level: { from: "severity" } } },
        learning: false,
        now: Date.now,
      }),
    ),
    bodyOf: (severity) => JSON.stringify([{ text: message, severity }]),
  },
};

const levelOf = ({ decode, bodyOf }: Wire, level: string | number): string | undefined => {
  const { entries, refusal } = decode(bodyOf(level));
  expect(refusal).toBeNull();
  expect(entries.length).toBe(1);
  return entries[0]?.level;
};

describe("words for levels", () => {
  test.each(Object.entries(WIRES))("mean the same over %s", (_name, wire) => {
    const found = Object.keys(WORDS).map((word) => [word, levelOf(wire, word)]);
    expect(Object.fromEntries(found)).toEqual(WORDS);
  });
});

describe("numbers for levels", () => {
  const numbered = (wire: Wire, numbers: readonly number[]): (string | undefined)[] =>
    numbers.map((number) => levelOf(wire, number));
  const SYSLOG = [0, 1, 2, 3, 4, 5, 6, 7];
  const OF_SYSLOG = ["fatal", "fatal", "fatal", "error", "warn", "info", "info", "debug"];

  test("of syslog are those of GELF, of the journal and of what relays syslog", () => {
    expect(numbered(WIRES.gelf ?? never(), SYSLOG)).toEqual(OF_SYSLOG);
    const journal = {
      decode: lenient(new JournalDecoder()),
      bodyOf: (n: string | number) => `PRIORITY=${n}\nMESSAGE=${message}\n\n`,
    };
    expect(numbered(journal, SYSLOG)).toEqual(OF_SYSLOG);
    const syslog = {
      decode: lenient(
        new LogplexDecoder(new SyslogRecords({ now: Date.now }), { messageCount: null, drainToken: null }),
      ),
      bodyOf: (n: string | number) => {
        const frame = `<${8 + Number(n)}>1 2026-11-21T10:00:00Z host app - - - ${message}`;
        return `${frame.length} ${frame}`;
      },
    };
    expect(numbered(syslog, SYSLOG)).toEqual(OF_SYSLOG);
  });

  test("of OpenTelemetry are those of its records", () => {
    const otlp = {
      decode: lenient(new OtlpJsonDecoder()),
      bodyOf: (n: string | number) => otlpRecord({ severityNumber: n }),
    };
    expect(numbered(otlp, [1, 5, 9, 13, 17, 21])).toEqual([
      "trace",
      "debug",
      "info",
      "warn",
      "error",
      "fatal",
    ]);
  });

  test("of pino and bunyan are those of objects in JSON, whatever carries them", () => {
    for (const name of ["bulk", "loki, a line of JSON", "hec, an event of JSON", "forward"])
      expect([name, numbered(WIRES[name] ?? never(), [10, 20, 30, 40, 50, 60])]).toEqual([
        name,
        ["trace", "debug", "info", "warn", "error", "fatal"],
      ]);
  });
});

function never(): never {
  throw new Error("no such wire");
}
