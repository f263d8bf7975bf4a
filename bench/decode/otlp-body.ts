import type { BenchEntry } from "../ingest/bodies.ts";

/** Severity numbers by level. */
export const OTLP_SEVERITIES = new Map(
  ["trace", "debug", "info", "warn", "error", "fatal"].map((level, i) => [level, i * 4 + 1]),
);

/** What a resource says besides its service and host. */
export const OTLP_RESOURCE = {
  "service.version": "1.4.2",
  "service.instance.id": "5c1f9a52-7d8e-4b52-9b3b-3f1a0f6f3c11",
  "deployment.environment.name": "production",
  "telemetry.sdk.language": "nodejs",
  "telemetry.sdk.name": "opentelemetry",
  "telemetry.sdk.version": "2.1.0",
};

/** The attributes of a record. */
export function otlpAttributes({ attrs: { user_id, status, duration_ms } }: BenchEntry) {
  return { user_id, status, duration_ms, "code.function.name": "handleRequest" };
}

/**
 * A request as an SDK sends it: one resource, a scope for each logger. Everything but the message and the attributes of
 * a record is as exporters write it, zeros and empty lists included.
 */
export function otlpBody(entries: readonly BenchEntry[]): unknown {
  const [first] = entries;
  const scopes = Map.groupBy(entries, ({ attrs }) => attrs.component);
  return {
    resourceLogs: [
      {
        resource: {
          attributes: keyValues({
            "service.name": first?.service ?? "",
            "host.name": first?.host ?? "",
            ...OTLP_RESOURCE,
          }),
          droppedAttributesCount: 0,
        },
        scopeLogs: Array.from(scopes, ([name, own]) => ({
          scope: { name, version: "" },
          logRecords: own.map(logRecord),
        })),
      },
    ],
  };
}

function logRecord(entry: BenchEntry): unknown {
  const { ts, level, message, attrs } = entry;
  const nanos = `${Date.parse(ts)}000000`;
  const traceId = attrs.trace_id;
  return {
    timeUnixNano: nanos,
    observedTimeUnixNano: nanos,
    severityNumber: OTLP_SEVERITIES.get(level) ?? 0,
    severityText: level.toUpperCase(),
    body: { stringValue: message },
    attributes: keyValues(otlpAttributes(entry)),
    droppedAttributesCount: 0,
    flags: 1,
    traceId,
    spanId: traceId.slice(0, 16),
  };
}

function keyValues(values: Readonly<Record<string, string | number>>): unknown[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: string | number): unknown {
  if (typeof value === "string") return { stringValue: value };
  return Number.isInteger(value) ? { intValue: value } : { doubleValue: value };
}
