import type { RecordWriter } from "./record-writer.ts";

/** The fields of the record that is open: what those need who write records but do not begin and end them. */
export type RecordFields = Pick<
  RecordWriter,
  | "message"
  | "level"
  | "service"
  | "source"
  | "host"
  | "traceId"
  | "spanId"
  | "eventId"
  | "timeIso"
  | "timeLocal"
  | "timeEpoch"
  | "timeParts"
  | "attribute"
  | "attributes"
>;
