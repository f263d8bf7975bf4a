import { attribute, column, type Expression, isLoose, type Literal } from "../expression.ts";
import { columnOf, window } from "../plan/build.ts";
import type { AggregateCall, PlanColumn, Relation, WindowCall } from "../plan/relation.ts";
import { TABLES } from "../schema.ts";
import type { Span } from "../span.ts";
import type * as syntax from "../syntax/tree.ts";
import { constantOf } from "./constants.ts";
import { convert } from "./conversion.ts";
import type { Environment } from "./environment.ts";
import { nearestName } from "./nearest-name.ts";
import { refuse } from "./refusal.ts";

/** Collects the aggregates that an expression of `summarize` mentions; they become hidden columns. */
interface AggregateCollector {
  readonly calls: AggregateCall[];
  /** The references to them: an expression may mention these, and nothing else of a row. */
  readonly results: Set<Expression>;
}

export function newCollector(): AggregateCollector {
  return { calls: [], results: new Set() };
}

/** What an expression may mention. Changes while expressions are bound: window functions add hidden columns. */
export class ExpressionContext {
  readonly environment: Environment;
  #relation: Relation;
  readonly #hidden = new Set<string>();
  /** Null where aggregates may not stand. */
  readonly aggregates: AggregateCollector | null;
  /** The place that this one is a part of, whose rows these are; null for a place of its own. */
  readonly #around: ExpressionContext | null;
  #takesWindows = false;

  constructor(
    environment: Environment,
    relation: Relation,
    aggregates: AggregateCollector | null = null,
    around: ExpressionContext | null = null,
  ) {
    this.environment = environment;
    this.#relation = relation;
    this.aggregates = aggregates;
    this.#around = around;
  }

  /** A place whose operator goes on with the relation of the context, and so with what window functions add to it. */
  static takingWindows(environment: Environment, relation: Relation): ExpressionContext {
    const context = new ExpressionContext(environment, relation);
    context.#takesWindows = true;
    return context;
  }

  /** Whether window functions may stand here. */
  get takesWindows(): boolean {
    return this.#around?.takesWindows ?? this.#takesWindows;
  }

  /** The input with the hidden columns added so far. */
  get relation(): Relation {
    return this.#around?.relation ?? this.#relation;
  }

  /** The same rows seen from another place of the query: from the body of a function that is called here. */
  within(environment: Environment): ExpressionContext {
    return new ExpressionContext(environment, this.relation, null, this);
  }

  /** Whether a value of that relation's rows is one of these rows, too. */
  hasRowsOf(relation: Relation): boolean {
    return withoutWindows(relation) === withoutWindows(this.relation);
  }

  get hiddenNames(): ReadonlySet<string> {
    return this.#hidden;
  }

  /** A scalar expression with its names looked up and its types known. */
  scalar(expression: syntax.Expression): Expression {
    return this.environment.compilation.binder.scalar(expression, this);
  }

  /** A condition; an attribute is true when its text says so. */
  predicate(expression: syntax.Expression): Expression {
    const bound = this.scalar(expression);
    if (bound.type === "bool") return bound;
    if (isLoose(bound)) return convert(bound, "bool");
    if (expression.kind === "literal" && bound.type === "string")
      return refuse(
        "WRONG_TYPE",
        'A text is no condition: message has "word" looks for one, search "word" in every column.',
        expression.span,
      );
    return refuse(
      "WRONG_TYPE",
      `A condition is true or false, and this is a ${bound.type}: compare it with something, as in x ${bound.type === "string" ? '== "a"' : "> 0"}.`,
      expression.span,
    );
  }

  /** A value that is known when the query is compiled. */
  constant(expression: syntax.Expression): Literal {
    const constant = constantOf(this.scalar(expression));
    return constant ?? refuse("NOT_A_CONSTANT", "A constant belongs here.", expression.span);
  }

  /** A number of rows that is known when the query is compiled. */
  count(expression: syntax.Expression): number {
    const constant = constantOf(this.scalar(expression));
    if (constant === null)
      return refuse(
        "NOT_A_CONSTANT",
        "A number that is known beforehand belongs here, such as 10.",
        expression.span,
      );
    const { type, value } = constant;
    const count = type === "long" || type === "int" || type === "real" ? Number(value) : Number.NaN;
    if (Number.isFinite(count) && count >= 0) return Math.min(Math.floor(count), Number.MAX_SAFE_INTEGER);
    return refuse(
      "WRONG_TYPE",
      "A number of rows belongs here that is not negative, such as 10.",
      expression.span,
    );
  }

  /** The same place, but aggregates may not stand there: inside another one. */
  withoutAggregates(): ExpressionContext {
    return this.aggregates === null ? this : new ExpressionContext(this.environment, this.relation);
  }

  /** Adds the result of a window function and gives a reference to it. */
  addWindow(call: Omit<WindowCall, "name">): Expression {
    if (this.#around !== null) return this.#around.addWindow(call);
    const name = `$window${this.#hidden.size}`;
    this.#hidden.add(name);
    this.#relation = window(this.#relation, [{ ...call, name }]);
    return columnOf(this.#relation, name);
  }

  /** Adds the result of an aggregate and gives a reference to it, over the relation that will be aggregated. */
  addAggregate(call: Omit<AggregateCall, "name">): Expression {
    const { calls, results } = this.aggregates ?? newCollector();
    const name = `$aggregate${calls.length}`;
    calls.push({ ...call, name });
    const result = column(name, call.type, call.isNullable, call.isLoose === true);
    results.add(result);
    return result;
  }

  /** The column, or the attribute, of that name. Throws a refusal when there is neither. */
  resolveColumn(name: string, span: Span): Expression {
    const found = this.findColumn(name);
    if (found !== null) return found;
    const names = this.relation.columns.map((candidate) => candidate.name);
    const suggestion = nearestName(name, [...names, ...this.environment.names()]);
    return refuse(
      "UNKNOWN_NAME",
      `There is no column ${name} here.${suggestion === null ? "" : ` Did you mean ${suggestion}?`}`,
      span,
      suggestion,
    );
  }

  findColumn(name: string): Expression | null {
    const own = this.findOwnColumn(name);
    if (own !== null) return own;
    return this.#attributesColumn() === undefined ? null : attribute("attrs", name);
  }

  /** As `findColumn`, without attributes. */
  findOwnColumn(name: string): Expression | null {
    const { columns } = this.relation;
    if (columns.some((candidate) => candidate.name === name)) return columnOf(this.relation, name);
    if (this.#attributesColumn() === undefined) return null;
    const aliases: Readonly<Record<string, string>> = TABLES.logs.aliases;
    const meant = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
    return meant !== undefined && columns.some((candidate) => candidate.name === meant)
      ? columnOf(this.relation, meant)
      : null;
  }

  #attributesColumn(): PlanColumn | undefined {
    return this.relation.columns.find(({ name, isLoose }) => name === "attrs" && isLoose === true);
  }
}

/** Window functions add columns to rows, and leave them the rows that they are. */
function withoutWindows(relation: Relation): Relation {
  let inner = relation;
  while (inner.kind === "window") inner = inner.input;
  return inner;
}
