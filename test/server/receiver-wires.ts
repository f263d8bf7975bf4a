import { gzipSync } from "node:zlib";

/** Unpacked bytes that a request may have on most wires. */
const MAX_BODY_BYTES = 20 * 1024 * 1024;
/** A delivery stream's requests are larger, and must never be answered with 413. */
const MAX_DELIVERY_BYTES = 64 * 1024 * 1024;

/** What an answer that refuses has beside our envelope. */
type RefusalShape = Readonly<Record<string, unknown>>;

/** One way in which logs come in over HTTP. */
export interface ReceiverWire {
  readonly name: string;
  /** Where it is sent to; a token belongs into some addresses. */
  path(token: string): string;
  headers(token: string): Readonly<Record<string, string>>;
  /** A request with one record that has this message. */
  body(message: string): string;
  /** Bytes of that body that count as logs. */
  counted(body: string): number;
  readonly acknowledges: number;
  /** What one of its senders expects in a refusal with this status. */
  refusal(status: number): RefusalShape;
  readonly maxBodyBytes: number;
  /** The status of a body that is larger. */
  readonly tooLarge: number;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const basic = (token: string) => ({
  authorization: `Basic ${Buffer.from(`obs:${token}`).toString("base64")}`,
});
const nothingMore = (): RefusalShape => ({});

function wire(
  name: string,
  path: string,
  contentType: string,
  body: ReceiverWire["body"],
  rest: Partial<Omit<ReceiverWire, "path" | "headers" | "body">> & {
    readonly credential?: (token: string) => Record<string, string>;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): ReceiverWire {
  const { credential = bearer, headers, ...others } = rest;
  return {
    name,
    path: (token) => path.replace("{token}", token),
    headers: (token) => ({ "content-type": contentType, ...headers, ...credential(token) }),
    body,
    counted: (text) => Buffer.byteLength(text),
    acknowledges: 202,
    refusal: nothingMore,
    maxBodyBytes: MAX_BODY_BYTES,
    tooLarge: 413,
    ...others,
  };
}

const FRAME = (message: string): string => `<13>1 2026-11-21T10:00:00+00:00 host app web.1 - ${message}`;
const HEC_NUMBERS: Readonly<Record<number, number>> = { 401: 4, 403: 4, 429: 9, 413: 6 };
const collector = {
  acknowledges: 200,
  credential: (token: string) => ({ authorization: `Splunk ${token}` }),
  refusal: (status: number) => ({ text: expectText, hecCode: HEC_NUMBERS[status] }),
};
const inThePath = { credential: () => ({}) };
/** Stands for any text in a refusal. */
export const expectText = Symbol("some text");

const bulk = (message: string): string => `{"index":{"_index":"logs"}}\n${JSON.stringify({ message })}\n`;
const json = "application/json";
const ndjson = "application/x-ndjson";

/** Every way in which logs come in over HTTP, with each place where its senders put a token. */
export const RECEIVER_WIRES: readonly ReceiverWire[] = [
  wire("native", "/api/v1/logs/ingest", json, (message) => JSON.stringify([{ message }])),
  wire("native ndjson", "/api/v1/logs/ingest", ndjson, (message) => `${JSON.stringify({ message })}\n`),
  wire(
    "otlp",
    "/api/v1/otlp/v1/logs",
    json,
    (message) =>
      JSON.stringify({
        resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: message } }] }] }],
      }),
    { acknowledges: 200, refusal: () => ({ message: expectText }) },
  ),
  wire("elasticsearch, basic", "/elasticsearch/_bulk", ndjson, bulk, {
    acknowledges: 200,
    credential: basic,
  }),
  wire("elasticsearch, api key", "/elasticsearch/app/_bulk", ndjson, bulk, {
    acknowledges: 200,
    credential: (token) => ({
      authorization: `ApiKey ${Buffer.from(`id:${token}`).toString("base64")}`,
    }),
  }),
  wire(
    "elasticsearch, one document",
    "/elasticsearch/app/_doc",
    json,
    (message) => JSON.stringify({ message }),
    { acknowledges: 201, credential: basic },
  ),
  wire(
    "loki",
    "/loki/api/v1/push",
    json,
    (message) =>
      JSON.stringify({
        streams: [{ stream: { app: "shop" }, values: [[`${Date.now()}000000`, message]] }],
      }),
    { acknowledges: 204, credential: basic },
  ),
  wire("journal", "/upload", "application/vnd.fdo.journal", (message) => `MESSAGE=${message}\n\n`, {
    credential: basic,
  }),
  wire("gelf", "/gelf", json, (message) => JSON.stringify({ version: "1.1", short_message: message }), {
    credential: basic,
  }),
  wire(
    "collector event",
    "/services/collector",
    json,
    (message) => JSON.stringify({ event: message, host: "web-1" }),
    collector,
  ),
  wire("collector raw", "/services/collector/raw", "text/plain", (message) => `${message}\n`, collector),
  wire(
    "platform-a",
    "/api/v1/logs/ingest/platform-a/{token}",
    json,
    (message) => JSON.stringify([{ id: crypto.randomUUID(), timestamp: Date.now(), message }]),
    inThePath,
  ),
  wire(
    "platform-b",
    "/api/v1/logs/ingest/platform-b/{token}",
    "application/logplex-1",
    (message) => `${FRAME(message).length} ${FRAME(message)}`,
    { ...inThePath, headers: { "logplex-msg-count": "1" } },
  ),
  wire(
    "stream-a lines",
    "/api/v1/logs/ingest/stream-a/{token}",
    ndjson,
    (message) => `${JSON.stringify({ message })}\n`,
    { ...inThePath, acknowledges: 200 },
  ),
  wire(
    "stream-a delivery",
    "/api/v1/logs/ingest/stream-a/key",
    json,
    (message) =>
      JSON.stringify({
        requestId: "R1",
        timestamp: 1,
        records: [{ data: Buffer.from(gzipSync(JSON.stringify({ message }))).toString("base64") }],
      }),
    {
      credential: (token) => ({ "x-amz-firehose-access-key": token }),
      headers: { "x-amz-firehose-request-id": "R1" },
      acknowledges: 200,
      // The records are what counts, unpacked, not what they came in.
      counted: (body) => {
        const { records }: { records: { data: string }[] } = JSON.parse(body);
        return Bun.gunzipSync(Buffer.from(records[0]?.data ?? "", "base64")).length;
      },
      refusal: () => ({ requestId: "R1", errorMessage: expectText }),
      maxBodyBytes: MAX_DELIVERY_BYTES,
      tooLarge: 400,
    },
  ),
  wire("source json", "/api/v1/ingest/shop-json", json, (message) => JSON.stringify([{ text: message }])),
  wire(
    "source ndjson",
    "/api/v1/ingest/shop-ndjson",
    "text/plain",
    (message) => `${JSON.stringify({ text: message })}\n`,
    { credential: basic },
  ),
  wire(
    "source cef",
    "/api/v1/ingest/shop-cef?token={token}",
    "text/plain",
    (message) => `CEF:0|Example|Gate|1.0|100|${message}|5|src=192.0.2.1\n`,
    inThePath,
  ),
];

/** The sources that the wires above send to. */
export const WIRE_SOURCES: readonly Readonly<Record<string, unknown>>[] = [
  { sourceKey: "shop-json", name: "JSON", mapping: { fields: { message: { from: "text" } } } },
  {
    sourceKey: "shop-ndjson",
    name: "NDJSON",
    format: "ndjson",
    mapping: { fields: { message: { from: "text" } } },
  },
  { sourceKey: "shop-cef", name: "CEF", format: "cef" },
];
