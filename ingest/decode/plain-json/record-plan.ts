import { INSTANT, scaleIn } from "../../record/json-record.ts";
import {
  type KnownKey,
  knownInside,
  knownKey,
  type LevelScale,
  type RecordField,
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
  /** The position of the value of the record's own member `message`, -1 when there is none. */
  readonly message: number;
  /** That member is an object. */
  readonly hasMessageObject: boolean;
}

interface Known {
  readonly known: KnownKey;
  readonly value: number;
}

const encoder = new TextEncoder();
const FIELDS = Object.keys(FIELD_BITS).filter((name): name is RecordField => Object.hasOwn(FIELD_BITS, name));

/** The plan for records with these values; null where an object as a whole may say a field. */
export function planRecord(paths: readonly MemberPath[]): RecordPlan | null {
  if (paths.some(isInsideTime)) return null;
  const isGelf = paths.some(([name]) => name === "short_message");
  const all = paths.flatMap((path, value): Known[] => {
    const known = knownAt(path);
    return known === undefined ? [] : [{ known, value }];
  });
  const fields = FIELDS.map((field) => ({
    field,
    bit: FIELD_BITS[field],
    candidates: all
      .filter(({ known }) => known.field === field)
      .sort((a, b) => a.known.rank - b.known.rank)
      .map(({ known, value }) => ({ value, scale: scaleIn(known, isGelf) })),
  }));
  return {
    names: paths.map((path) => encoder.encode(path.join("."))),
    fields: fields.filter(({ candidates }) => candidates.length > 0),
    message: paths.findIndex(([name, ...inner]) => name === "message" && inner.length === 0),
    hasMessageObject: paths.some(([name, ...inner]) => name === "message" && inner.length > 0),
  };
}

function knownAt([name = "", inner, ...deeper]: MemberPath): KnownKey | undefined {
  if (inner === undefined) return knownKey(name);
  return deeper.length > 0 ? undefined : knownInside(name)?.(inner);
}

/** Some loggers write the time as an object. */
function isInsideTime([name = "", inner, ...deeper]: MemberPath): boolean {
  if (inner === undefined) return false;
  return name === INSTANT || (deeper.length > 0 && knownInside(name)?.(inner)?.field === "time");
}
