import {
  aggregate,
  aggregateCall,
  call,
  countsPerValue,
  filteredLogs,
  type LogFilter,
  literal,
  type Relation,
} from "../../../../query/index.ts";
import { validationFailed } from "../../../http/validate.ts";
import { fieldText } from "../field-name.ts";
import {
  FACET_DEFAULT_ATTRIBUTES,
  FACET_DEFAULT_VALUES,
  FACETS_MAX_FIELDS,
  FIELD_NAME_MAX_CHARS,
} from "../limits.ts";
import { type ReadContext, type ReadDependencies, readLogs } from "../read-logs.ts";
import { readSelection } from "../selection.ts";
import type { LogSelection } from "../store.ts";
import { sampleFields } from "./fields.ts";
import type { FacetParameters, FacetsAnswer } from "./types.ts";

const DEFAULT_FIELDS = ["level", "service", "source", "host"];

/**
 * The most frequent values of some fields with exact counts, all of one moment: one statement counts every value of
 * every field. What that takes is bounded by the statement's memory; beyond it the answer is QUERY_TOO_EXPENSIVE.
 */
export async function readFacets(
  deps: ReadDependencies,
  context: ReadContext,
  { fields, limit, ...parameters }: FacetParameters,
): Promise<FacetsAnswer> {
  const selection = readSelection(parameters, deps.now());
  const names = fields === undefined ? await defaultFields(deps, context, selection) : namesIn(fields);
  const { rows } = await readLogs(deps, context, {
    operation: "facets",
    // One value more: that of entries without the field.
    plan: facetsPlan(selection.filter, names, (limit ?? FACET_DEFAULT_VALUES) + 1),
    timeRange: selection.timeRange,
    maxRows: 1,
  });
  const cells = rows[0] ?? [];
  const total = Number(cells[0] ?? 0);
  const facets = names.map((field, i) => {
    const present = Number(cells[1 + 2 * i] ?? 0);
    const values = readCounts(cells[2 + 2 * i])
      .filter(({ value }) => value !== "")
      .slice(0, limit ?? FACET_DEFAULT_VALUES);
    const listed = values.reduce((sum, { count }) => sum + count, 0);
    return { field, values, other: present - listed, missing: total - present };
  });
  return { facets, total };
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

async function defaultFields(
  deps: ReadDependencies,
  context: ReadContext,
  selection: LogSelection,
): Promise<string[]> {
  const { fields } = await sampleFields(deps, context, selection);
  const attributes = fields.filter(({ kind }) => kind === "attribute").slice(0, FACET_DEFAULT_ATTRIBUTES);
  return [...DEFAULT_FIELDS, ...attributes.map(({ name }) => name)];
}

/** One row: the entries, and for each field those that have it and the most frequent values. */
function facetsPlan(filter: LogFilter, names: readonly string[], maxValues: number): Relation {
  const logs = filteredLogs(filter);
  const perField = names.flatMap((name, i) => {
    const value = fieldText(logs, name);
    return [
      aggregateCall(`present${i}`, "countif", call("notEqual", value, literal("string", ""))),
      countsPerValue(`values${i}`, value, maxValues),
    ];
  });
  return aggregate(logs, [], [aggregateCall("total", "count"), ...perField]);
}

/** `[["info", 2], ["error", 1]]`. */
function readCounts(json: unknown): { value: string; count: number }[] {
  const pairs: unknown = typeof json === "string" ? JSON.parse(json) : null;
  if (!Array.isArray(pairs)) throw new TypeError("the log store answered in another format");
  return pairs.map(([value, count]: [unknown, unknown]) => ({ value: String(value), count: Number(count) }));
}
