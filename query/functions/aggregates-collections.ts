import type { ScalarType } from "../scalar-type.ts";
import { hasSqlNull } from "../scalar-type.ts";
import { condition } from "./aggregates.ts";
import {
  type AggregateDefinition,
  type AggregateTable,
  type CallWriter,
  constant,
  FunctionArgumentError,
  overload,
  type Parameter,
  parameter,
  type SqlTemplate,
} from "./definition.ts";
import {
  arrayOfElements,
  asElement,
  bagOfEntries,
  elementsOf,
  entriesOf,
  firstOfEachKey,
  isArray,
  MAX_ELEMENTS,
  operandToJson,
  operandType,
  toJson,
} from "./json-arrays.ts";

/**
 * A set keeps the order in which its elements came for those among this many first values of a group; behind them the
 * rest stands in no order. It bounds what a group remembers beside the set itself.
 */
const ORDERED_VALUES = 10_000;

/** Where the operands of an aggregate stand, and how many elements it keeps. */
interface Collection {
  /** SQL of the largest number of elements. */
  readonly limit: string;
  /** SQL that is true for the rows that count. */
  readonly condition: string | null;
}

function collection(call: CallWriter, hasCondition: boolean): Collection {
  return {
    limit: limitOf(call, hasCondition ? 2 : 1),
    condition: hasCondition ? condition(call, 1) : null,
  };
}

function limitOf(call: CallWriter, index: number): string {
  const operand = call.operands[index];
  if (operand === undefined) return String(MAX_ELEMENTS);
  if (operand.kind !== "literal" || operand.type !== "long" || operand.value === null || operand.value < 1n)
    throw new FunctionArgumentError(index, "The largest number of elements has to be a constant above 0");
  const limit = operand.value < BigInt(MAX_ELEMENTS) ? operand.value : BigInt(MAX_ELEMENTS);
  return call.parameter("UInt64", String(limit));
}

/** `name(limit)(value)`, of the rows that count. */
function grouped(name: string, limit: string, value: string, conditions: readonly (string | null)[]): string {
  const known = conditions.filter((part): part is string => part !== null);
  return known.length === 0
    ? `${name}(${limit})(${value})`
    : `${name}If(${limit})(${value}, ${known.join(" AND ")})`;
}

/** What counts as a value: strings always do, others unless they are null. ClickHouse leaves out its own nulls. */
function presence(call: CallWriter): string | null {
  return operandType(call, 0) === "guid" ? `${call.sharedOperand(0)} != ''` : null;
}

/** The elements that a dynamic value adds: those of an array one by one. */
function addedElements(json: string, withNulls: boolean): string {
  const single = withNulls ? `[${asElement(json)}]` : `if(${json} = '', emptyArrayString(), [${json}])`;
  const elements = withNulls ? elementsOf(json) : `arrayFilter(x -> x != 'null', ${elementsOf(json)})`;
  return `if(${isArray(json)}, ${elements}, ${single})`;
}

/** What is collected: an enumeration as it is stored, since its text is due only once the group is complete. */
function collectedValue(call: CallWriter): string {
  return call.share(call.storedOperand(0));
}

/** The array of values of a type, or of an enumeration's, each written as JSON once the group is complete. */
function arrayOfValues(values: string, type: ScalarType): string {
  return arrayOfElements(`arrayMap(x -> ${toJson("x", type)}, ${values})`);
}

function list(hasCondition: boolean): SqlTemplate {
  return (call) => {
    const { limit, condition: when } = collection(call, hasCondition);
    const type = operandType(call, 0);
    if (type === "dynamic")
      return arrayOfElements(
        grouped("groupArrayArray", limit, addedElements(call.sharedOperand(0), true), [when]),
      );
    return arrayOfValues(grouped("groupArray", limit, collectedValue(call), [presence(call), when]), type);
  };
}

const listWithNulls: SqlTemplate = (call) => {
  const { limit } = collection(call, false);
  const type = operandType(call, 0);
  if (type === "dynamic")
    return arrayOfElements(grouped("groupArrayArray", limit, addedElements(call.sharedOperand(0), true), []));
  if (type === "string") return arrayOfValues(grouped("groupArray", limit, collectedValue(call), []), type);
  return arrayOfElements(grouped("groupArray", limit, asElement(call.share(operandToJson(call, 0))), []));
};

function set(hasCondition: boolean): SqlTemplate {
  return (call) => {
    const { limit, condition: when } = collection(call, hasCondition);
    const type = operandType(call, 0);
    const isDynamic = type === "dynamic";
    const value = isDynamic ? call.share(addedElements(call.sharedOperand(0), false)) : collectedValue(call);
    const conditions = [presence(call), when];
    const suffix = isDynamic ? "Array" : "";
    const first = grouped(`groupArray${suffix}`, String(ORDERED_VALUES), value, conditions);
    const all = grouped(`groupUniqArray${suffix}`, limit, value, conditions);
    const distinct = `arraySlice(arrayDistinct(arrayConcat(${first}, ${all})), 1, ${limit})`;
    return isDynamic ? arrayOfElements(distinct) : arrayOfValues(distinct, type);
  };
}

