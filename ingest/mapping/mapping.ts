/** The formats in which a configured source takes its records. */
export type SourceFormat = "json" | "ndjson" | "cef" | "text";

/** How a timestamp is read; `auto` tells epoch numbers by their magnitude and knows the usual date-times. */
export type TimestampParse = "epoch_ms" | "epoch_s" | "iso" | "auto";

type MappingScalar = string | number | boolean;

/** Where the time of a record stands. */
export interface TimestampMapping {
  readonly from: string;
  /** The path that is read when nothing stands at `from`. */
  readonly fromDefault?: string;
  readonly parse?: TimestampParse;
}

/** How one field of the entry, or one attribute, is made. */
export interface FieldMapping {
  readonly from?: string;
  /** The path that is read when nothing stands at `from`. */
  readonly fromDefault?: string;
  /** The value of every record. */
  readonly const?: MappingScalar;
  /** The value where nothing was found. */
  readonly default?: MappingScalar;
  /** Texts and what they become, after `lowercase`; a text that is not here stays as it is. */
  readonly map?: Readonly<Record<string, string>>;
  readonly lowercase?: boolean;
}

/** What the records of a source are made into. Keys that are not named here are kept and mean nothing. */
export interface Mapping {
  readonly format?: SourceFormat;
  readonly timestamp?: TimestampMapping;
  readonly fields?: Readonly<Record<string, FieldMapping>>;
  /** The path of the array of records inside a body, for senders that wrap them. */
  readonly records?: string;
  /** False: what the mapping does not name is left out. */
  readonly keepUnmapped?: boolean;
  /** The message where the fields give none: a text with paths in braces. */
  readonly messageTemplate?: string;
  /** Of times of lines of text that name none: `+02:00`, `Europe/Berlin`; UTC unless it is given. */
  readonly zone?: string;
  readonly [extra: string]: unknown;
}

/** Characters of one path. */
export const PATH_MAX_CHARS = 512;
/** Segments of one path: deeper than records may nest, there is nothing to find. */
export const PATH_MAX_SEGMENTS = 32;
/** Segments of all paths that are looked for in every record: the time that a record takes grows with them. */
export const MAPPING_MAX_SEGMENTS = 1024;
export const TEMPLATE_MAX_CHARS = 2048;
/** Fields of one mapping: as many as an entry may have attributes. */
export const FIELDS_MAX_COUNT = 256;
/** Bytes of a mapping as JSON: it is compiled by every instance and shown in lists. */
export const MAPPING_MAX_BYTES = 64 * 1024;

/** The names, also in their other spelling, under which `fields` names a field of the entry; any other is an attribute. */
const ENTRY_FIELDS = {
  message: "message",
  level: "level",
  service: "service",
  source: "source",
  host: "host",
  traceId: "traceId",
  trace_id: "traceId",
  spanId: "spanId",
  span_id: "spanId",
  event_id: "eventId",
  eventId: "eventId",
} as const;

export type EntryField = (typeof ENTRY_FIELDS)[keyof typeof ENTRY_FIELDS];

const FIELDS_BY_NAME: ReadonlyMap<string, EntryField> = new Map(Object.entries(ENTRY_FIELDS));

/** The field of the entry that a name of `fields` stands for; null for an attribute. */
export function entryFieldOf(name: string): EntryField | null {
  return FIELDS_BY_NAME.get(name) ?? null;
}

/** Whether a mapping leaves everything as it is. */
export function saysNothing({ timestamp, fields, messageTemplate, keepUnmapped }: Mapping): boolean {
  return (
    timestamp === undefined &&
    messageTemplate === undefined &&
    keepUnmapped !== false &&
    Object.keys(fields ?? {}).length === 0
  );
}
