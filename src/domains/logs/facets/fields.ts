import { keep } from "../../../../query/index.ts";
import { ThreadSlice } from "../../../concurrency/thread-turns.ts";
import { judgesRowsApart } from "../../../kql/relation-conditions.ts";
import {
  FIELD_EXAMPLE_MAX_CHARS,
  FIELD_EXAMPLES,
  FIELDS_MAX_ATTRIBUTES,
  FIELDS_SAMPLE_ENTRIES,
  FIELDS_SAMPLE_MAX_BYTES,
} from "../limits.ts";
import { readPage } from "../page.ts";
import type { ReadDependencies } from "../read-logs.ts";
import { pagePlan } from "../search-plans.ts";
import { selectionOf } from "../selection.ts";
import type { LogSelection } from "../store.ts";
import type { FieldParameters, Fields } from "./types.ts";

type Field = Fields["fields"][number];

/** What `readPage` knows the order of entries by. */
const POSITION_COLUMNS = ["id", "ts"];
const SAMPLED_COLUMNS = ["level", "service", "source", "host", "event_id", "traceId", "spanId"];
/** Every entry has them, and their values help nobody. */
const CONSTANT_COLUMNS = [
  { name: "ts", type: "datetime" },
  { name: "id", type: "long" },
  { name: "receivedAt", type: "datetime" },
  { name: "message", type: "string" },
];

/** The columns of entries and the attributes that the newest of those that match have. */
export async function readFields(deps: ReadDependencies, parameters: FieldParameters): Promise<Fields> {
  return sampleFields(deps, await selectionOf(deps, deps.logs.caller.organizationId, parameters));
}

/** Columns first, then attributes, the most frequent first. */
export async function sampleFields(
  deps: ReadDependencies,
  { filter, timeRange }: LogSelection,
): Promise<Fields> {
  const page = pagePlan(filter, null, FIELDS_SAMPLE_ENTRIES);
  const { rows, count } = await readPage(deps.logs, {
    operation: "fields",
    plan: keep(page, [...POSITION_COLUMNS, ...SAMPLED_COLUMNS, "attrs"]),
    timeRange,
    maxRows: FIELDS_SAMPLE_ENTRIES,
    budget: deps.budget,
    maxEntries: FIELDS_SAMPLE_ENTRIES,
    order: "newestFirst",
    judgesApart: judgesRowsApart(filter.query ?? null),
    maxBytes: FIELDS_SAMPLE_MAX_BYTES,
  });
  const columns = SAMPLED_COLUMNS.map((name) => new FieldTally(name));
  const attributes = new Map<string, FieldTally>();
  const slice = new ThreadSlice();
  for (const [, , ...row] of rows) {
    if (slice.isOver) await slice.yield();
    for (const [i, column] of columns.entries()) {
      const value = String(row[i] ?? "");
      if (value !== "") column.add("string", value);
    }
    for (const [key, type, text] of attributesOf(row[SAMPLED_COLUMNS.length])) {
      const tally = attributes.get(key) ?? new FieldTally(key);
      attributes.set(key, tally);
      tally.add(type, text);
    }
  }
  const constant = CONSTANT_COLUMNS.map(({ name, type }): Field => {
    const share = count === 0 ? 0 : 1;
    return { name, kind: "column", types: [type], count: count, share, examples: [], hasColumn: true };
  });
  const frequent = [...attributes.values()]
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .slice(0, FIELDS_MAX_ATTRIBUTES);
  return {
    fields: [
      ...constant,
      ...columns.map((tally) => tally.field("column", count, true)),
      ...frequent.map((tally) => tally.field("attribute", count, deps.logs.hasColumn(tally.name))),
    ],
    sampledEntries: count,
  };
}

/** What was seen of one field. */
class FieldTally {
  readonly name: string;
  readonly #types = new Set<string>();
  readonly #examples = new Set<string>();
  #count = 0;

  constructor(name: string) {
    this.name = name;
  }

  get count(): number {
    return this.#count;
  }

  add(type: string, value: string): void {
    this.#count++;
    this.#types.add(type);
    if (this.#examples.size < FIELD_EXAMPLES)
      this.#examples.add(value.slice(0, FIELD_EXAMPLE_MAX_CHARS).toWellFormed());
  }

  field(kind: Field["kind"], entries: number, hasColumn: boolean): Field {
    return {
      name: this.name,
      kind,
      types: kind === "column" ? ["string"] : [...this.#types].sort(),
      count: this.#count,
      share: entries === 0 ? 0 : this.#count / entries,
      examples: [...this.#examples],
      hasColumn,
    };
  }
}

/** Key, JSON type and text of each attribute of a bag in its wire format. */
function attributesOf(bag: unknown): [key: string, type: string, text: string][] {
  if (!Array.isArray(bag)) throw new TypeError("a row of the log store has no attributes");
  const [keys, texts, jsonKeys] = bag.map((part: unknown) => (Array.isArray(part) ? part.map(String) : []));
  if (keys === undefined || texts === undefined || jsonKeys === undefined)
    throw new TypeError("a row of the log store has no attributes");
  const isJson = new Set(jsonKeys);
  return keys.map((key, i) => {
    const text = texts[i] ?? "";
    if (!isJson.has(key)) return [key, "string", text];
    return text === "" ? [key, "null", "null"] : [key, jsonTypeOf(text), text];
  });
}

function jsonTypeOf(json: string): string {
  switch (json.charAt(0)) {
    case "{":
      return "object";
    case "[":
      return "array";
    case "t":
    case "f":
      return "boolean";
    case '"':
      return "string";
    default:
      return "number";
  }
}
