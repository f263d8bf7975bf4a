import type { Expression, Literal } from "../expression.ts";
import type { ScalarType } from "../scalar-type.ts";
import { unreachable } from "../unreachable.ts";
import { type Bindings, bindingOf } from "./binding.ts";
import { writeAttribute, writeAttributeText, writeBag } from "./property-bag.ts";
import { SCALAR_FUNCTION_SQL } from "./scalar-functions.ts";
import type { ParameterType, SqlWriter } from "./sql-writer.ts";

const PARAMETER_TYPES: Readonly<Record<Exclude<ScalarType, "datetime">, ParameterType>> = {
  bool: "Bool",
  int: "Int32",
  long: "Int64",
  real: "Float64",
  string: "String",
  timespan: "Int64",
  dynamic: "String",
};

/**
 * Writes expressions over the columns of one SELECT. A value has one form in SQL for each type: bool Bool, int
 * Int32, long Int64, real Float64, string String, datetime DateTime64(9, 'UTC'), timespan Int64 nanoseconds, dynamic
 * its JSON text, empty where there is no value. Stored columns may be of another width or precision; ClickHouse
 * compares these rightly.
 */
export class ExpressionWriter {
  readonly out: SqlWriter;
  readonly #bindings: Bindings;

  constructor(out: SqlWriter, bindings: Bindings) {
    this.out = out;
    this.#bindings = bindings;
  }

  write(expression: Expression): void {
    switch (expression.kind) {
      case "column":
        this.#writeColumn(expression.name);
        break;
      case "attribute":
        this.#writeAttribute(expression.column, expression.key, writeAttribute);
        break;
      case "literal":
        this.#writeLiteral(expression);
        break;
      case "call":
        SCALAR_FUNCTION_SQL[expression.name](this, expression.operands);
        break;
      default:
        unreachable(expression);
    }
  }

  /** As `write`, but an enumeration stays what it is: for a comparison with a literal, which then makes no text. */
  writeStored(expression: Expression): void {
    const stored = this.storedColumn(expression);
    if (stored === null) this.write(expression);
    else this.out.text(stored);
  }

  /** The text of a dynamic value: a string as it is, JSON for anything else, empty where there is no value. */
  writeText(expression: Expression): void {
    if (expression.kind === "attribute") {
      this.#writeAttribute(expression.column, expression.key, writeAttributeText);
    } else if (this.#isStoredBag(expression)) {
      this.write(expression);
    } else {
      this.out.text("if(startsWith(");
      this.write(expression);
      this.out.text(", '\"'), JSONExtractString(");
      this.write(expression);
      this.out.text("), ");
      this.write(expression);
      this.out.text(")");
    }
  }

  /** The identifier of a column that holds the value as it lies in the table; null for anything else. */
  storedColumn(expression: Expression): string | null {
    if (expression.kind !== "column") return null;
    const binding = bindingOf(this.#bindings, expression.name);
    return binding.kind === "stored" && binding.storage.kind !== "bag" ? binding.storage.column : null;
  }

  #isStoredBag(expression: Expression): boolean {
    if (expression.kind !== "column") return false;
    const binding = bindingOf(this.#bindings, expression.name);
    return binding.kind === "stored" && binding.storage.kind === "bag";
  }

  #writeColumn(name: string): void {
    const binding = bindingOf(this.#bindings, name);
    if (binding.kind === "alias") this.out.text(binding.alias);
    else if (binding.storage.kind === "bag") writeBag(this.out, binding.storage);
    else if (binding.storage.kind === "enum") this.out.text(`toString(${binding.storage.column})`);
    else this.out.text(binding.storage.column);
  }

  #writeAttribute(column: string, key: string, writeStoredAttribute: typeof writeAttribute): void {
    const binding = bindingOf(this.#bindings, column);
    if (binding.kind === "stored" && binding.storage.kind === "bag") {
      writeStoredAttribute(this.out, binding.storage, key);
      return;
    }
    throw new TypeError(`${column} is no stored property bag`);
  }

  #writeLiteral(expression: Literal): void {
    if (expression.type === "datetime") writeDatetime(this.out, expression.value);
    else this.out.parameter(PARAMETER_TYPES[expression.type], String(expression.value));
  }
}

/** A constant time, given in nanoseconds since 1970. */
export function writeDatetime(out: SqlWriter, nanoseconds: bigint): void {
  out.text("fromUnixTimestamp64Nano(");
  out.parameter("Int64", String(nanoseconds));
  out.text(", 'UTC')");
}
