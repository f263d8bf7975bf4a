import type { Expression } from "../expression.ts";
import { extend, join, limit } from "../plan/build.ts";
import type { Join, JoinKind, Relation } from "../plan/relation.ts";
import { isNumeric } from "../scalar-type.ts";
import type * as syntax from "../syntax/tree.ts";
import { keyOf } from "./assign.ts";
import { UniqueNames } from "./column-names.ts";
import { convert } from "./conversion.ts";
import type { Environment } from "./environment.ts";
import { ExpressionContext } from "./expression-context.ts";
import { refuse } from "./refusal.ts";

interface KeyPair {
  readonly left: Expression;
  readonly right: Expression;
}

const KINDS: ReadonlyMap<
  string,
  { readonly joinKind: JoinKind; readonly isSwapped: boolean; readonly isUnique: boolean }
> = new Map([
  ["innerunique", { joinKind: "inner", isSwapped: false, isUnique: true }],
  ["inner", { joinKind: "inner", isSwapped: false, isUnique: false }],
  ["leftouter", { joinKind: "left", isSwapped: false, isUnique: false }],
  ["rightouter", { joinKind: "right", isSwapped: false, isUnique: false }],
  ["fullouter", { joinKind: "full", isSwapped: false, isUnique: false }],
  ["leftsemi", { joinKind: "leftSemi", isSwapped: false, isUnique: false }],
  ["rightsemi", { joinKind: "leftSemi", isSwapped: true, isUnique: false }],
  ["leftanti", { joinKind: "leftAnti", isSwapped: false, isUnique: false }],
  ["anti", { joinKind: "leftAnti", isSwapped: false, isUnique: false }],
  ["leftantisemi", { joinKind: "leftAnti", isSwapped: false, isUnique: false }],
  ["rightanti", { joinKind: "leftAnti", isSwapped: true, isUnique: false }],
  ["rightantisemi", { joinKind: "leftAnti", isSwapped: true, isUnique: false }],
]);

/** join and lookup. Null keys meet null keys; without a kind a join takes one row of each key on the left. */
export function bindJoin(input: Relation, operator: syntax.JoinOperator, environment: Environment): Relation {
  const other = environment.table(operator.right);
  const kind = kindOf(operator);
  if (operator.on.length === 0)
    return refuse("SYNTAX", `${operator.kind} needs on: the columns that must agree.`, operator.span);
  const pairs = operator.on.flatMap((condition) => bindPairs(condition, input, other, environment));
  const left = withKeys(
    input,
    pairs.map((pair) => pair.left),
    "$left",
  );
  const right = withKeys(
    other,
    pairs.map((pair) => pair.right),
    "$right",
  );
  const on = pairs.map((_, i) => ({ left: `$left${i}`, right: `$right${i}` }));
  if (kind.joinKind === "leftSemi" || kind.joinKind === "leftAnti") {
    const [kept, looked] = kind.isSwapped ? [right, left] : [left, right];
    const names = kind.isSwapped ? other : input;
    const swapped = kind.isSwapped ? on.map((pair) => ({ left: pair.right, right: pair.left })) : on;
    return join({
      joinKind: kind.joinKind,
      left: kept,
      right: looked,
      on: swapped,
      leftNames: identity(names),
      rightNames: new Map(),
    });
  }
  const unique = kind.isUnique
    ? limit(
        left,
        1,
        on.map((pair) => pair.left),
      )
    : left;
  return combined(kind.joinKind, { input, other, unique, right, on, pairs }, operator);
}

function kindOf(operator: syntax.JoinOperator) {
  const parameter = operator.parameters.find(({ name }) => name.name === "kind");
  const fallback = operator.kind === "lookup" ? "leftouter" : "innerunique";
  const name =
    parameter?.value.kind === "name" ? parameter.value.name : parameter === undefined ? fallback : "";
  const kind = KINDS.get(name);
  const isKnown =
    kind !== undefined && (operator.kind === "join" || name === "leftouter" || name === "inner");
  if (!isKnown)
    return refuse(
      "UNSUPPORTED",
      `${operator.kind} has no kind ${name}.`,
      parameter?.value.span ?? operator.span,
    );
  return kind;
}

