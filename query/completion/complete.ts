import type { Span } from "../span.ts";
import { parseQuery } from "../syntax/parser.ts";
import type { Expression, FunctionDeclaration } from "../syntax/tree.ts";
import * as candidates from "./candidates.ts";
import { ColumnFlow } from "./column-flow.ts";
import * as keywords from "./keywords.ts";
import { type Frame, findPlace, type Place } from "./place.ts";
import type { Completion, CompletionVocabulary, NamedColumn } from "./vocabulary.ts";

/** Completions of one place: more than anybody reads. */
const COMPLETIONS_MAX_COUNT = 200;

/** Functions and operators whose brackets hold a query. */
const QUERY_HOLDERS: ReadonlySet<string> = new Set(["toscalar", "totable", "materialize", "in"]);

export interface Completions {
  /** The best one first. */
  readonly items: readonly Completion[];
  /** What the chosen one replaces: UTF-16 offsets in the text. */
  readonly replace: Span;
}

/** What can be written at a position of a query text, which need not be complete or right. */
export function complete(text: string, position: number, vocabulary: CompletionVocabulary): Completions {
  const at = Math.max(0, Math.min(position, text.length));
  const place = findPlace(text, at);
  if (place === null) return { items: [], replace: { start: at, end: at } };
  return { items: ranked(candidatesAt(text, place, vocabulary), place.typed), replace: place.replace };
}

function candidatesAt(text: string, { frames }: Place, vocabulary: CompletionVocabulary): Completion[] {
  const lets = letsBefore(text, frames);
  const flow = new ColumnFlow(vocabulary, lets);
  const known = {
    vocabulary,
    columns: visibleColumns(text, frames, vocabulary, flow),
    lets: [...lets.keys()],
  };
  const [frame, parent] = [frames.at(-1), frames.at(-2)];
  if (frame === undefined) return [];
  const { items, pipe, caller } = frame;
  const last = items.at(-1);
  if (last?.text === ".") return sideColumns(text, frame, known.columns, flow);
  if (last?.text === ":" && items.at(-2)?.kind === "name" && isTypePlace(frame, parent))
    return candidates.plain("type", keywords.TYPES);
  if (caller === "typeof") return candidates.plain("type", keywords.TYPES);
  const [first] = items;
  const isOperator = first?.kind === "name" && vocabulary.operators.includes(first.text);
  if (isOperator && (pipe !== null || parent === undefined || isSubquery(frame, parent)))
    return candidates.inOperator(first.text, items.slice(1), known);
  if (first === undefined && pipe !== null) return candidates.operators(known);
  if (first === undefined) return atStart(frame, parent, known);
  if (candidates.endsValue(last)) return candidates.afterValue(known, items);
  return candidates.values(known, isAggregating(parent));
}

/** At the start of a text or bracket. */
function atStart(frame: Frame, parent: Frame | undefined, known: candidates.Known): Completion[] {
  if (parent === undefined || frame.statements.length > 0) return candidates.atStart(known, true);
  if (isSubquery(frame, parent)) return candidates.operators(known);
  const operator = parent.items[0]?.text ?? "";
  if (frame.caller === "with" && operator === "render")
    return candidates.plain("keyword", keywords.CHART_PROPERTIES);
  const isTable =
    ["join", "lookup", "union"].includes(operator) && !parent.items.some(({ text }) => text === "on");
  const isQuery = isTable || QUERY_HOLDERS.has(frame.caller ?? "");
  return isQuery ? candidates.atStart(known, false) : candidates.values(known, isAggregating(parent));
}

/** The brackets of `mv-apply ... on (` and `facet ... with (`, which hold operators alone. */
function isSubquery({ caller }: Frame, parent: Frame): boolean {
  const operator = parent.items[0]?.text;
  return (operator === "mv-apply" && caller === "on") || (operator === "facet" && caller === "with");
}

function isAggregating(parent: Frame | undefined): boolean {
  const operator = parent?.items[0]?.text;
  const isBehindBy = parent?.items.some(({ text }) => text === "by") ?? false;
  return (
    (operator === "summarize" || operator === "make-series") &&
    !isBehindBy &&
    parent?.items.at(-1)?.kind !== "name"
  );
}

/** Behind the colon of a declared column or parameter, and in the pattern of `parse`. */
function isTypePlace({ items }: Frame, parent: Frame | undefined): boolean {
  const operator = items[0]?.text;
  const isDeclared = parent !== undefined && (items.length === 2 || items.at(-3)?.text === ",");
  return operator === "parse" || operator === "parse-where" || isDeclared;
}

/** The names of `let` statements that are complete, of the whole text and of the functions around the cursor. */
function letsBefore(text: string, frames: readonly Frame[]): Map<string, Expression | FunctionDeclaration> {
  const lets = new Map<string, Expression | FunctionDeclaration>();
  for (const { start, end } of frames.flatMap(({ statements }) => statements)) {
    const { query } = parseQuery(`${text.slice(start, end)}; 0`);
    for (const statement of query?.statements ?? [])
      if (statement.kind === "let") lets.set(statement.name.name, statement.value);
  }
  return lets;
}

/** The columns in front of the operator that is being written, from the outermost query to the innermost. */
function visibleColumns(
  text: string,
  frames: readonly Frame[],
  vocabulary: CompletionVocabulary,
  flow: ColumnFlow,
): readonly NamedColumn[] {
  let columns = vocabulary.columns ?? [];
  for (const { start, pipe } of frames) {
    if (pipe === null) continue;
    const { query } = parseQuery(text.slice(start, pipe));
    if (query !== null) columns = flow.columnsOf(query.body, columns) ?? columns;
  }
  return columns;
}

/** Behind `$left.` and `$right.`; other paths lead into values whose parts nobody knows. */
function sideColumns(
  text: string,
  { items }: Frame,
  left: readonly NamedColumn[],
  flow: ColumnFlow,
): Completion[] {
  const side = items.at(-2)?.text;
  if (side === "$left") return candidates.columns(left);
  const table = items[items.findIndex(({ text: word }) => word === "on") - 1];
  if (side !== "$right" || table === undefined) return [];
  const { query } = parseQuery(text.slice(table.span.start, table.span.end));
  return query === null ? [] : candidates.columns(flow.columnsOf(query.body, []) ?? []);
}

/** Those that fit what is typed: from its start first, then inside; otherwise in the order they came. */
function ranked(all: readonly Completion[], typed: string): Completion[] {
  const seen = new Set<string>();
  return all
    .map((completion, order) => ({ completion, order, rank: rankOf(completion.label, typed) }))
    .filter(({ completion: { label }, rank }) => rank !== null && !seen.has(label) && seen.add(label))
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0) || a.order - b.order)
    .slice(0, COMPLETIONS_MAX_COUNT)
    .map(({ completion }) => completion);
}

/** The smaller the nearer; null for what does not fit. */
function rankOf(label: string, typed: string): number | null {
  if (label.startsWith(typed)) return 0;
  const [name, part] = [label.toLowerCase(), typed.toLowerCase()];
  if (name.startsWith(part)) return 1;
  if (name.split(/[-_. ]/).some((piece) => piece.startsWith(part))) return 2;
  return name.includes(part) ? 3 : null;
}
