import {
  doubleField,
  fixed32Field,
  fixed64Field,
  lengthField,
  varintField,
} from "../../test/ingest/decode/protobuf-writer.ts";
import type { BenchEntry } from "../ingest/bodies.ts";
import { OTLP_RESOURCE, OTLP_SEVERITIES, otlpAttributes } from "./otlp-body.ts";

/** The request of `otlpBody` in the protobuf encoding. */
export function otlpProtobufBody(entries: readonly BenchEntry[]): Uint8Array {
  const [first] = entries;
  const scopes = Map.groupBy(entries, ({ attrs }) => attrs.component);
  const resource = { "service.name": first?.service ?? "", "host.name": first?.host ?? "", ...OTLP_RESOURCE };
  return lengthField(
    1,
    lengthField(1, ...keyValues(1, resource)),
    ...Array.from(scopes, ([name, own]) =>
      lengthField(
        2,
        lengthField(1, lengthField(1, name)),
        ...own.map((entry) => lengthField(2, ...logRecord(entry))),
      ),
    ),
  );
}

function logRecord(entry: BenchEntry): Uint8Array[] {
  const nanos = BigInt(Date.parse(entry.ts)) * 1_000_000n;
  const traceId = Buffer.from(entry.attrs.trace_id, "hex");
  return [
    fixed64Field(1, nanos),
    varintField(2, OTLP_SEVERITIES.get(entry.level) ?? 0),
    lengthField(3, entry.level.toUpperCase()),
    lengthField(5, lengthField(1, entry.message)),
    ...keyValues(6, otlpAttributes(entry)),
    fixed32Field(8, 1),
    lengthField(9, traceId),
    lengthField(10, traceId.subarray(0, 8)),
    fixed64Field(11, nanos),
  ];
}

function keyValues(number: number, values: Readonly<Record<string, string | number>>): Uint8Array[] {
  return Object.entries(values).map(([key, value]) =>
    lengthField(number, lengthField(1, key), lengthField(2, anyValue(value))),
  );
}

function anyValue(value: string | number): Uint8Array {
  if (typeof value === "string") return lengthField(1, value);
  return Number.isInteger(value) ? varintField(3, value) : doubleField(4, value);
}
