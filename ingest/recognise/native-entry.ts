import type { RecognisedEntry } from "./entry-joiner.ts";
import type { Instant } from "./time/line-clock.ts";

/** What was recognised as an entry of the native format; JSON keeps the digits of its numbers. */
export interface NativeEntry {
  readonly message: string;
  /** RFC 3339, as many digits as the time has. */
  readonly ts?: string;
  readonly level?: string;
  readonly service?: string;
  readonly source?: string;
  readonly host?: string;
  readonly event_id?: string;
  readonly attrs?: Readonly<Record<string, unknown>>;
}

const MILLI_DIGITS = 3;

/**
 * The entry that the native format takes, but for what is longer than it may be, and for a message that is empty. It has no
 * field for traces: their ids are attributes.
 */
export function nativeEntryOf(entry: RecognisedEntry): NativeEntry {
  const { time, level, service, source, host, traceId, spanId, eventId, message, attributes } = entry;
  const attrs = new Map(attributes);
  if (traceId !== null) attrs.set("trace_id", traceId);
  if (spanId !== null) attrs.set("span_id", spanId);
  return {
    message,
    ...(time === null ? {} : { ts: isoText(time) }),
    ...(level === null ? {} : { level }),
    ...(service === null ? {} : { service }),
    ...(source === null ? {} : { source }),
    ...(host === null ? {} : { host }),
    ...(eventId === null ? {} : { event_id: eventId }),
    ...(attrs.size === 0 ? {} : { attrs: Object.fromEntries(attrs) }),
  };
}

function isoText({ seconds, nanos }: Instant): string {
  const date = new Date(seconds * 1000).toISOString();
  const digits = String(nanos).padStart(9, "0");
  const kept = Math.max(MILLI_DIGITS, digits.replace(/0+$/, "").length);
  return `${date.slice(0, -".000Z".length)}.${digits.slice(0, kept)}Z`;
}
