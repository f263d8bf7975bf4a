import {
  aggregate,
  aggregateCall,
  attribute,
  call,
  columnOf,
  type Expression,
  extend,
  filter,
  filteredLogs,
  keep,
  limit,
  literal,
  parseSearch,
  project,
  type Relation,
  scan,
  sort,
} from "../../query/index.ts";

type FunctionName = Parameters<typeof call>[0];

/** Expressions as goldens write them. */
type ExpressionNotation =
  | { column: string }
  | { attribute: string }
  | { string: string }
  | { long: string }
  | { datetime: string }
  | { call: FunctionName; of: ExpressionNotation[] };

type Assignments = Record<string, ExpressionNotation>;

/** One operator of a plan as goldens write it; the first one is a source. */
export type OperatorNotation =
  | { scan: "logs" }
  | { logs: { q?: string; service?: string; level?: string } }
  | { filter: ExpressionNotation }
  | { extend: Assignments }
  | { project: Assignments }
  | { keep: string[] }
  | { sort: [ExpressionNotation, "ascending" | "descending"][] }
  | { limit: number }
  | { aggregate: { by: Assignments; count?: string; max?: [string, ExpressionNotation] } };

/** Builds the plan that a list of operators describes. Throws for one that does not start with a source. */
export function readPlan(operators: readonly OperatorNotation[]): Relation {
  const [source, ...rest] = operators;
  if (source === undefined || !("scan" in source || "logs" in source))
    throw new Error("a plan starts with a source");
  return rest.reduce(applyOperator, "scan" in source ? scan(source.scan) : readFilter(source.logs));
}

function readFilter({ q = "", service, level }: { q?: string; service?: string; level?: string }): Relation {
  const parsed = parseSearch(q);
  if (!parsed.ok) throw parsed.error;
  return filteredLogs({ search: parsed.condition, service: service ?? null, level: level ?? null });
}

function applyOperator(input: Relation, operator: OperatorNotation): Relation {
  if ("filter" in operator) return filter(input, readExpression(operator.filter, input));
  if ("extend" in operator) return extend(input, readAssignments(operator.extend, input));
  if ("project" in operator) return project(input, readAssignments(operator.project, input));
  if ("keep" in operator) return keep(input, operator.keep);
  if ("limit" in operator) return limit(input, operator.limit);
  if ("sort" in operator) {
    const keys = operator.sort.map(
      ([key, direction]) => ({ expression: readExpression(key, input), direction }) as const,
    );
    return sort(input, keys);
  }
  if ("aggregate" in operator) {
    const { by, count, max } = operator.aggregate;
    return aggregate(input, readAssignments(by, input), [
      ...(count === undefined ? [] : [aggregateCall(count, "count")]),
      ...(max === undefined ? [] : [aggregateCall(max[0], "max", readExpression(max[1], input))]),
    ]);
  }
  throw new Error("a source stands at the start of a plan only");
}

function readAssignments(assignments: Assignments, input: Relation) {
  return Object.entries(assignments).map(([name, notation]) => ({
    name,
    expression: readExpression(notation, input),
  }));
}

function readExpression(notation: ExpressionNotation, input: Relation): Expression {
  if ("column" in notation) return columnOf(input, notation.column);
  if ("attribute" in notation) return attribute("attrs", notation.attribute);
  if ("string" in notation) return literal("string", notation.string);
  if ("long" in notation) return literal("long", BigInt(notation.long));
  if ("datetime" in notation) return literal("datetime", BigInt(notation.datetime));
  return call(notation.call, ...notation.of.map((operand) => readExpression(operand, input)));
}
