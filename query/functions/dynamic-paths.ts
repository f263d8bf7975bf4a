import {
  type CallWriter,
  constant,
  FunctionArgumentError,
  type FunctionTable,
  overload,
  parameter,
  type SqlTemplate,
  simple,
} from "./definition.ts";
import { elementToText, fromElement, letting } from "./json-arrays.ts";
import { type PathStep, parseJsonPath } from "./json-path.ts";

/** Positions beyond any array there can be; one more than it still is a number of 64 bits. */
const MAX_POSITION = 2n ** 31n;

/**
 * The value at a path as an element; empty where there is none. A position is looked up in the elements of an array,
 * since ClickHouse would take one in a bag for the key at that position.
 */
function elementAtPath(call: CallWriter, json: string, steps: readonly PathStep[]): string {
  let value = json;
  let keys: string[] = [];
  const at = (name: string) => `${name}(${[value, ...keys].join(", ")})`;
  for (const step of steps) {
    if (typeof step === "string") {
      keys.push(call.parameter("String", step));
    } else {
      value = `${at("JSONExtractArrayRaw")}[${positionParameter(call, step)}]`;
      keys = [];
    }
  }
  return keys.length === 0 ? value : at("JSONExtractRaw");
}

/** Positions count from 0 in Kusto, from 1 in ClickHouse, and from -1 at the end in both. */
function positionParameter(call: CallWriter, position: bigint): string {
  const clamped =
    position > MAX_POSITION ? MAX_POSITION : position < -MAX_POSITION ? -MAX_POSITION : position;
  return call.parameter("Int64", String(clamped >= 0n ? clamped + 1n : clamped));
}

/** A computed position; a null one is beyond the end, since ClickHouse refuses 0. */
function position(value: string): string {
  return `ifNull(if(${value} >= 0, ${value} + 1, ${value}), toInt64(${MAX_POSITION}))`;
}

/** A path of constants is followed in one go. */
const atPath: SqlTemplate = (call) => {
  const steps = call.operands.slice(1).map((operand): PathStep => {
    if (operand.kind !== "literal") throw new TypeError("a step of a path is a literal");
    if (operand.type === "string" || operand.type === "long") return operand.value ?? "";
    throw new TypeError(`a step of a path is no ${operand.type}`);
  });
  return fromElement(elementAtPath(call, call.operand(0), steps));
};

const elementAt: SqlTemplate = (call) =>
  fromElement(`JSONExtractArrayRaw(${call.operand(0)})[${position(call.sharedOperand(1))}]`);

const memberNamed: SqlTemplate = (call) =>
  fromElement(`JSONExtractRaw(${call.operand(0)}, ${call.operand(1)})`);

const elementOrMember: SqlTemplate = (call) => {
  const member = "JSONExtractRaw(x, JSONExtractString(y))";
  const element = `JSONExtractArrayRaw(x)[${position("toInt64OrNull(y)")}]`;
  const found = `if(startsWith(y, '"'), ${member}, ${element})`;
  return fromElement(`arrayMap((x, y) -> ${found}, [${call.operand(0)}], [${call.operand(1)}])[1]`);
};

const extractJson: SqlTemplate = (call) => {
  const path = call.operands[0];
  const steps =
    path?.kind === "literal" && path.type === "string" && path.value !== null
      ? parseJsonPath(path.value)
      : null;
  if (steps === null)
    throw new FunctionArgumentError(0, "The path may have keys and positions only: $.key[0]['other key']");
  return letting(
    elementAtPath(call, call.operand(1), steps),
    (raw) => `if(${raw} = 'null', '', ${elementToText(raw)})`,
  );
};

const WHOLE_REALS = "A whole real number inside a dynamic value is written without `.0`.";

const extractJsonDefinition = {
  ...simple(
    "The text of the value that a JSON path leads to in a JSON text.",
    [constant("jsonPath", "string"), parameter("dataSource", "string")],
    "string",
    "never",
    extractJson,
  ),
  approximate: WHOLE_REALS,
};

const step = constant("step", ["string", "long"]);

/** Access to the parts of dynamic values, under a name that a query cannot write as a function. */
export const PATH_OPERATORS = {
  element: {
    summary: "The part of a dynamic value at a path of keys and positions.",
    overloads: [
      overload(
        [parameter("value", "dynamic"), step, { ...step, occurs: "repeated" }],
        "dynamic",
        "never",
        atPath,
      ),
      overload([parameter("value", "dynamic"), parameter("index", "long")], "dynamic", "never", elementAt),
      overload([parameter("value", "dynamic"), parameter("key", "string")], "dynamic", "never", memberNamed),
      overload(
        [parameter("value", "dynamic"), parameter("key", "dynamic")],
        "dynamic",
        "never",
        elementOrMember,
      ),
    ],
    approximate: WHOLE_REALS,
  },
} as const satisfies FunctionTable;

export const PATH_FUNCTIONS = {
  extract_json: extractJsonDefinition,
  extractjson: extractJsonDefinition,
} as const satisfies FunctionTable;
