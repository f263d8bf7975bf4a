import {
  CefDecoder,
  DeliveryDecoder,
  DeploymentDrainDecoder,
  ElasticsearchBulk,
  type LogBatch,
  LogplexDecoder,
  LokiPush,
  NativeFormat,
  NdjsonFormat,
  OtlpJsonDecoder,
  OtlpProtobufDecoder,
  type RecordDecoder,
  RecordWriter,
  SplunkEvents,
  SyslogRecords,
} from "../../ingest/index.ts";
import type { BenchEntry } from "../ingest/bodies.ts";
import { otlpBody } from "./otlp-body.ts";
import { otlpProtobufBody } from "./otlp-protobuf-body.ts";

/** A format with a realistic body, its decoder, and the plainest reading of the same bytes that the runtime offers. */
export interface FormatBench {
  readonly name: string;
  readonly reference: "JSON.parse" | "a copy" | "JSON.parse of each line" | "split into lines";
  body(entries: readonly BenchEntry[]): string | Uint8Array;
  /** Appends the body's entries to the open request of the batch. */
  readonly decode: (body: Uint8Array, batch: LogBatch) => void;
}

const NOTHING: ReadonlySet<number> = new Set();
const SYSLOG_SEVERITIES = new Map([
  ["fatal", 2],
  ["error", 3],
  ["warn", 4],
  ["info", 6],
]);
const DEBUG_SEVERITY = 7;
const LOCAL_FACILITY = 16 * 8;

const clock = { now: Date.now };
const native = new NativeFormat();
const ndjson = new NdjsonFormat();

export const FORMATS: readonly FormatBench[] = [
  {
    name: "native",
    reference: "JSON.parse",
    body: (entries) => JSON.stringify(entries),
    decode: (body, batch) => native.decode(body, batch, NOTHING),
  },
  {
    name: "NDJSON",
    reference: "JSON.parse of each line",
    body: (entries) => jsonLines(entries),
    decode: (body, batch) => ndjson.decode(body, batch, NOTHING),
  },
  {
    name: "OTLP JSON",
    reference: "JSON.parse",
    body: (entries) => JSON.stringify(otlpBody(entries)),
    decode: foreign(new OtlpJsonDecoder()),
  },
  {
    name: "OTLP protobuf",
    reference: "a copy",
    body: otlpProtobufBody,
    decode: foreign(new OtlpProtobufDecoder()),
  },
  {
    name: "CEF",
    reference: "split into lines",
    body: (entries) => entries.map(cefLine).join("\n"),
    decode: foreign(new CefDecoder(clock)),
  },
  {
    name: "syslog frames (logplex)",
    reference: "split into lines",
    body: (entries) => entries.map(logplexFrame).join(""),
    decode: foreign(
      new LogplexDecoder(new SyslogRecords(clock), { messageCount: null, drainToken: "d.example" }),
    ),
  },
  {
    name: "Elasticsearch bulk",
    reference: "JSON.parse of each line",
    body: (entries) =>
      jsonLines(entries.flatMap((entry) => [{ create: { _index: "logs" } }, ecsDocument(entry)])),
    decode: foreign(new ElasticsearchBulk("logs")),
  },
  {
    name: "Loki push",
    reference: "JSON.parse",
    body: (entries) => JSON.stringify({ streams: lokiStreams(entries) }),
    decode: foreign(new LokiPush()),
  },
  {
    name: "Splunk HEC events",
    reference: "JSON.parse of each line",
    body: (entries) => jsonLines(entries.map(splunkEvent)),
    decode: foreign(new SplunkEvents()),
  },
  {
    name: "deployment drain (platform-a)",
    reference: "JSON.parse",
    body: (entries) => JSON.stringify(entries.map(drainRecord)),
    decode: foreign(new DeploymentDrainDecoder()),
  },
  {
    name: "delivery stream (stream-a)",
    reference: "JSON.parse of each line",
    body: (entries) =>
      jsonLines(entries.map(({ ts, attrs, ...entry }) => ({ timestamp: ts, ...entry, ...attrs }))),
    decode: foreign(new DeliveryDecoder()),
  },
];

function foreign(decoder: RecordDecoder): FormatBench["decode"] {
  const writer = new RecordWriter();
  return (body, batch) => {
    writer.open(batch, NOTHING);
    decoder.decode(body, writer);
    if (writer.rejected > 0) throw new Error(`${decoder.format} rejects ${writer.rejections[0]?.reason}`);
  };
}

function jsonLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

/** A firewall's event with a dozen fields. */
function cefLine({ ts, level, message, host, attrs }: BenchEntry, row: number): string {
  const text = message.replaceAll("\\", "\\\\").replaceAll("=", "\\=");
  const severity = level === "fatal" ? 10 : level === "error" ? 8 : level === "warn" ? 6 : 3;
  const extension = [
    `rt=${Date.parse(ts)}`,
    `src=192.0.2.${row % 254}`,
    `spt=${1024 + (row % 60_000)}`,
    `dst=198.51.100.${row % 199}`,
    "dpt=443",
    "proto=TCP",
    `dvchost=${host}`,
    "act=allowed",
    `suser=${attrs.user_id}`,
    "cs1Label=Rule",
    "cs1=outbound web",
    `cn1Label=Duration cn1=${Math.round(attrs.duration_ms)}`,
    `msg=${text}`,
  ];
  return `CEF:0|Example|Gateway|2.1|${100 + (row % 40)}|connection closed|${severity}|${extension.join(" ")}`;
}

function logplexFrame({ ts, level, service, message, host }: BenchEntry): string {
  const priority = LOCAL_FACILITY + (SYSLOG_SEVERITIES.get(level) ?? DEBUG_SEVERITY);
  const frame = `<${priority}>1 ${ts} ${host} ${service} web.1 - ${message}`;
  return `${Buffer.byteLength(frame)} ${frame}`;
}

function ecsDocument({ ts, level, service, host, message, attrs }: BenchEntry): unknown {
  const { trace_id, component, ...labels } = attrs;
  return {
    "@timestamp": ts,
    message,
    log: { level, logger: component },
    service: { name: service },
    host: { name: host },
    trace: { id: trace_id },
    labels,
  };
}

function lokiStreams(entries: readonly BenchEntry[]): unknown[] {
  const streams = Map.groupBy(entries, ({ service, level }) => `${service} ${level}`);
  return Array.from(streams.values(), (own) => ({
    stream: { service_name: own[0]?.service, level: own[0]?.level, env: "prod" },
    values: own.map(({ ts, message, attrs }) => [
      `${Date.parse(ts)}000000`,
      message,
      { trace_id: attrs.trace_id, user_id: attrs.user_id },
    ]),
  }));
}

function splunkEvent({ ts, level, service, host, message, attrs }: BenchEntry): unknown {
  return {
    time: Date.parse(ts) / 1000,
    host,
    source: service,
    sourcetype: "_json",
    event: { message, level, ...attrs },
  };
}

function drainRecord({ ts, level, message, attrs }: BenchEntry, row: number): unknown {
  return {
    id: `${Date.parse(ts)}${row}`,
    deploymentId: "dpl_example",
    source: "lambda",
    host: "shop.example.com",
    timestamp: Date.parse(ts),
    projectId: "prj_example",
    level: level === "warn" ? "warning" : level,
    message,
    requestId: attrs.trace_id,
    statusCode: attrs.status,
    proxy: {
      timestamp: Date.parse(ts),
      method: "GET",
      path: "/cart",
      clientIp: `192.0.2.${row % 254}`,
      statusCode: attrs.status,
    },
  };
}
