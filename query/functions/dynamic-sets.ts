import { type FunctionTable, parameter, repeated, type SqlTemplate, simple } from "./definition.ts";
import {
  arrayOfElements,
  elementsOf,
  isArray,
  letting,
  operandToComparable,
  withElements,
} from "./json-arrays.ts";

const set = parameter("set", "dynamic");
const other = parameter("other", "dynamic");

const sets = [set, other, repeated("more", "dynamic")];

/** A set that is no array counts as empty, but nothing comes of it when it is the first. */
function combined(combine: (first: string, others: readonly string[]) => string): SqlTemplate {
  return (call) => {
    const others = call.operands.slice(1).map((_, i) => elementsOf(call.sharedOperand(i + 1)));
    return withElements(call, (first) => arrayOfElements(combine(first, others)));
  };
}

const union: SqlTemplate = (call) => {
  const operands = call.operands.map((_, i) => call.sharedOperand(i));
  const all = `arrayDistinct(arrayConcat(${operands.map(elementsOf).join(", ")}))`;
  return `if(${operands.map(isArray).join(" OR ")}, ${arrayOfElements(all)}, '')`;
};

const jaccardIndex: SqlTemplate = (call) => {
  const [first, second] = [call.sharedOperand(0), call.sharedOperand(1)];
  const [left, right] = [call.share(elementsOf(first)), call.share(elementsOf(second))];
  const ratio = `length(arrayIntersect(${left}, ${right})) / length(arrayDistinct(arrayConcat(${left}, ${right})))`;
  return `if(${isArray(first)} AND ${isArray(second)}, ${ratio}, NULL)`;
};

const hasElement: SqlTemplate = (call) => {
  const wanted = call.share(operandToComparable(call, 1));
  return letting(
    call.operand(0),
    (json) => `if(${isArray(json)}, has(${elementsOf(json)}, ${wanted}), NULL)`,
  );
};

const equals: SqlTemplate = (call) => {
  const [first, second] = [call.sharedOperand(0), call.sharedOperand(1)];
  const sorted = (json: string) => `arraySort(arrayDistinct(${elementsOf(json)}))`;
  return `if(${isArray(first)} AND ${isArray(second)}, ${sorted(first)} = ${sorted(second)}, NULL)`;
};

export const SET_FUNCTIONS = {
  set_union: simple("The distinct elements of any of the arrays.", sets, "dynamic", "never", union),
  set_intersect: simple(
    "The distinct elements that are in all of the arrays.",
    sets,
    "dynamic",
    "never",
    combined((first, others) => `arrayIntersect(${[first, ...others].join(", ")})`),
  ),
  set_difference: simple(
    "The distinct elements of the first array that are in none of the others.",
    sets,
    "dynamic",
    "never",
    combined((first, others) => `arrayDistinct(arrayExcept(${first}, arrayConcat(${others.join(", ")})))`),
  ),
  set_has_element: simple(
    "True if the array has the element.",
    [set, parameter("value", "any")],
    "bool",
    "possible",
    hasElement,
  ),
  set_equals: simple(
    "True if the arrays have the same elements, in whatever order.",
    [set, other],
    "bool",
    "possible",
    equals,
  ),
  jaccard_index: simple(
    "The elements in both arrays as a share of those in either.",
    [set, other],
    "real",
    "possible",
    jaccardIndex,
  ),
} as const satisfies FunctionTable;
