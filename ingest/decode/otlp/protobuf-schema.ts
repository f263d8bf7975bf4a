import { FIXED32, FIXED64, LENGTH, VARINT } from "../protobuf-reader.ts";

/** How a field is written. */
export const TEXT_FIELD = 0;
/** Bytes that the JSON encoding has as hexadecimal digits. */
export const HEX_FIELD = 1;
export const UNSIGNED_FIELD = 2;
export const SIGNED_FIELD = 3;
export const DOUBLE_FIELD = 4;
export const BOOL_FIELD = 5;
export const MESSAGE_FIELD = 6;
export const REPEATED_FIELD = 7;
/** A value of any kind. */
export const ANY_VALUE_FIELD = 8;
/** KeyValues. */
export const KEY_VALUES_FIELD = 9;

/** A field of a message, with its name in the JSON encoding and where that stands among all names. */
export interface ProtobufField {
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly kind: number;
  readonly wire: number;
  /** A bit of its own for each field that repeats. */
  readonly bit: number;
  readonly message: ProtobufMessage;
}

/** The fields by their numbers. */
export type ProtobufMessage = ReadonlyArray<ProtobufField | undefined>;

const encoder = new TextEncoder();
const NOTHING: ProtobufMessage = [];
let allNames = "";

/** Where a name stands among all, in quotes. */
export interface NamePlace {
  readonly start: number;
  readonly end: number;
}

function place(name: string): NamePlace {
  const found = allNames.indexOf(`"${name}"`);
  if (found < 0) allNames += `"${name}"`;
  const start = (found < 0 ? allNames.length - name.length - 2 : found) + 1;
  return { start, end: start + name.length };
}

type FieldRow = readonly [
  number: number,
  name: string,
  kind: number,
  wire: number,
  message?: ProtobufMessage,
];

function message(...rows: readonly FieldRow[]): ProtobufMessage {
  const fields: (ProtobufField | undefined)[] = [];
  for (const [number, name, kind, wire, of = NOTHING] of rows) {
    const { start, end } = place(name);
    const isRepeated = kind === REPEATED_FIELD || kind === KEY_VALUES_FIELD;
    while (fields.length <= number) fields.push(undefined);
    fields[number] = {
      nameStart: start,
      nameEnd: end,
      kind,
      wire,
      bit: isRepeated ? 1 << number : 0,
      message: of,
    };
  }
  return fields;
}

const text = (number: number, name: string): FieldRow => [number, name, TEXT_FIELD, LENGTH];
const count = (number: number, name: string): FieldRow => [number, name, UNSIGNED_FIELD, VARINT];
const time = (number: number, name: string): FieldRow => [number, name, UNSIGNED_FIELD, FIXED64];
const attributes = (number: number): FieldRow => [number, "attributes", KEY_VALUES_FIELD, LENGTH];
const one = (number: number, name: string, of: ProtobufMessage): FieldRow => [
  number,
  name,
  MESSAGE_FIELD,
  LENGTH,
  of,
];
const many = (number: number, name: string, of: ProtobufMessage): FieldRow => [
  number,
  name,
  REPEATED_FIELD,
  LENGTH,
  of,
];

const RESOURCE = message(attributes(1), count(2, "droppedAttributesCount"));
const SCOPE = message(text(1, "name"), text(2, "version"), attributes(3), count(4, "droppedAttributesCount"));

const LOG_RECORD = message(
  time(1, "timeUnixNano"),
  count(2, "severityNumber"),
  text(3, "severityText"),
  [5, "body", ANY_VALUE_FIELD, LENGTH],
  attributes(6),
  count(7, "droppedAttributesCount"),
  [8, "flags", UNSIGNED_FIELD, FIXED32],
  [9, "traceId", HEX_FIELD, LENGTH],
  [10, "spanId", HEX_FIELD, LENGTH],
  time(11, "observedTimeUnixNano"),
  text(12, "eventName"),
);
const SCOPE_LOGS = message(one(1, "scope", SCOPE), many(2, "logRecords", LOG_RECORD), text(3, "schemaUrl"));
const RESOURCE_LOGS = message(
  one(1, "resource", RESOURCE),
  many(2, "scopeLogs", SCOPE_LOGS),
  text(3, "schemaUrl"),
);

