import type { JsonObject } from "../decode/json-body.ts";
import type { FieldMapping } from "./mapping.ts";
import { parsePath } from "./path.ts";
import type { Place, Places } from "./places.ts";
import { scalarText } from "./value-text.ts";

/** What a field's mapping finds in a record. */
interface FoundValue {
  /** Undefined when there is nothing. */
  readonly value: unknown;
  /** Notes that the value has been written and is not among what remains. */
  readonly use: () => void;
}

export type ReadField = (record: JsonObject) => FoundValue;

const NOT_OF_THE_RECORD = (): void => {};
const NOTHING: FoundValue = { value: undefined, use: NOT_OF_THE_RECORD };

/** Reads what `from`, or else `fromDefault`, leads to; what `isThere` denies counts as not there. */
export function compilePaths(
  paths: Pick<FieldMapping, "from" | "fromDefault">,
  places: Places,
  isThere: (value: unknown) => boolean,
): (record: JsonObject) => { value: unknown; place: Place } | null {
  const readable = [paths.from, paths.fromDefault].flatMap((path) => {
    const segments = path === undefined ? null : parsePath(path);
    return segments === null ? [] : [places.add(segments)];
  });
  return (record) => {
    for (const place of readable) {
      const value = place.find(record);
      if (isThere(value)) return { value, place };
    }
    return null;
  };
}

/** Reads a field: its constant, else what its paths lead to, translated, else its default. */
export function compileField(
  mapping: FieldMapping,
  places: Places,
  isThere: (value: unknown) => boolean,
): ReadField {
  if (mapping.const !== undefined) {
    const constant: FoundValue = { value: mapping.const, use: NOT_OF_THE_RECORD };
    return () => constant;
  }
  const read = compilePaths(mapping, places, isThere);
  const translate = compileTranslation(mapping);
  const otherwise: FoundValue =
    mapping.default === undefined ? NOTHING : { value: mapping.default, use: NOT_OF_THE_RECORD };
  return (record) => {
    const found = read(record);
    if (found === null) return otherwise;
    const { value, place } = found;
    return { value: translate(value), use: () => place.use() };
  };
}

/** Lower case first, then the table; what has no text, such as an object, stays as it is. */
function compileTranslation({ map, lowercase }: FieldMapping): (value: unknown) => unknown {
  if (map === undefined && lowercase !== true) return (value) => value;
  const table = new Map(
    Object.entries(map ?? {}).map(([from, to]) => [lowercase === true ? from.toLowerCase() : from, to]),
  );
  return (value) => {
    const text = scalarText(value);
    if (text === null) return value;
    const cased = lowercase === true ? text.toLowerCase() : text;
    const translated = table.get(cased);
    if (translated !== undefined) return translated;
    return lowercase === true && typeof value === "string" ? cased : value;
  };
}
