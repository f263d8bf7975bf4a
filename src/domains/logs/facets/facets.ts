import {
  aggregate,
  aggregateCall,
  call,
  columnOf,
  extend,
  filteredLogs,
  keep,
  type LogFilter,
  literal,
  mostFrequent,
  type Relation,
  union,
} from "../../../../query/index.ts";
import { validationFailed } from "../../../errors.ts";
import { fieldText } from "../field-name.ts";
import {
  FACET_DEFAULT_ATTRIBUTES,
  FACET_DEFAULT_VALUES,
  FACETS_MAX_FIELDS,
  FIELD_NAME_MAX_CHARS,
} from "../limits.ts";
import { type ReadDependencies, readLogs } from "../read-logs.ts";
import { selectionOf } from "../selection.ts";
import type { LogSelection } from "../store.ts";
import { sampleFields } from "./fields.ts";
import type { FacetParameters, Facets } from "./types.ts";

const DEFAULT_FIELDS = ["level", "service", "source", "host"];

/**
 * The most frequent values of some fields with exact counts: one statement counts every value of every field, each in
 * a pass that reads what it needs. What that takes is bounded by the statement's memory; beyond it the answer is QUERY_TOO_EXPENSIVE.
 */
export async function readFacets(
  deps: ReadDependencies,
  { fields, limit, ...parameters }: FacetParameters,
): Promise<Facets> {
  const selection = await selectionOf(deps, deps.logs.caller.organizationId, parameters);
  const names = fields === undefined ? await defaultFields(deps, selection) : namesIn(fields);
  const { rows } = await readLogs(deps, {
    operation: "facets",
    // One value more: that of entries without the field.
    plan: facetsPlan(selection.filter, names, (limit ?? FACET_DEFAULT_VALUES) + 1),
    timeRange: selection.timeRange,
    maxRows: names.length,
  });
  const counted = new Map(rows.map(([index, ...cells]) => [Number(index), cells]));
  const facets = names.map((field, i) => {
    const [entries, present, frequent] = counted.get(i) ?? [];
    const values = readCounts(frequent)
      .filter(({ value }) => value !== "")
      .slice(0, limit ?? FACET_DEFAULT_VALUES);
    const listed = values.reduce((sum, { count }) => sum + count, 0);
    const total = Number(entries ?? 0);
    return {
      total,
      facet: { field, values, other: Number(present ?? 0) - listed, missing: total - Number(present ?? 0) },
    };
  });
  // Passes that begin at different moments may see a few entries more; each facet is right in itself.
  return {
    facets: facets.map(({ facet }) => facet),
    total: Math.max(0, ...facets.map(({ total }) => total)),
  };
}

function namesIn(fields: string): string[] {
  const names = [...new Set(fields.split(",").map((name) => name.trim()))];
  if (names.length > FACETS_MAX_FIELDS)
    throw validationFailed([
      { path: "/fields", code: "too_big", message: `names more than ${FACETS_MAX_FIELDS} fields` },
    ]);
  if (names.some((name) => name === "" || name.length > FIELD_NAME_MAX_CHARS))
    throw validationFailed([
      { path: "/fields", code: "invalid_string", message: "has a part that is no name" },
    ]);
  return names;
}

async function defaultFields(deps: ReadDependencies, selection: LogSelection): Promise<string[]> {
  const { fields } = await sampleFields(deps, selection);
  const attributes = fields.filter(({ kind }) => kind === "attribute").slice(0, FACET_DEFAULT_ATTRIBUTES);
  return [...DEFAULT_FIELDS, ...attributes.map(({ name }) => name)];
}

/** A row for each field: its number, the entries, those that have it, and the most frequent values. */
function facetsPlan(filter: LogFilter, names: readonly string[], maxValues: number): Relation {
  const logs = filteredLogs(filter);
  return union(
    names.map((name, i) => {
      const counts = aggregate(
        logs,
        [{ name: "value", expression: fieldText(logs, name) }],
        [aggregateCall("entries", "count")],
      );
      const value = columnOf(counts, "value");
      const entries = columnOf(counts, "entries");
      const facet = aggregate(
        counts,
        [],
        [
          aggregateCall("total", "sum", entries),
          aggregateCall("present", "sumif", entries, call("notEqual", value, literal("string", ""))),
          mostFrequent("values", value, entries, maxValues),
        ],
      );
      const numbered = extend(facet, [{ name: "field", expression: literal("long", BigInt(i)) }]);
      return keep(numbered, ["field", "total", "present", "values"]);
    }),
  );
}

/** `[["info", 2], ["error", 1]]`. */
function readCounts(json: unknown): { value: string; count: number }[] {
  const pairs: unknown = typeof json === "string" ? JSON.parse(json) : null;
  if (!Array.isArray(pairs)) throw new TypeError("the log store answered in another format");
  return pairs.map(([value, count]: [unknown, unknown]) => ({ value: String(value), count: Number(count) }));
}
