import { INSTANT } from "../../record/json-record.ts";
import {
  dialectOf,
  type KnownKey,
  knownIn,
  knownInside,
  type LevelScale,
  type RecordDialect,
  type RecordField,
  scaleIn,
} from "../../record/json-record-keys.ts";
import type { MemberPath } from "./shape-table.ts";

/** A bit for each field, to note which are written. */
export const FIELD_BITS: Readonly<Record<RecordField, number>> = {
  time: 1,
  level: 2,
  message: 4,
  service: 8,
  source: 16,
  host: 32,
  traceId: 64,
  spanId: 128,
  logger: 256,
};

/** A value that may say a field. */
interface FieldCandidate {
  /** Its position among the record's values. */
  readonly value: number;
  readonly scale: LevelScale;
}

interface PlannedField {
  readonly field: RecordField;
  readonly bit: number;
  /** Best first. */
  readonly candidates: readonly FieldCandidate[];
}

/** What the names of a record say about its values, as `writeJsonRecord` reads them. */
export interface RecordPlan {
  /** The names of the values as attributes, UTF-8. */
  readonly names: readonly Uint8Array[];
  readonly fields: readonly PlannedField[];
  /** The positions of the values of the record's own members that may hold an object or the text of one. */
  readonly lines: readonly number[];
  /** One of them is an object. */
  readonly hasLineObject: boolean;
}

/** Members of an event in which what was logged may stand as an object, or as the text of one. */
export const LINE_MEMBERS = ["message", "line"] as const;

interface Known {
  readonly known: KnownKey;
  readonly value: number;
}

const encoder = new TextEncoder();
const FIELDS = Object.keys(FIELD_BITS).filter((name): name is RecordField => Object.hasOwn(FIELD_BITS, name));

/** The plan for records with these values; null where an object as a whole may say a field. */
export function planRecord(paths: readonly MemberPath[]): RecordPlan | null {
  if (paths.some(isInsideTime)) return null;
  const dialect = dialectOf((key) => paths.some(([name]) => name === key));
  const all = paths.flatMap((path, value): Known[] => {
    const known = knownAt(path, dialect);
    return known === undefined ? [] : [{ known, value }];
  });
  const fields = FIELDS.map((field) => ({
    field,
    bit: FIELD_BITS[field],
    candidates: all
      .filter(({ known }) => known.field === field)
      .sort((a, b) => a.known.rank - b.known.rank)
      .map(({ known, value }) => ({ value, scale: scaleIn(known, dialect) })),
  }));
  return {
    names: paths.map((path) => encoder.encode(path.join("."))),
    fields: fields.filter(({ candidates }) => candidates.length > 0),
    lines: paths.flatMap(([name, ...inner], value) => (isLine(name) && inner.length === 0 ? [value] : [])),
    hasLineObject: paths.some(([name, ...inner]) => isLine(name) && inner.length > 0),
  };
}

function isLine(name: string | undefined): boolean {
  return LINE_MEMBERS.some((line) => line === name);
}

function knownAt([name = "", inner, ...deeper]: MemberPath, dialect: RecordDialect): KnownKey | undefined {
  if (inner === undefined) return knownIn(name, dialect);
  return deeper.length > 0 ? undefined : knownInside(name)?.(inner);
}

/** Some loggers write the time as an object. */
function isInsideTime([name = "", inner, ...deeper]: MemberPath): boolean {
  if (inner === undefined) return false;
  return name === INSTANT || (deeper.length > 0 && knownInside(name)?.(inner)?.field === "time");
}
