import type { Expression } from "../expression.ts";
import type { ScalarType } from "../scalar-type.ts";

/** The types in which values travel beside a statement. */
export type ParameterType = "String" | "Bool" | "Int32" | "Int64" | "UInt32" | "UInt64" | "Float64";

/**
 * Writes the SQL of one call. A value has one form in SQL for each type: bool Bool, int Int32, long Int64, real and
 * decimal Float64, string String, datetime DateTime64(9, 'UTC'), timespan Int64 nanoseconds, guid its lower-case text,
 * dynamic its JSON text without white space; all but string, guid and dynamic may be NULL, nothing is the empty text
 * for guid and dynamic, and a string is never null. What is written must have the form of the result's type, and must
 * never make ClickHouse throw, whatever the values are.
 */
export interface CallWriter {
  readonly operands: readonly Expression[];
  /** The result's type. */
  readonly type: ScalarType;
  /** The SQL of an operand, to be used once at most, since its work is done wherever it stands. */
  operand(index: number): string;
  /** The SQL of an operand that may be used any number of times: its work is done once. */
  sharedOperand(index: number): string;
  /** The text of a dynamic operand as `tostring` gives it, at no cost where an attribute is stored as text. May be repeated. */
  textOperand(index: number): string;
  /** As `operand`, but a stored enumeration stays what it is, so that no text is made of each row: where equal is all that matters. */
  storedOperand(index: number): string;
  /** The SQL of an operand that is stored as an enumeration, as it is stored; undefined for any other. May be repeated. */
  enumOperand(index: number): string | undefined;
  /** The keys of an operand that is a stored bag and the texts of its values, as Array(String); undefined for any other. May be repeated. */
  bagParts(index: number): { readonly keys: string; readonly values: string } | undefined;
  /** The words of an operand that an index has, as `messageWords` writes them; undefined for any other, and wherever it would not be used. */
  wordsOperand(index: number): string | undefined;
  /** As `operand`, for a condition: NULL may stand for false. */
  conditionOperand(index: number): string;
  /** The SQL of an operand that is a number read from a dynamic value, but NULL for truth values; undefined for any other. */
  numberOperand(index: number): string | undefined;
  /** A place for a list of texts, as an Array(String). */
  stringArray(values: readonly string[]): string;
  /** SQL that may be used any number of times for the given one. Never for SQL that stands in a lambda. */
  share(sql: string): string;
  /** The same in an aggregate function for what is computed of a whole group, and so of no row below the grouping. */
  shareOfGroup(sql: string): string;
  /**
   * As `share`, but what mentions it stands in a SELECT around the one that computes it: the store writes nothing of it
   * out again. For a chain of costly things that are each mentioned often.
   */
  step(sql: string): string;
  /** A place for a value; no value stands in the text of a statement. */
  parameter(type: ParameterType, value: string): string;
}

/** Thrown while a call is written, when an argument asks for something that cannot be honoured; the message is for the user. */
export class FunctionArgumentError extends Error {
  /** The position of the argument. */
  readonly argument: number;

  constructor(argument: number, message: string) {
    super(message);
    this.name = "FunctionArgumentError";
    this.argument = argument;
  }
}

export type SqlTemplate = (call: CallWriter) => string;

export interface Parameter {
  /** As in the documentation. */
  readonly name: string;
  /** What is taken; anything else is converted if Kusto would convert it. */
  readonly type: ScalarType | readonly ScalarType[] | "any";
  /** Only at the end of the list; "repeated" is zero or more times. */
  readonly occurs?: "optional" | "repeated";
  /** The value has to be known when the query is compiled: the operand is a literal. */
  readonly isConstant?: boolean;
}

/**
 * When the result can be NULL: `propagate` if an operand is, `never`, or `possible` for other reasons too. For a type
 * without NULL in SQL it does not matter.
 */
export type NullRule = "propagate" | "never" | "possible";

