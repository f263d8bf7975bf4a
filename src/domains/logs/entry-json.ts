import { formatNs } from "./entry-time.ts";

/** The columns of a row that becomes an entry, in the order in which `encodeEntry` takes them. */
export const ENTRY_COLUMNS = [
  "id",
  "ts",
  "receivedAt",
  "level",
  "service",
  "source",
  "host",
  "message",
  "event_id",
  "traceId",
  "spanId",
  "attrs",
] as const;

/**
 * One row in the wire formats of `ENTRY_COLUMNS` as the JSON text of an entry. Text, because attributes keep their
 * values exactly as they came, which a number in memory cannot. Throws a TypeError when the row has another shape.
 */
export function encodeEntry(row: readonly unknown[]): string {
  const [id, ts, receivedAt, level, service, source, host, message, eventId, traceId, spanId, attrs] = row;
  return (
    `{"id":"${text(id)}","ts":"${formatNs(text(ts))}","receivedAt":"${formatNs(text(receivedAt))}"` +
    `,"level":${optional(level)},"service":${optional(service)},"source":${optional(source)}` +
    `,"host":${optional(host)},"message":${JSON.stringify(text(message))},"event_id":${optional(eventId)}` +
    `,"traceId":${optional(traceId)},"spanId":${optional(spanId)},"attrs":${encodeAttributes(attrs)}}`
  );
}

/** Where an entry stands in the order of a search. */
export interface EntryPosition {
  readonly tsNs: bigint;
  readonly id: bigint;
}

export function positionOf(row: readonly unknown[]): EntryPosition {
  return { id: BigInt(text(row[0])), tsNs: BigInt(text(row[1])) };
}

/** A property bag on the wire: keys, texts, and the keys whose text is JSON rather than a string; an empty one is null. */
export function encodeAttributes(bag: unknown): string {
  const [keys, texts, jsonKeys] = list(bag).map(list);
  if (keys === undefined || texts === undefined || jsonKeys === undefined)
    throw new TypeError("a row of the log store has no attributes");
  const isJson = new Set(jsonKeys);
  const members = keys.map((key, i) => {
    const value = text(texts[i]);
    return `${JSON.stringify(text(key))}:${isJson.has(key) ? value || "null" : JSON.stringify(value)}`;
  });
  return `{${members.join(",")}}`;
}

function optional(cell: unknown): string {
  return cell === "" ? "null" : JSON.stringify(text(cell));
}

function text(cell: unknown): string {
  if (typeof cell !== "string") throw new TypeError("a row of the log store holds no text where it should");
  return cell;
}

function list(cell: unknown): readonly unknown[] {
  if (!Array.isArray(cell)) throw new TypeError("a row of the log store holds no list where it should");
  return cell;
}
