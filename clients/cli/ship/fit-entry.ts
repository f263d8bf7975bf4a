import type { NativeEntry } from "../../../ingest/recognise/index.ts";
import {
  ATTRIBUTE_KEY_MAX_CHARS,
  ATTRIBUTE_VALUE_MAX_BYTES,
  ATTRIBUTES_MAX_COUNT,
  ATTRIBUTES_MAX_DEPTH,
  EVENT_ID_MAX_CHARS,
  HOST_MAX_CHARS,
  SERVICE_MAX_CHARS,
  SOURCE_MAX_CHARS,
} from "../limits.ts";
import { endOfCodePoints } from "./code-points.ts";
import { entryTimeMs } from "./entry-time.ts";
import { depthOf } from "./value-depth.ts";

/** Room for what counts the parts of a message and says that something was cut. */
export const RESERVED_ATTRIBUTES = 4;
/** Says that something of an entry was cut, as the server does where it cuts. */
const TRUNCATED = "_truncated";

/** The entry as the API takes it, but for its message: what is too long is cut, and the entry says so. */
export function fitEntry(entry: NativeEntry): NativeEntry {
  const { message, level, ts, service, source, host, event_id, attrs } = entry;
  let isCut = false;
  const cut = (text: string, maxChars: number): string => {
    const kept = firstCodePoints(text, maxChars);
    isCut ||= kept.length < text.length;
    return kept;
  };
  const kept: Record<string, unknown> =
    attrs === undefined ? {} : fitAttributes(attrs, cut, () => (isCut = true));
  const hasTime = ts !== undefined && entryTimeMs(ts) !== null;
  const fields = {
    message,
    ...(hasTime && { ts }),
    ...(level !== undefined && { level }),
    ...(service !== undefined && service !== "" && { service: cut(service, SERVICE_MAX_CHARS) }),
    ...(source !== undefined && { source: cut(source, SOURCE_MAX_CHARS) }),
    ...(host !== undefined && { host: cut(host, HOST_MAX_CHARS) }),
    // Cut, it would be that of others, which would be taken for repetitions.
    ...(event_id !== undefined && isWithin(event_id, EVENT_ID_MAX_CHARS) && { event_id }),
  };
  // A time beyond those that can be stored, such as the year 1.
  if (ts !== undefined && !hasTime) kept.ts = ts;
  if (isCut) kept[TRUNCATED] = true;
  return Object.keys(kept).length === 0 ? fields : { ...fields, attrs: kept };
}

function fitAttributes(
  attrs: Readonly<Record<string, unknown>>,
  cut: (text: string, maxChars: number) => string,
  onCut: () => void,
): Record<string, unknown> {
  const entries = Object.entries(attrs);
  const most = ATTRIBUTES_MAX_COUNT - RESERVED_ATTRIBUTES;
  if (entries.length > most) onCut();
  return Object.fromEntries(
    entries.slice(0, most).map(([key, value]) => [cut(key, ATTRIBUTE_KEY_MAX_CHARS), fitValue(value, onCut)]),
  );
}

function fitValue(value: unknown, onCut: () => void): unknown {
  if (typeof value === "number" || typeof value === "boolean" || value === null) return value;
  const isText = typeof value === "string";
  const text = isText ? value : JSON.stringify(value);
  if (isText || depthOf(value) < ATTRIBUTES_MAX_DEPTH) {
    if (text.length * 3 <= ATTRIBUTE_VALUE_MAX_BYTES) return value;
    if (Buffer.byteLength(text) <= ATTRIBUTE_VALUE_MAX_BYTES) return value;
  }
  onCut();
  const bytes = Buffer.from(text).subarray(0, ATTRIBUTE_VALUE_MAX_BYTES);
  // Half a character at the end is left out.
  return bytes.toString().replace(/\uFFFD$/, "");
}

function isWithin(text: string, maxChars: number): boolean {
  return text !== "" && firstCodePoints(text, maxChars).length === text.length;
}

/** The beginning of a text, at most so many code points. */
export function firstCodePoints(text: string, max: number): string {
  if (text.length <= max) return text;
  const bytes = Buffer.from(text);
  return bytes.subarray(0, endOfCodePoints(bytes, 0, bytes.length, max)).toString();
}
