import { compress } from "snappyjs";
import { CefDecoder } from "../../../ingest/decode/cef/cef-decoder.ts";
import { DeliveryDecoder } from "../../../ingest/decode/delivery-stream/delivery-decoder.ts";
import { DeploymentDrainDecoder } from "../../../ingest/decode/deployment-drain/drain-decoder.ts";
import { ElasticsearchBulk } from "../../../ingest/decode/elasticsearch-bulk/elasticsearch-bulk.ts";
import { ForwardDecoder } from "../../../ingest/decode/forward/forward-decoder.ts";
import { encodeValue } from "../../../ingest/decode/forward/message-pack.ts";
import { GelfDecoder, RelayedGelf } from "../../../ingest/decode/gelf/gelf-decoder.ts";
import { JournalDecoder } from "../../../ingest/decode/journal/journal-decoder.ts";
import { LogplexDecoder } from "../../../ingest/decode/logplex/logplex-decoder.ts";
import { LokiProtobuf } from "../../../ingest/decode/loki-push/loki-protobuf.ts";
import { LokiPush } from "../../../ingest/decode/loki-push/loki-push.ts";
import { NativeFormat } from "../../../ingest/decode/native.ts";
import { NdjsonFormat } from "../../../ingest/decode/ndjson/ndjson.ts";
import { OtlpJsonDecoder } from "../../../ingest/decode/otlp/otlp-json.ts";
import { OtlpProtobufDecoder } from "../../../ingest/decode/otlp/otlp-protobuf.ts";
import { SplunkEvents } from "../../../ingest/decode/splunk-hec/splunk-event.ts";
import { SplunkRawText } from "../../../ingest/decode/splunk-hec/splunk-raw.ts";
import { RelayedFrames } from "../../../ingest/decode/syslog/relayed-frames.ts";
import { SyslogDecoder } from "../../../ingest/decode/syslog/syslog-decoder.ts";
import { SyslogRecords } from "../../../ingest/decode/syslog/syslog-records.ts";
import { sourceDecoder } from "../../../ingest/mapping/source-decoder.ts";
import type { RecordDecoder } from "../../../ingest/record/record-decoder.ts";
import { type DecodedRequest, decodeNative, decodeRequest, RECEIVED_AT_MS } from "./decoded-entries.ts";
import { lengthField, varintField } from "./protobuf-writer.ts";

/** A format with the simplest thing its senders say: messages. */
export interface FormatUnderTest {
  readonly name: string;
  readonly decode: (body: Uint8Array, skip?: ReadonlySet<number>) => DecodedRequest;
  /** A body with these messages, each a record of its own. */
  readonly bodyOf: (messages: readonly string[]) => Uint8Array;
  /** What a message cannot hold on this wire. */
  readonly cannotHold: RegExp;
  /** A message that is too long is refused, instead of cut. */
  readonly refusesLongMessages: boolean;
}

