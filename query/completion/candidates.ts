import * as keywords from "./keywords.ts";
import type { Item } from "./place.ts";
import type { Completion, CompletionKind, CompletionVocabulary, NamedColumn } from "./vocabulary.ts";

/** What is known at the place of the cursor. */
export interface Known {
  readonly vocabulary: CompletionVocabulary;
  readonly columns: readonly NamedColumn[];
  /** Names made by `let`, in the order of the text. */
  readonly lets: readonly string[];
}

/** Operators that can begin a query. */
const SOURCES: ReadonlySet<string> = new Set(["print", "range", "union", "search"]);
/** Operators that only take names of columns, whose values are no expressions. */
const NAMES_ONLY: ReadonlySet<string> = new Set([
  "project-away",
  "project-keep",
  "project-reorder",
  "project-rename",
  "facet",
]);
/** Operators that take no value, or a number. */
const NO_VALUE: ReadonlySet<string> = new Set([
  "as",
  "take",
  "limit",
  "sample",
  "getschema",
  "consume",
  "count",
]);
const TABLE_OPERATORS: ReadonlySet<string> = new Set(["join", "lookup", "union"]);
const SORTING: ReadonlySet<string> = new Set(["sort", "order", "top"]);
const AGGREGATING: ReadonlySet<string> = new Set(["summarize", "make-series", "top-nested"]);

/** What can stand at the start of a query, or of a query in brackets. */
export function atStart(known: Known, isWhole: boolean): Completion[] {
  const operators = known.vocabulary.operators;
  const sources = plain(
    "operator",
    operators.filter((name) => SOURCES.has(name)),
  );
  if (!isWhole) return [...tables(known), ...sources];
  const rest = plain(
    "operator",
    operators.filter((name) => !SOURCES.has(name)),
  );
  return [...tables(known), ...values(known, false), ...sources, ...plain("keyword", ["let"]), ...rest];
}

export function operators({ vocabulary }: Known): Completion[] {
  return plain("operator", vocabulary.operators);
}

export function tables({ vocabulary, lets }: Known): Completion[] {
  return plain("table", [...(vocabulary.tables?.map(({ name }) => name) ?? []), ...lets]);
}

export function columns(of: readonly NamedColumn[]): Completion[] {
  return of.map(({ name, type }) => ({ kind: "column", label: name, insert: quoted(name), detail: type }));
}

export function plain(kind: CompletionKind, labels: readonly string[]): Completion[] {
  return labels.map((label) => ({ kind, label, insert: label, detail: null }));
}

/** Columns, functions and names of `let`. */
export function values(known: Known, isAggregating: boolean): Completion[] {
  const call = (kind: CompletionKind, names: readonly string[]): Completion[] =>
    names.map((label) => ({ kind, label, insert: `${label}(`, detail: null }));
  const aggregates = isAggregating ? call("aggregate", known.vocabulary.aggregates ?? []) : [];
  return [
    ...aggregates,
    ...columns(known.columns),
    ...call("function", known.vocabulary.functions),
    ...plain("value", [...known.lets, "true", "false"]),
  ];
}

/** What can follow a value in an expression. */
export function afterValue(known: Known, items: readonly Item[]): Completion[] {
  const junctions = plain("keyword", keywords.JUNCTIONS);
  if (isCompared(items)) return junctions;
  const type = known.columns.find(({ name }) => name === items.at(-1)?.text)?.type ?? "string";
  const isText = type === "string" || type === "dynamic";
  return [...plain("keyword", isText ? keywords.TEXT_COMPARISONS : keywords.COMPARISONS), ...junctions];
}

/** True when the value at the end is the right side of a comparison. */
function isCompared(items: readonly Item[]): boolean {
  const operator = items.at(-2)?.text ?? "";
  return (
    keywords.TEXT_COMPARISONS.includes(operator) ||
    keywords.COMPARISONS.includes(operator) ||
    operator === "regex"
  );
}

/** True when the item ends a value, so that no other can follow at once. */
export function endsValue(item: Item | undefined): boolean {
  if (item === undefined || item.kind === "unknown") return false;
  if (item.kind === "symbol") return item.text === "*";
  return item.kind !== "name" || !keywords.VALUE_FOLLOWS.has(item.text);
}

/** What can stand behind an operator's name and what is written of it. */
export function inOperator(name: string, items: readonly Item[], known: Known): Completion[] {
  const last = items.at(-1);
  const before = items.at(-2);
  if (last?.text === "=" && before?.text === "kind") return plain("value", keywords.KINDS[name] ?? []);
  const clause = items.findLast(({ kind, text }) => kind === "name" && isClause(name, text))?.text ?? null;
  const words = clausesBehind(name, clause);
  if (last === undefined) return firstOperand(name, known);
  if (name === "render") return items.length === 1 ? plain("keyword", ["with"]) : [];
  if (!endsValue(last)) return operand(name, clause, known);
  const directions = SORTING.has(name) && clause === "by" ? directionsBehind(last) : [];
  const isNamesOnly = NAMES_ONLY.has(name) || NO_VALUE.has(name) || TABLE_OPERATORS.has(name);
  const rest = isNamesOnly ? [] : afterValue(known, items);
  return [...plain("keyword", [...directions, ...words]), ...rest];
}

function directionsBehind({ text }: Item): string[] {
  if (text === "nulls") return ["first", "last"];
  return text === "asc" || text === "desc" ? ["nulls first", "nulls last"] : ["asc", "desc"];
}

function firstOperand(name: string, known: Known): Completion[] {
  const parameters = plain("keyword", keywords.PARAMETERS[name] ?? []);
  if (name === "render") return plain("value", keywords.CHARTS);
  if (keywords.CLAUSE_FIRST.has(name)) return plain("keyword", (keywords.CLAUSES[name] ?? []).slice(0, 1));
  const by = name === "summarize" ? plain("keyword", ["by"]) : [];
  return [...operand(name, null, known), ...by, ...parameters];
}

/** A value, a column or a table, whichever the operator takes in this clause. */
function operand(name: string, clause: string | null, known: Known): Completion[] {
  if (TABLE_OPERATORS.has(name) && clause === null) return tables(known);
  if (TABLE_OPERATORS.has(name)) return [...columns(known.columns), ...plain("keyword", ["$left", "$right"])];
  if (NO_VALUE.has(name) || clause === "as") return [];
  if (NAMES_ONLY.has(name)) return columns(known.columns);
  const isAggregate = AGGREGATING.has(name) && (name === "top-nested" ? clause === "by" : clause === null);
  return values(known, isAggregate);
}

function isClause(name: string, text: string): boolean {
  return (keywords.CLAUSES[name] ?? []).some((clause) => clause.split(" ")[0] === text);
}

function clausesBehind(name: string, clause: string | null): string[] {
  const all = keywords.CLAUSES[name] ?? [];
  return all.slice(all.findIndex((words) => words.split(" ")[0] === clause) + 1);
}

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

function quoted(name: string): string {
  return PLAIN_NAME.test(name) && !keywords.VALUE_FOLLOWS.has(name)
    ? name
    : `['${name.replace(/[\\']/g, "\\$&")}']`;
}
