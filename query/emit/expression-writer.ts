import { attributeInColumn, attributeInMap } from "../attribute-columns.ts";
import type { Call, Expression, Literal } from "../expression.ts";
import type { CallWriter, Grouping, ParameterType } from "../functions/definition.ts";
import { fromElement, letting } from "../functions/json-arrays.ts";
import { valueToText } from "../functions/value-text.ts";
import type { Relation } from "../plan/relation.ts";
import { hasSqlNull, type ScalarType } from "../scalar-type.ts";
import type { ColumnStorage } from "../schema.ts";
import { unreachable } from "../unreachable.ts";
import { type Bindings, bindingOf, onlyIdentifier } from "./binding.ts";
import type { Parameters } from "./parameters.ts";
import { nullOf } from "./sql-types.ts";

const PARAMETER_TYPES: Readonly<Record<Exclude<ScalarType, "datetime">, ParameterType>> = {
  bool: "Bool",
  int: "Int32",
  long: "Int64",
  real: "Float64",
  decimal: "Float64",
  string: "String",
  timespan: "Int64",
  guid: "String",
  dynamic: "String",
};

/** What the expressions of one SELECT share with the rest of its statement. */
export interface SelectContext {
  readonly parameters: Parameters;
  /** Definitions for the WITH of the SELECT, by alias: what is computed once. */
  readonly shared: Map<string, string>;
  /** Told of each key that is looked for in stored attributes. */
  readsAttribute(key: string): void;
  /** The words that an index has of the stored column, where conditions of a table are written; told that they are looked for. */
  words?(identifier: string): string | undefined;
  /** The SELECT of a relation, in brackets. */
  subquery(relation: Relation): string;
  /** The same of one column, which is a value as expressions have them. */
  scalar(relation: Relation): string;
}

/** What may be repeated as it is: an identifier, a part of a tuple, a parameter. */
const CHEAP = /^(?:[a-z_][\w.]*|\{\w+:[\w()]+\})$/i;

type BagStorage = Extract<ColumnStorage, { kind: "bag" }>;

/** The shorter keys under which an entry may hold the rest of a path: of a, b, c those are `a.b` and `a`. */
function splits(path: readonly string[]): [key: string, inner: readonly string[]][] {
  return path.slice(1).map((_, i) => {
    const length = path.length - 1 - i;
    return [path.slice(0, length).join("."), path.slice(length)];
  });
}

/** The part of a JSON text, which is not a stored bag: by the whole path as a key, else step by step. */
function jsonPath(json: string, path: readonly string[], place: (part: string) => string): string {
  const steps = path.map(place).join(", ");
  const nested = `nullIf(JSONExtractRaw(${json}, ${steps}), 'null')`;
  if (path.length === 1) return `ifNull(${nested}, '')`;
  const whole = place(path.join("."));
  return `ifNull(if(JSONHas(${json}, ${whole}), nullIf(JSONExtractRaw(${json}, ${whole}), 'null'), ${nested}), '')`;
}

/** Writes expressions over the columns of one SELECT, in the forms that `CallWriter` describes. */
export class ExpressionWriter {
  readonly #context: SelectContext;
  readonly #bindings: Bindings;

  constructor(context: SelectContext, bindings: Bindings) {
    this.#context = context;
    this.#bindings = bindings;
  }

  write(expression: Expression): string {
    switch (expression.kind) {
      case "column":
        return this.#column(expression.name);
      case "attribute":
        return this.#attribute(expression.column, expression.path);
      case "literal":
        return this.#literal(expression);
      case "call":
        return this.writeCall(expression);
      case "scalarSubquery": {
        const value = this.#context.scalar(expression.relation);
        return hasSqlNull(expression.type) ? value : `ifNull(${value}, '')`;
      }
      case "inSubquery":
        return `ifNull(${this.write(expression.operand)} IN ${this.#context.subquery(expression.relation)}, false)`;
      default:
        return unreachable(expression);
    }
  }

