import { LineReader } from "../../../ingest/recognise/read-line.ts";
import type { Reading } from "../../../ingest/recognise/reading.ts";
import { type Instant, LineClock } from "../../../ingest/recognise/time/line-clock.ts";

/** What a line says; a field that is not there says nothing. */
interface Said {
  readonly form: string;
  /** ISO 8601, in UTC. */
  readonly time?: string;
  readonly level?: string;
  readonly service?: string;
  readonly source?: string;
  readonly host?: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly message: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
}

export type LineCase = readonly [line: string, said: Said];

/** When the lines of the corpus are said to have been written last. */
export const WRITTEN_AT = Date.parse("2026-11-22T00:00:00Z");

export function isoOf({ seconds, nanos }: Instant): string {
  const fraction = nanos === 0 ? "" : `.${String(nanos).padStart(9, "0").replace(/0+$/, "")}`;
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}${fraction}Z`;
}

/** What is read of a line by itself; null for nothing. */
export function read(line: string, zone = "UTC"): Said | null {
  const reading = new LineReader(new LineClock({ yearReferenceMs: WRITTEN_AT, zone })).read(line);
  return reading === null ? null : saidIn(reading);
}

function saidIn(reading: Reading): Said {
  const { form, time, message, attributes } = reading;
  const names = ["level", "service", "source", "host", "traceId", "spanId"] as const;
  return {
    form,
    ...(time === null ? {} : { time: isoOf(time) }),
    ...Object.fromEntries(names.flatMap((name) => (reading[name] === null ? [] : [[name, reading[name]]]))),
    message,
    ...(attributes.size === 0 ? {} : { attributes: Object.fromEntries(attributes) }),
  };
}