function bag(hasCondition: boolean): SqlTemplate {
  return (call) => {
    const { limit, condition: when } = collection(call, hasCondition);
    const entries = grouped("groupArrayArray", String(MAX_ELEMENTS), entriesOf(call.operand(0)), [when]);
    return bagOfEntries(`arraySlice(${firstOfEachKey(call.shareOfGroup(entries))}, 1, ${limit})`);
  };
}

function collecting(
  prefix: string,
  summary: string,
  value: Parameter,
  write: (hasCondition: boolean) => SqlTemplate,
  hasCondition: boolean,
): AggregateDefinition {
  const parameters = [
    value,
    ...(hasCondition ? [parameter("predicate", "bool")] : []),
    { ...constant("maxSize", "long"), occurs: "optional" as const },
  ];
  return { prefix, summary, overloads: [overload(parameters, "dynamic", "never", write(hasCondition))] };
}

const anything = parameter("value", "any");

const SET_ORDER = "Beyond the first 10 000 values of a group the elements of a set stand in no order.";

const MAKE_BAG = collecting(
  "bag",
  "One bag of the entries of all bags; of entries with the same key the first counts.",
  parameter("bag", "dynamic"),
  bag,
  false,
);
const MAKE_LIST = collecting("list", "An array of the values, without nulls.", anything, list, false);
const MAKE_SET = {
  ...collecting("set", "An array of the distinct values, without nulls.", anything, set, false),
  approximate: SET_ORDER,
};

/** Precision of the sketch for each accuracy: its error is that of Kusto's, or smaller. */
const DCOUNT_PRECISION = ["12", "14", "16", "17", "18"];

function distinctCount(prefix: string, summary: string, hasCondition: boolean): AggregateDefinition {
  const parameters = [
    anything,
    ...(hasCondition ? [parameter("predicate", "bool")] : []),
    { ...constant("accuracy", "long"), occurs: "optional" as const },
  ];
  return {
    prefix,
    summary,
    approximate:
      "An estimate as in Kusto, by another algorithm: the error is the same or smaller, the number may differ.",
    overloads: [
      overload(parameters, "long", "never", (call) => {
        const precision = DCOUNT_PRECISION[accuracyOf(call, hasCondition ? 2 : 1)] ?? "14";
        return counted(call, `uniqCombined64`, `(${precision})`, hasCondition);
      }),
    ],
  };
}

function accuracyOf(call: CallWriter, index: number): number {
  const operand = call.operands[index];
  if (operand === undefined) return 1;
  const accuracy = operand.kind === "literal" && operand.type === "long" ? Number(operand.value ?? -1n) : -1;
  if (DCOUNT_PRECISION[accuracy] === undefined)
    throw new FunctionArgumentError(index, "The accuracy has to be a constant from 0 to 4");
  return accuracy;
}

/** Distinct values that are not null, as a long. */
function counted(call: CallWriter, name: string, parameters: string, hasCondition: boolean): string {
  const value = collectedValue(call);
  const conditions = [
    ...(hasSqlNull(operandType(call, 0)) || operandType(call, 0) === "string" ? [] : [`${value} != ''`]),
    ...(hasCondition ? [condition(call, 1)] : []),
  ];
  const count =
    conditions.length === 0
      ? `${name}${parameters}(${value})`
      : `${name}If${parameters}(${value}, ${conditions.join(" AND ")})`;
  return `toInt64(ifNull(${count}, 0))`;
}

function exactDistinctCount(prefix: string, summary: string, hasCondition: boolean): AggregateDefinition {
  const parameters = [anything, ...(hasCondition ? [parameter("predicate", "bool")] : [])];
  return {
    prefix,
    summary,
    overloads: [
      overload(parameters, "long", "never", (call) => counted(call, "uniqExact", "", hasCondition)),
    ],
  };
}

/** Aggregates that collect values, and those that count distinct ones. */
export const COLLECTION_AGGREGATES = {
  make_list: MAKE_LIST,
  makelist: MAKE_LIST,
  make_list_if: collecting("list", "An array of the values where a condition holds.", anything, list, true),
  make_list_with_nulls: collecting(
    "list",
    "An array of the values, nulls too.",
    anything,
    () => listWithNulls,
    false,
  ),
  make_set: MAKE_SET,
  makeset: MAKE_SET,
  make_set_if: {
    ...collecting("set", "An array of the distinct values where a condition holds.", anything, set, true),
    approximate: SET_ORDER,
  },
  make_bag: MAKE_BAG,
  make_dictionary: MAKE_BAG,
  make_bag_if: collecting(
    "bag",
    "One bag of the entries of the bags where a condition holds.",
    parameter("bag", "dynamic"),
    bag,
    true,
  ),
  dcount: distinctCount("dcount", "An estimate of the number of distinct values.", false),
  dcountif: distinctCount("dcountif", "An estimate of the distinct values where a condition holds.", true),
  count_distinct: exactDistinctCount("count_distinct", "The number of distinct values.", false),
  count_distinctif: exactDistinctCount(
    "count_distinctif",
    "The distinct values where a condition holds.",
    true,
  ),
} as const satisfies AggregateTable;
