import type { Call, Expression } from "../expression.ts";
import type { SearchCondition } from "../search-syntax.ts";
import { compile } from "./predicate.ts";
import { type Evaluate, type MatchRow, Undecided } from "./row.ts";
import { TEXT_OPERATORS } from "./text-operators.ts";

/** What an attribute holds; null for nothing. */
type Attribute = ReturnType<MatchRow["attribute"]>;

/** Whether a value fulfils conditions; null when only the store can tell. */
type Holds<T> = (value: T) => boolean | null;

/**
 * What every row that fulfils conditions fulfils as well, in a form that is decided for many rows at once: by one look
 * for the terms in all messages, and by one evaluation for each distinct text of a column or an attribute.
 */
export type RowBound =
  /** Of the message. */
  | { readonly kind: "message"; readonly condition: SearchCondition; readonly isExact: boolean }
  | { readonly kind: "column"; readonly column: IndexedColumn; readonly holds: Holds<string> }
  /** Of the attribute of the key alone: rows that have an attribute of a key in `others` are left to the store. */
  | {
      readonly kind: "attribute";
      readonly key: string;
      readonly others: readonly string[];
      readonly holds: Holds<Attribute>;
    }
  | { readonly kind: "all" | "any"; readonly operands: readonly RowBound[]; readonly isExact: boolean };

/** Texts of a column of which a condition remembers whether they fulfil it. */
const REMEMBERED_MAX = 1_000;

/** Of terms that no search text holds. */
const NOWHERE = { start: 0, end: 0 };

/** Columns of few distinct texts. */
const INDEXED_COLUMNS = ["level", "service", "source", "host"] as const;
type IndexedColumn = (typeof INDEXED_COLUMNS)[number];

/** Whether a column has few distinct texts, each of them in many rows. */
export function isIndexed(name: string): boolean {
  return INDEXED_COLUMNS.some((indexed) => indexed === name);
}

/** The bound of all conditions together; null when there is none. */
export function rowBound(conditions: readonly Expression[]): RowBound | null {
  return boundOfAll(conditions);
}

/** All terms that are looked for in messages. */
export function messageConditions(bound: RowBound): SearchCondition[] {
  if (bound.kind === "message") return [bound.condition];
  return bound.kind === "all" || bound.kind === "any" ? bound.operands.flatMap(messageConditions) : [];
}

function boundOf(expression: Expression): RowBound | null {
  if (expression.kind !== "call") return null;
  if (expression.name === "and") return boundOfAll(expression.operands);
  if (expression.name === "or") return boundOfAny(expression.operands);
  return boundOfMessage(expression) ?? boundOfColumn(expression) ?? boundOfAttribute(expression);
}

function boundOfAll(expressions: readonly Expression[]): RowBound | null {
  const bounds = expressions.map(boundOf);
  const operands = bounds.filter((bound) => bound !== null);
  return operands.length === 0 ? null : { kind: "all", operands, isExact: operands.length === bounds.length };
}

function boundOfAny(expressions: readonly Expression[]): RowBound | null {
  const operands = expressions.map(boundOf).filter((bound) => bound !== null);
  return operands.length === expressions.length ? { kind: "any", operands, isExact: true } : null;
}

/** Whatever else they ask: a text that equals, begins with or has a term holds the term, whatever the case. */
function boundOfMessage({ name, operands: [first, second, ...rest] }: Call): RowBound | null {
  if (name === "negation" && first?.kind === "call") return without(boundOfMessage(first));
  if (first?.kind !== "column" || first.name !== "message" || rest.length > 0) return null;
  if (second?.kind !== "literal" || second.type !== "string" || second.value === null) return null;
  if (name !== "equal" && !TEXT_OPERATORS.has(name)) return null;
  const text = second.value.toWellFormed();
  return { kind: "message", condition: { kind: "text", text, span: NOWHERE }, isExact: name === "contains" };
}

function without(bound: RowBound | null): RowBound | null {
  if (bound?.kind !== "message" || !bound.isExact) return null;
  return { ...bound, condition: { kind: "not", operand: bound.condition } };
}

function boundOfColumn(call: Call): RowBound | null {
  const names = columnsIn(call);
  const [name] = names;
  const column = INDEXED_COLUMNS.find((indexed) => indexed === name);
  if (names.size !== 1 || column === undefined || pathsOf(call).length > 0) return null;
  const evaluate = compile(call);
  if (evaluate === null) return null;
  return {
    kind: "column",
    column,
    holds: remembering((text) => decide(evaluate, { ...NOTHING, text: () => text })),
  };
}

/** What it answered for the texts of late: names come again in every batch. Forgets all when there are too many. */
function remembering(holds: Holds<string>): Holds<string> {
  const known = new Map<string, boolean | null>();
  return (text) => {
    let answer = known.get(text);
    if (answer !== undefined) return answer;
    answer = holds(text);
    if (known.size >= REMEMBERED_MAX) known.clear();
    known.set(text, answer);
    return answer;
  };
}

function boundOfAttribute(call: Call): RowBound | null {
  const paths = pathsOf(call);
  const key = paths[0]?.join(".") ?? "";
  if (columnsIn(call).size > 0 || paths.length === 0 || paths.some((path) => path.join(".") !== key))
    return null;
  const evaluate = compile(call);
  if (evaluate === null) return null;
  const holds = (attribute: Attribute): boolean | null =>
    decide(evaluate, { ...NOTHING, attribute: (asked) => (asked === key ? attribute : null) });
  const others = paths.flatMap((path) => path.slice(1).map((_, i) => path.slice(0, i + 1).join(".")));
  return { kind: "attribute", key, others: [...new Set(others)], holds };
}

/** A row of which nothing is asked. */
const NOTHING: MatchRow = { text: () => "", integer: () => 0n, attribute: () => null };

function decide(evaluate: Evaluate, row: MatchRow): boolean | null {
  try {
    return evaluate(row) === true;
  } catch (error) {
    if (error instanceof Undecided) return null;
    throw error;
  }
}

/** The columns that an expression is evaluated over, without attributes. */
export function columnsIn(expression: Expression): Set<string> {
  if (expression.kind === "column") return new Set([expression.name]);
  if (expression.kind !== "call") return new Set();
  return new Set(expression.operands.flatMap((operand) => [...columnsIn(operand)]));
}

function pathsOf(expression: Expression): (readonly string[])[] {
  if (expression.kind === "attribute") return [expression.path];
  return expression.kind === "call" ? expression.operands.flatMap(pathsOf) : [];
}