interface Sides {
  readonly input: Relation;
  readonly other: Relation;
  readonly unique: Relation;
  readonly right: Relation;
  readonly on: Join["on"];
  readonly pairs: readonly KeyPair[];
}

/** Both sides' columns; those of the right side get a number when their name is taken. lookup drops the right keys. */
function combined(joinKind: JoinKind, sides: Sides, operator: syntax.JoinOperator): Relation {
  const names = new UniqueNames(sides.input.columns.map(({ name }) => name));
  const dropped = new Set(
    operator.kind === "lookup"
      ? sides.pairs.flatMap(({ right }) => (right.kind === "column" ? [right.name] : []))
      : [],
  );
  const rightNames = new Map(
    sides.other.columns
      .filter(({ name }) => !dropped.has(name))
      .map(({ name }): [string, string] => [name, names.claim(name)]),
  );
  return join({
    joinKind,
    left: sides.unique,
    right: sides.right,
    on: sides.on,
    leftNames: identity(sides.input),
    rightNames,
  });
}

function identity({ columns }: Relation): ReadonlyMap<string, string> {
  return new Map(columns.map(({ name }): [string, string] => [name, name]));
}

function withKeys(relation: Relation, keys: readonly Expression[], prefix: string): Relation {
  return extend(
    relation,
    keys.map((expression, i) => ({ name: `${prefix}${i}`, expression })),
  );
}

/** `a`, or `$left.a == $right.b`, in either order, joined by `and`. */
function bindPairs(
  condition: syntax.Expression,
  left: Relation,
  right: Relation,
  environment: Environment,
): KeyPair[] {
  const context = {
    left: new ExpressionContext(environment, left),
    right: new ExpressionContext(environment, right),
  };
  if (condition.kind === "binary" && condition.operator === "and")
    return [condition.left, condition.right].flatMap((part) => bindPairs(part, left, right, environment));
  if (condition.kind === "name")
    return [matched(context.left.scalar(condition), context.right.scalar(condition), condition.span)];
  if (condition.kind === "binary" && condition.operator === "==") {
    const [first, second] = [sideOf(condition.left), sideOf(condition.right)];
    if (first?.side === "$left" && second?.side === "$right")
      return [
        matched(context.left.scalar(first.column), context.right.scalar(second.column), condition.span),
      ];
    if (first?.side === "$right" && second?.side === "$left")
      return [
        matched(context.left.scalar(second.column), context.right.scalar(first.column), condition.span),
      ];
  }
  return refuse("SYNTAX", "on takes names of columns, or $left.a == $right.b.", condition.span);
}

/** `$left.a.b` as the side and the rest of the path. */
function sideOf(expression: syntax.Expression): { side: string; column: syntax.Expression } | null {
  if (expression.kind !== "member" && expression.kind !== "index") return null;
  const { base } = expression;
  if (base.kind === "name" && (base.name === "$left" || base.name === "$right")) {
    if (expression.kind === "member") {
      const { name, span } = expression.member;
      return { side: base.name, column: { kind: "name", name, isPattern: false, span } };
    }
    const { index, span } = expression;
    if (index.kind !== "literal" || typeof index.value !== "string") return null;
    return { side: base.name, column: { kind: "name", name: index.value, isPattern: false, span } };
  }
  const inner = sideOf(base);
  return inner === null ? null : { side: inner.side, column: { ...expression, base: inner.column } };
}

/** Keys of one type: numbers widened, attributes as what the other side is. */
function matched(left: Expression, right: Expression, span: syntax.Expression["span"]): KeyPair {
  const [first, second] = [keyFor(left, right, span), keyFor(right, left, span)];
  if (first.type === second.type) return { left: first, right: second };
  if (isNumeric(first.type) && isNumeric(second.type)) {
    const wide = first.type === "real" || second.type === "real" ? "real" : "long";
    return { left: convert(first, wide), right: convert(second, wide) };
  }
  return refuse("WRONG_TYPE", `A ${first.type} and a ${second.type} never agree.`, span);
}

function keyFor(key: Expression, other: Expression, span: syntax.Expression["span"]): Expression {
  if (key.type !== "dynamic") return key;
  return other.type === "dynamic" ? keyOf(key, span) : convert(keyOf(key, span), other.type);
}