  /** SQL that is true exactly where the condition is; it may be NULL where that is false. */
  writeCondition(expression: Expression): string {
    if (expression.kind !== "call") return this.write(expression);
    const { overload, operands, type } = expression;
    return overload.condition?.(this.#callWriter(operands, type)) ?? this.write(expression);
  }

  /** A call of a scalar or an aggregate function. */
  writeCall({ overload, operands, type }: Pick<Call, "overload" | "operands" | "type">): string {
    return overload.sql(this.#callWriter(operands, type));
  }

  /** The Array(String) of an expression that `holdsStrings`. */
  writeStrings(expression: Expression): string {
    const array =
      expression.kind === "call"
        ? expression.overload.strings?.(this.#callWriter(expression.operands, expression.type))
        : expression.kind === "column"
          ? onlyIdentifier(bindingOf(this.#bindings, expression.name))
          : undefined;
    if (array === undefined) throw new TypeError("the expression is no array of strings");
    return array;
  }

  /** What to group by instead of an expression that `hasGrouping`. */
  writeGrouping(expression: Expression): Grouping {
    const grouping =
      expression.kind === "call"
        ? expression.overload.grouping?.(this.#callWriter(expression.operands, expression.type))
        : undefined;
    if (grouping === undefined) throw new TypeError("the expression has no shorter key");
    return grouping;
  }

  /** SQL that may be repeated: the value is computed once in the SELECT. */
  share(sql: string): string {
    return this.#named(sql, () => this.#context.parameters.newAlias());
  }

  #named(sql: string, newAlias: () => string): string {
    if (CHEAP.test(sql)) return sql;
    for (const [alias, other] of this.#context.shared) if (other === sql) return alias;
    const alias = newAlias();
    this.#context.shared.set(alias, sql);
    return alias;
  }

  #callWriter(operands: readonly Expression[], type: ScalarType): CallWriter {
    const operandAt = (index: number): Expression => {
      const operand = operands[index];
      if (operand === undefined) throw new TypeError(`operand ${index} is missing`);
      return operand;
    };
    return {
      operands,
      type,
      operand: (index) => this.write(operandAt(index)),
      sharedOperand: (index) => this.share(this.write(operandAt(index))),
      textOperand: (index) => this.#text(operandAt(index)),
      storedOperand: (index) => this.#enumeration(operandAt(index)) ?? this.write(operandAt(index)),
      enumOperand: (index) => this.#enumeration(operandAt(index)),
      bagParts: (index) => this.#bagParts(operandAt(index)),
      wordsOperand: (index) => this.#words(operandAt(index)),
      conditionOperand: (index) => this.writeCondition(operandAt(index)),
      numberOperand: (index) => this.#numberWithoutBools(operandAt(index)),
      share: (sql) => this.share(sql),
      shareOfGroup: (sql) => this.#named(sql, () => this.#context.parameters.newGroupAlias()),
      step: (sql) => this.#named(sql, () => this.#context.parameters.newStepAlias()),
      parameter: (parameterType, value) => this.#context.parameters.add(parameterType, value),
      stringArray: (values) => this.#context.parameters.addTexts(values),
    };
  }

  /** The text of a value: a string as it is, JSON for anything else in a dynamic one, empty for nothing. */
  #text(expression: Expression): string {
    if (expression.kind === "attribute") return this.#attributeText(expression.column, expression.path);
    if (expression.kind === "column") {
      const { storage } = bindingOf(this.#bindings, expression.name);
      if (storage.kind === "text") return storage.column;
      if (storage.kind === "bag") return this.share(bagText(storage));
    }
    const value = this.share(this.write(expression));
    // Texts are read as values that are written as texts again: used once, each of them costs what it costs alone.
    if (expression.type === "dynamic")
      return this.share(letting(value, (json) => valueToText(json, "dynamic")));
    return this.share(valueToText(value, expression.type));
  }

  #numberWithoutBools(expression: Expression): string | undefined {
    if (expression.kind !== "call") return undefined;
    const { overload, operands, type } = expression;
    return overload.withoutBools?.(this.#callWriter(operands, type));
  }

  /** The identifier of the stored enumeration that the expression is; undefined for any other. */
  #enumeration(expression: Expression): string | undefined {
    if (expression.kind !== "column") return undefined;
    const { storage } = bindingOf(this.#bindings, expression.name);
    return storage.kind === "enum" ? storage.column : undefined;
  }

  #words(expression: Expression): string | undefined {
    if (expression.kind !== "column") return undefined;
    const { storage } = bindingOf(this.#bindings, expression.name);
    return storage.kind === "plain" ? this.#context.words?.(storage.column) : undefined;
  }

  #bagParts(expression: Expression): ReturnType<CallWriter["bagParts"]> {
    if (expression.kind !== "column") return undefined;
    const { storage } = bindingOf(this.#bindings, expression.name);
    if (storage.kind !== "bag") return undefined;
    return { keys: `mapKeys(${storage.column})`, values: `mapValues(${storage.column})` };
  }

  #column(name: string): string {
    const { storage } = bindingOf(this.#bindings, name);
    switch (storage.kind) {
      case "plain":
        return storage.column;
      case "enum":
        return `toString(${storage.column})`;
      case "bag":
        return bagText(storage);
      case "strings":
      case "text":
        return `toJSONString(${storage.column})`;
      default:
        return unreachable(storage);
    }
  }

  /** The text of the entry: a string as it is, JSON for anything else, empty where the bag has no such key. */
  #attributeText(column: string, path: readonly string[]): string {
    const { storage } = bindingOf(this.#bindings, column);
    if (storage.kind !== "bag")
      return this.share(valueToText(this.share(this.#attribute(column, path)), "dynamic"));
    const whole = this.#entry(storage, path.join("."));
    if (path.length === 1) return whole.text;
    const parts = splits(path).flatMap(([key, inner]) => {
      const keys = inner.map((part) => this.#place(part)).join(", ");
      const { text } = this.#entry(storage, key);
      return [
        `JSONHas(${text}, ${keys})`,
        this.share(valueToText(this.share(fromElement(`JSONExtractRaw(${text}, ${keys})`)), "dynamic")),
      ];
    });
    return this.share(`multiIf(${[whole.isPresent, whole.text, ...parts].join(", ")}, '')`);
  }

  /** The JSON text of the entry; empty where the bag has no such key. */
  #attribute(column: string, path: readonly string[]): string {
    const { storage } = bindingOf(this.#bindings, column);
    if (storage.kind !== "bag")
      return jsonPath(this.share(this.#column(column)), path, (part) => this.#place(part));
    const { text, isPresent, isJson } = this.#entry(storage, path.join("."));
    const entry = [isJson, text, isPresent, `toJSONString(${text})`];
    const parts = splits(path).flatMap(([key, inner]) => {
      const keys = inner.map((part) => this.#place(part)).join(", ");
      const { text: outer } = this.#entry(storage, key);
      return [`JSONHas(${outer}, ${keys})`, fromElement(`JSONExtractRaw(${outer}, ${keys})`)];
    });
    return `multiIf(${[...entry, ...parts].join(", ")}, '')`;
  }

  /** The entry of a stored bag: of its own columns where it has them. */
  #entry({ column, jsonKeysColumn, columns }: BagStorage, key: string): ReturnType<typeof attributeInMap> {
    this.#context.readsAttribute(key);
    const own = columns?.get(key);
    return own === undefined
      ? attributeInMap(column, jsonKeysColumn, this.#place(key))
      : attributeInColumn(own);
  }

  #place(text: string): string {
    return this.#context.parameters.add("String", text);
  }

  #literal(expression: Literal): string {
    if (expression.value === null) return nullOf(expression.type);
    if (expression.type === "datetime") return datetimeConstant(this.#context.parameters, expression.value);
    return this.#context.parameters.add(PARAMETER_TYPES[expression.type], numberText(expression.value));
  }
}

/** The text of a constant as ClickHouse reads it. */
function numberText(value: boolean | bigint | number | string): string {
  if (value === Number.POSITIVE_INFINITY) return "inf";
  if (value === Number.NEGATIVE_INFINITY) return "-inf";
  if (Object.is(value, -0)) return "-0";
  return typeof value === "number" && Number.isNaN(value) ? "nan" : String(value);
}

/** A constant time, given in nanoseconds since 1970. */
export function datetimeConstant(parameters: Parameters, nanoseconds: bigint): string {
  return `fromUnixTimestamp64Nano(${parameters.add("Int64", String(nanoseconds))}, 'UTC')`;
}

/** The JSON text of the whole bag. */
function bagText(bag: BagStorage): string {
  const member = `concat(toJSONString(k), ':', multiIf(NOT has(${bag.jsonKeysColumn}, k), toJSONString(v), v = '', 'null', v))`;
  const members = `arrayMap((k, v) -> ${member}, mapKeys(${bag.column}), mapValues(${bag.column}))`;
  return `concat('{', arrayStringConcat(${members}, ','), '}')`;
}