export interface Overload {
  readonly parameters: readonly Parameter[];
  readonly result: ScalarType | ((operands: readonly Expression[]) => ScalarType);
  readonly nulls: NullRule;
  readonly sql: SqlTemplate;
  /** SQL that is true exactly where the result is, and may be NULL where that is false; undefined where it is no less work. */
  readonly condition?: (call: CallWriter) => string | undefined;
  /** The SQL of the result but for truth values, of which it makes NULL. */
  readonly withoutBools?: SqlTemplate;
  /** The SQL of the result as an Array(String), where it is an array of strings; undefined where it may be anything else. */
  readonly strings?: (call: CallWriter) => string | undefined;
  /** Something short to group by instead of the result; undefined for operands that have none. */
  readonly grouping?: (call: CallWriter) => Grouping | undefined;
}

/** What differs exactly where a result does, and takes less room as a key. */
export interface Grouping {
  readonly key: string;
  /** The SQL of the result from that of the key. */
  readonly result: (key: string) => string;
}

export interface FunctionDefinition {
  /** One sentence for the reference. */
  readonly summary: string;
  /** The first whose parameters take the operands, at the least cost of conversion. */
  readonly overloads: readonly Overload[];
  /** Where and why the answer can differ from Kusto's; absent when it does not. */
  readonly approximate?: string;
}

/** By name; for functions, the name in KQL. */
export type FunctionTable = Readonly<Record<string, FunctionDefinition>>;

export interface AggregateDefinition extends FunctionDefinition {
  /** The name of a column without one: `sum` makes `sum_x` of a column x and `sum_` of anything else. */
  readonly prefix: string;
}

export type AggregateTable = Readonly<Record<string, AggregateDefinition>>;

/**
 * An SQL template: numbers stand for operands, by position; one that is used more than once is computed once. Text is
 * SQL as it stands, from the author of the function, never from a query.
 */
export function sql(strings: TemplateStringsArray, ...positions: readonly number[]): SqlTemplate {
  const uses = (position: number) => positions.filter((other) => other === position).length;
  return (call) =>
    strings.reduce((text, part, i) => {
      const position = positions[i - 1];
      if (position === undefined) return text + part;
      return text + (uses(position) > 1 ? call.sharedOperand(position) : call.operand(position)) + part;
    }, "");
}

/** A parameter that takes one type, several, or any. */
export function parameter(name: string, type: Parameter["type"]): Parameter {
  return { name, type };
}

export function optional(name: string, type: Parameter["type"]): Parameter {
  return { name, type, occurs: "optional" };
}

export function repeated(name: string, type: Parameter["type"]): Parameter {
  return { name, type, occurs: "repeated" };
}

export function constant(name: string, type: Parameter["type"]): Parameter {
  return { name, type, isConstant: true };
}

export function overload(
  parameters: readonly Parameter[],
  result: Overload["result"],
  nulls: NullRule,
  template: SqlTemplate,
): Overload {
  return { parameters, result, nulls, sql: template };
}

/** A function whose result is an array of strings; where the SQL of these is undefined, `otherwise` makes the result. */
export function stringsFunction(
  summary: string,
  parameters: readonly Parameter[],
  strings: (call: CallWriter) => string | undefined,
  otherwise: SqlTemplate = () => "''",
): FunctionDefinition {
  const json: SqlTemplate = (call) => {
    const array = strings(call);
    return array === undefined ? otherwise(call) : `toJSONString(${array})`;
  };
  return { summary, overloads: [{ ...overload(parameters, "dynamic", "never", json), strings }] };
}

/** A function with one list of parameters. */
export function simple(
  summary: string,
  parameters: readonly Parameter[],
  result: Overload["result"],
  nulls: NullRule,
  template: SqlTemplate,
): FunctionDefinition {
  return { summary, overloads: [overload(parameters, result, nulls, template)] };
}

/** The function, and another way to write it as a condition where that is less work. */
export function withCondition(
  { summary, overloads }: FunctionDefinition,
  condition: NonNullable<Overload["condition"]>,
): FunctionDefinition {
  return { summary, overloads: overloads.map((each) => ({ ...each, condition })) };
}
