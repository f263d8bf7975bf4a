import { type TInteger, type TSchemaOptions, type TString, Type } from "typebox";

/** The id of a record in a body or a query. What is larger is exact neither in JSON nor in a bigint, and no record has it. */
export function recordId(annotations: TSchemaOptions = {}): TInteger {
  return Type.Integer({ ...annotations, minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
}

/** Postgres writes earlier years as texts that are read as those of another century, or as none. */
const EARLIEST_MS = Date.parse("0100-01-01T00:00:00.000Z");
/** The last time that a date-time can say in UTC; an offset can move one past it. */
const LATEST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** A time of a body that is stored in Postgres: one that comes out as it went in. */
export function storedTime(annotations: TSchemaOptions = {}): TString {
  return Type.Refine(
    Type.String({ ...annotations, format: "date-time" }),
    (value) => isStorable(String(value)),
    () => "is out of range",
  );
}

/** Also for what is no time at all: the format refuses that. */
function isStorable(text: string): boolean {
  const ms = Date.parse(text);
  // What is said of a millisecond beyond its third digit may be rounded up where it is stored.
  const storedMs = /\.\d{3}0*[1-9]/.test(text) ? ms + 1 : ms;
  return !(ms < EARLIEST_MS || storedMs > LATEST_MS);
}
