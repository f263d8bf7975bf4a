import { attribute, call, columnOf, type Expression, type Relation } from "../../../query/index.ts";

const ATTRIBUTE_PREFIX = "attrs.";

/** Columns of an entry that a text names; anything else is the name of an attribute. */
const TEXT_COLUMNS: ReadonlySet<string> = new Set([
  "level",
  "service",
  "source",
  "host",
  "message",
  "event_id",
  "traceId",
  "spanId",
]);

/** The text of a field of an entry, empty where it has none: a column, or an attribute, which `attrs.` may precede. */
export function fieldText(logs: Relation, name: string): Expression {
  if (TEXT_COLUMNS.has(name)) return columnOf(logs, name);
  const key = name.startsWith(ATTRIBUTE_PREFIX) ? name.slice(ATTRIBUTE_PREFIX.length) : name;
  return call("tostring", attribute("attrs", ...key.split(".")));
}