const NOTHING = /(?!)/g;
const LINE_BREAKS = /[\r\n]/g;
/** A message that is a JSON object is taken apart. */
const BRACES = /\{/g;
const CONTROLS = /\p{Cc}/gu;
/** A brace, an at sign or the letters CEF begin a message within a message; a zero and a byte order mark end and begin it. */
const SYSLOG_SIGNS = /[{@C\ufeff\0]/g;
const encoder = new TextEncoder();
const now = (): number => RECEIVED_AT_MS;

function json(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

function jsonLines(values: readonly unknown[]): Uint8Array {
  return encoder.encode(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
}

function textLines(lines: readonly string[]): Uint8Array {
  return encoder.encode(lines.map((line) => `${line}\n`).join(""));
}

function octetFrames(messages: readonly string[]): Uint8Array {
  return encoder.encode(messages.map((text) => `${encoder.encode(text).length} ${text}`).join(""));
}

/** A field whose value may hold any bytes. */
function journalField(name: string, value: string): Uint8Array {
  const bytes = encoder.encode(value);
  const length = new DataView(new ArrayBuffer(8));
  length.setBigUint64(0, BigInt(bytes.length), true);
  return Buffer.concat([
    encoder.encode(`${name}\n`),
    new Uint8Array(length.buffer),
    bytes,
    encoder.encode("\n"),
  ]);
}

function relayed(messages: readonly string[]): Uint8Array {
  const frames = new RelayedFrames();
  for (const message of messages) frames.add("192.0.2.7", encoder.encode(message));
  return frames.take();
}

function lenient(
  decoder: RecordDecoder,
  bodyOf: FormatUnderTest["bodyOf"],
  { name = decoder.format, cannotHold = NOTHING }: { name?: string; cannotHold?: RegExp } = {},
): FormatUnderTest {
  return {
    name,
    decode: (body, skip) => decodeRequest(decoder, body, skip),
    bodyOf,
    cannotHold,
    refusesLongMessages: false,
  };
}

function native(
  name: string,
  format: NativeFormat | NdjsonFormat,
  bodyOf: FormatUnderTest["bodyOf"],
): FormatUnderTest {
  return {
    name,
    decode: (body, skip) => decodeNative(format, body, skip),
    bodyOf,
    cannotHold: NOTHING,
    refusesLongMessages: true,
  };
}

const SYSLOG_HEADER = "<134>1 2026-11-21T12:00:00Z web-1 app 17";

export const FORMATS: readonly FormatUnderTest[] = [
  native("native", new NativeFormat(), (messages) => json(messages.map((message) => ({ message })))),
  native("ndjson", new NdjsonFormat(), (messages) => jsonLines(messages.map((message) => ({ message })))),
  lenient(new OtlpJsonDecoder(), (messages) =>
    json({
      resourceLogs: [
        { scopeLogs: [{ logRecords: messages.map((message) => ({ body: { stringValue: message } })) }] },
      ],
    }),
  ),
  lenient(new OtlpProtobufDecoder(), (messages) => {
    const records = messages.map((message) => lengthField(2, lengthField(5, lengthField(1, message))));
    return lengthField(1, lengthField(2, ...records));
  }),
  lenient(new ElasticsearchBulk("logs"), (messages) =>
    jsonLines(messages.flatMap((message) => [{ create: {} }, { message }])),
  ),
  lenient(
    new LokiPush(),
    (messages) =>
      json({
        streams: [
          { stream: { app: "a" }, values: messages.map((message) => ["1700000000000000000", message]) },
        ],
      }),
    { cannotHold: BRACES },
  ),
  lenient(
    new LokiProtobuf(),
    (messages) => {
      const time = lengthField(1, varintField(1, 1_700_000_000));
      const entries = messages.map((message) => lengthField(2, time, lengthField(2, message)));
      return compress(lengthField(1, lengthField(1, '{app="a"}'), ...entries));
    },
    { cannotHold: BRACES },
  ),
  lenient(new GelfDecoder(), (messages) => jsonLines(messages.map((text) => ({ short_message: text }))), {
    cannotHold: BRACES,
  }),
  lenient(
    new RelayedGelf(),
    (messages) => relayed(messages.map((text) => JSON.stringify({ short_message: text }))),
    { name: "gelf-relayed", cannotHold: BRACES },
  ),
  lenient(
    new ForwardDecoder(),
    (messages) => Buffer.concat(messages.map((message) => encodeValue(["app", 1_700_000_000, { message }]))),
    { cannotHold: BRACES },
  ),
  lenient(new JournalDecoder(), (messages) =>
    Buffer.concat(messages.flatMap((message) => [journalField("MESSAGE", message), encoder.encode("\n")])),
  ),
  lenient(new SplunkEvents(), (messages) => jsonLines(messages.map((event) => ({ event }))), {
    cannotHold: BRACES,
  }),
  lenient(new SplunkRawText({}), textLines, { cannotHold: LINE_BREAKS }),
  lenient(new DeploymentDrainDecoder(), (messages) =>
    json(messages.map((message) => ({ timestamp: 1_700_000_000_000, message }))),
  ),
  lenient(
    new LogplexDecoder(new SyslogRecords({ now }), { messageCount: null, drainToken: null }),
    (messages) => octetFrames(messages.map((message) => `${SYSLOG_HEADER} - ${message}`)),
    { cannotHold: SYSLOG_SIGNS },
  ),
  lenient(new DeliveryDecoder(), (messages) => jsonLines(messages.map((message) => ({ message })))),
  lenient(
    new SyslogDecoder({ now }),
    (messages) => relayed(messages.map((message) => `${SYSLOG_HEADER} - - ${message}`)),
    { cannotHold: SYSLOG_SIGNS },
  ),
  lenient(
    new CefDecoder({ now }),
    (messages) =>
      textLines(
        messages.map(
          (message) =>
            `CEF:0|Vendor|Product|1|7|Name|5|src=192.0.2.1 msg=${message.replace(/[\\=]/g, "\\$&")}`,
        ),
      ),
    { cannotHold: CONTROLS },
  ),
  lenient(
    sourceDecoder({
      format: "json",
      mapping: { fields: { message: { from: "text" } } },
      learning: false,
      now,
    }),
    (messages) => json(messages.map((text) => ({ text }))),
    { name: "source-json" },
  ),
  lenient(
    sourceDecoder({
      format: "ndjson",
      mapping: { fields: { message: { from: "text" } } },
      learning: false,
      now,
    }),
    (messages) => jsonLines(messages.map((text) => ({ text }))),
    { name: "source-ndjson" },
  ),
  lenient(
    sourceDecoder({
      format: "cef",
      mapping: { fields: { service: { from: "deviceProduct" } } },
      learning: false,
      now,
    }),
    (messages) =>
      textLines(
        messages.map((message) => `CEF:0|Vendor|Product|1|7|Name|5|msg=${message.replace(/[\\=]/g, "\\$&")}`),
      ),
    { name: "source-cef", cannotHold: /\p{Cc}/gu },
  ),
  lenient(sourceDecoder({ format: "ndjson", mapping: {}, learning: true, now }), textLines, {
    name: "source-learning",
    cannotHold: /[\r\n\ufeff]/g,
  }),
];