/** Source: opentelemetry-proto, collector/logs/v1/logs_service.proto and logs/v1/logs.proto. */
export const LOGS_REQUEST = message(many(1, "resourceLogs", RESOURCE_LOGS));

const NUMBER_POINT = message(
  time(3, "timeUnixNano"),
  [4, "asDouble", DOUBLE_FIELD, FIXED64],
  [6, "asInt", SIGNED_FIELD, FIXED64],
  attributes(7),
  count(8, "flags"),
);
/** Of points that are not kept it counts how many there are. */
const OTHER_POINT = message();
const GAUGE = message(many(1, "dataPoints", NUMBER_POINT));
const SUM = message(many(1, "dataPoints", NUMBER_POINT), count(2, "aggregationTemporality"), [
  3,
  "isMonotonic",
  BOOL_FIELD,
  VARINT,
]);
const OTHER = message(many(1, "dataPoints", OTHER_POINT));
const METRIC = message(
  text(1, "name"),
  text(3, "unit"),
  one(5, "gauge", GAUGE),
  one(7, "sum", SUM),
  one(9, "histogram", OTHER),
  one(10, "exponentialHistogram", OTHER),
  one(11, "summary", OTHER),
);
const SCOPE_METRICS = message(one(1, "scope", SCOPE), many(2, "metrics", METRIC), text(3, "schemaUrl"));
const RESOURCE_METRICS = message(
  one(1, "resource", RESOURCE),
  many(2, "scopeMetrics", SCOPE_METRICS),
  text(3, "schemaUrl"),
);

/** Source: opentelemetry-proto, collector/metrics/v1/metrics_service.proto and metrics/v1/metrics.proto. */
export const METRICS_REQUEST = message(many(1, "resourceMetrics", RESOURCE_METRICS));

const SPAN = message(
  [1, "traceId", HEX_FIELD, LENGTH],
  [2, "spanId", HEX_FIELD, LENGTH],
  [4, "parentSpanId", HEX_FIELD, LENGTH],
  text(5, "name"),
  count(6, "kind"),
  time(7, "startTimeUnixNano"),
  time(8, "endTimeUnixNano"),
  attributes(9),
  many(11, "events", message(attributes(3))),
  one(15, "status", message(text(2, "message"), count(3, "code"))),
);
const SCOPE_SPANS = message(one(1, "scope", SCOPE), many(2, "spans", SPAN), text(3, "schemaUrl"));
const RESOURCE_SPANS = message(
  one(1, "resource", RESOURCE),
  many(2, "scopeSpans", SCOPE_SPANS),
  text(3, "schemaUrl"),
);

/** Source: opentelemetry-proto, collector/trace/v1/trace_service.proto and trace/v1/trace.proto. */
export const TRACES_REQUEST = message(many(1, "resourceSpans", RESOURCE_SPANS));

/** The names of KeyValues and AnyValues, and the words of JSON. */
export const KEY = place("key");
export const VALUE = place("value");
export const VALUES = place("values");
export const STRING_VALUE = place("stringValue");
export const BOOL_VALUE = place("boolValue");
export const INT_VALUE = place("intValue");
export const DOUBLE_VALUE = place("doubleValue");
export const ARRAY_VALUE = place("arrayValue");
export const KVLIST_VALUE = place("kvlistValue");
export const BYTES_VALUE = place("bytesValue");
export const TRUE = place("true");
export const FALSE = place("false");

/** All names, each in quotes. */
export const NAMES = encoder.encode(allNames);
