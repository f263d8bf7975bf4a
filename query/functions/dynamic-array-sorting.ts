import {
  type CallWriter,
  FunctionArgumentError,
  type FunctionDefinition,
  type FunctionTable,
  parameter,
  repeated,
} from "./definition.ts";
import {
  arrayOfElements,
  asElement,
  elementsOf,
  elementToText,
  operandType,
  withElements,
} from "./json-arrays.ts";

/** Numbers come before strings, strings before anything else. `x` is the element. */
const KIND = `multiIf(startsWith(x, '"'), 1, x IN ('true', 'false') OR startsWith(x, '[') OR startsWith(x, '{'), 2, 0)`;

/** The number of 64 bits tells apart what is the same as a real number. */
const VALUE = `toFloat64OrZero(x), toInt64OrZero(x), ${elementToText("x")}`;

function sortedPositions(items: string, direction: "asc" | "desc", nullsLast: boolean): string {
  const isNull = (direction === "asc") === nullsLast ? "x = 'null'" : "x != 'null'";
  const kind = direction === "asc" ? KIND : `negate(${KIND})`;
  const key = `tuple(${isNull}, ${kind}, ${VALUE})`;
  const sort = direction === "asc" ? "arraySort" : "arrayReverseSort";
  return `${sort}((i, x) -> ${key}, arrayEnumerate(${items}), ${items})`;
}

function write(call: CallWriter, direction: "asc" | "desc"): string {
  const last = call.operands.at(-1);
  const hasFlag = last?.type === "bool";
  const nullsLast = !hasFlag || (last.kind === "literal" && last.value === true);
  if (hasFlag && last.kind !== "literal")
    throw new FunctionArgumentError(
      call.operands.length - 1,
      "Whether nulls are last has to be true or false itself",
    );
  const arrays = call.operands.slice(0, hasFlag ? -1 : undefined);
  const wrong = arrays.findIndex((_, i) => operandType(call, i) !== "dynamic");
  if (arrays.length === 0 || wrong !== -1)
    throw new FunctionArgumentError(Math.max(wrong, 0), "An array is expected");
  const reordered = (list: string, positions: string) =>
    arrayOfElements(`arrayMap(i -> ${list}[i], ${positions})`);
  const sorted = withElements(call, (items) =>
    reordered(items, sortedPositions(items, direction, nullsLast)),
  );
  if (arrays.length === 1) return sorted;
  const leading = call.share(elementsOf(call.sharedOperand(0)));
  const positions = call.share(sortedPositions(leading, direction, nullsLast));
  const followers = arrays.slice(1).map((_, i) => {
    const list = call.share(elementsOf(call.operand(i + 1)));
    return `if(length(${list}) = length(${leading}), ${reordered(list, positions)}, 'null')`;
  });
  return arrayOfElements(`[${[asElement(sorted), ...followers].join(", ")}]`);
}

function sorting(summary: string, direction: "asc" | "desc"): FunctionDefinition {
  return {
    summary,
    overloads: [
      {
        parameters: [parameter("array", "dynamic"), repeated("array_or_nulls_last", ["dynamic", "bool"])],
        result: "dynamic",
        nulls: "never",
        sql: (call) => write(call, direction),
      },
    ],
  };
}

export const ARRAY_SORTING_FUNCTIONS = {
  array_sort_asc: sorting(
    "The elements in ascending order, and those of other arrays in the same order.",
    "asc",
  ),
  array_sort_desc: sorting(
    "The elements in descending order, and those of other arrays in the same order.",
    "desc",
  ),
} as const satisfies FunctionTable;
