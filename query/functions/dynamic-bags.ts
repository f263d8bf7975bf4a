import type { Expression } from "../expression.ts";
import { removedKeys, withKey } from "./bag-editing.ts";
import {
  type CallWriter,
  FunctionArgumentError,
  type FunctionDefinition,
  type FunctionTable,
  parameter,
  repeated,
  type SqlTemplate,
  simple,
} from "./definition.ts";
import {
  arrayOfElements,
  bagOfEntries,
  elementsOf,
  entriesOf,
  firstOfEachKey,
  isArray,
  isBag,
  letting,
  operandToElement,
  operandType,
} from "./json-arrays.ts";
import { parseBagKey } from "./json-path.ts";
import { valueToText } from "./value-text.ts";

const bag = parameter("bag", "dynamic");

function keyText(call: CallWriter, index: number): string {
  const type = operandType(call, index);
  return type === "string" ? call.operand(index) : valueToText(call.sharedOperand(index), type);
}

const pack: SqlTemplate = (call) => {
  if (call.operands.length % 2 !== 0)
    throw new FunctionArgumentError(
      call.operands.length - 1,
      "A value is missing: keys and values go in pairs",
    );
  const pairs = Array.from({ length: call.operands.length / 2 }, (_, i) => 2 * i);
  const entries = pairs.map(
    (i) => `toJSONString(${keyText(call, i)}), ':', ${operandToElement(call, i + 1)}`,
  );
  return entries.length === 0 ? "'{}'" : `concat('{', ${entries.join(", ',', ")}, '}')`;
};

const withoutNulls: SqlTemplate = (call) => {
  const kept = (json: string) => `arrayFilter(x -> x.2 NOT IN ('null', '""'), ${entriesOf(json)})`;
  return letting(call.operand(0), (json) => `if(${isBag(json)}, ${bagOfEntries(kept(json))}, '')`);
};

const keys: SqlTemplate = (call) => {
  const names = (json: string) => `arrayMap(x -> toJSONString(x), arrayDistinct(JSONExtractKeys(${json})))`;
  return letting(call.operand(0), (json) => `if(${isBag(json)}, ${arrayOfElements(names(json))}, '')`);
};

const hasKey: SqlTemplate = (call) => {
  const path = constantKey(call, 1);
  const places = path === null ? [call.sharedOperand(1)] : path.map((key) => call.parameter("String", key));
  return letting(call.operand(0), (json) => `(${isBag(json)} AND JSONHas(${[json, ...places].join(", ")}))`);
};

/** The path that a literal key stands for; null for one that is computed, which is a name. */
function constantKey(call: CallWriter, index: number): readonly string[] | null {
  const key = call.operands[index];
  if (key?.kind !== "literal" || key.type !== "string" || key.value === null) return null;
  const path = parseBagKey(key.value);
  if (path === null)
    throw new FunctionArgumentError(index, "A path into a bag may have keys only: $.key['other key']");
  return path;
}

/** Of the bags among the operands; the value of a key is that of the first bag that has it. */
const merge: SqlTemplate = (call) => {
  const bags = call.operands.map((_, i) => call.sharedOperand(i));
  const entries = `arrayConcat(${bags.map(entriesOf).join(", ")})`;
  const merged = letting(entries, (all) => bagOfEntries(firstOfEachKey(all)));
  return `if(${bags.map(isBag).join(" OR ")}, ${merged}, '')`;
};

const removeKeys: SqlTemplate = (call) => {
  const json = call.sharedOperand(0);
  const constants = constantStrings(call.operands[1]);
  if (constants === null) {
    const names = `JSONExtract(${call.operand(1)}, 'Array(String)')`;
    const kept = `arrayFilter(x -> NOT has(${call.share(names)}, x.1), ${entriesOf(json)})`;
    return `if(${isBag(json)}, ${bagOfEntries(kept)}, '')`;
  }
  const paths = constants.map((key) => {
    const path = parseBagKey(key);
    if (path === null)
      throw new FunctionArgumentError(1, "A path into a bag may have keys only: $.key['other key']");
    return path;
  });
  return `if(${isBag(json)}, ${removedKeys(call, json, paths)}, '')`;
};

function constantStrings(operand: Expression | undefined): readonly string[] | null {
  if (operand?.kind !== "literal" || operand.type !== "dynamic" || operand.value === null) return null;
  const parsed: unknown = JSON.parse(operand.value);
  return Array.isArray(parsed) ? parsed.filter((item): item is string => typeof item === "string") : [];
}

const setKey: SqlTemplate = (call) => {
  const json = call.sharedOperand(0);
  const value = call.share(operandToElement(call, 2));
  const path = constantKey(call, 1)?.map((key) => call.parameter("String", key)) ?? [call.sharedOperand(1)];
  return `if(${isBag(json)}, ${withKey(json, path, value)}, '')`;
};

/** Keys that are no strings are left out, with their values; missing values are null. */
const zip: SqlTemplate = (call) => {
  const json = call.sharedOperand(0);
  const values = call.share(elementsOf(call.operand(1)));
  const value = `if(i > length(${values}), 'null', ${values}[i])`;
  const names = elementsOf(json);
  const entries = call.share(
    `arrayFilter(x -> startsWith(x.1, '"'), arrayMap((x, i) -> tuple(x, ${value}), ${names}, arrayEnumerate(${names})))`,
  );
  const first = firstOfEachKey(entries);
  const joined = `arrayStringConcat(arrayMap(x -> concat(x.1, ':', x.2), ${first}), ',')`;
  return `if(${isArray(json)}, concat('{', ${joined}, '}'), '')`;
};

const packDefinition: FunctionDefinition = simple(
  "A property bag of keys and values.",
  [repeated("key_or_value", "any")],
  "dynamic",
  "never",
  pack,
);

export const BAG_FUNCTIONS = {
  bag_pack: packDefinition,
  pack: packDefinition,
  pack_dictionary: packDefinition,
  bag_keys: simple("The keys of a property bag, as an array.", [bag], "dynamic", "never", keys),
  bag_has_key: {
    ...simple(
      "True if the bag has the key, which may be a path: `$.key.other`.",
      [bag, parameter("key", "string")],
      "bool",
      "never",
      hasKey,
    ),
    approximate: "A key that is not a constant is a name, not a path.",
  },
  bag_merge: simple(
    "One bag of the entries of several; of entries with the same key the first counts.",
    [bag, parameter("other", "dynamic"), repeated("more", "dynamic")],
    "dynamic",
    "never",
    merge,
  ),
  bag_remove_keys: {
    ...simple(
      "The bag without these keys, which may be paths: `$.key.other`.",
      [bag, parameter("keys", "dynamic")],
      "dynamic",
      "never",
      removeKeys,
    ),
    approximate: "Keys that are not constant are names, not paths.",
  },
  bag_set_key: {
    ...simple(
      "The bag with the value under the key, which may be a path: `$.key.other`.",
      [bag, parameter("key", "string"), parameter("value", "any")],
      "dynamic",
      "never",
      setKey,
    ),
    approximate: "A key that is not a constant is a name, not a path.",
  },
  bag_zip: simple(
    "A property bag of an array of keys and an array of values.",
    [parameter("keys", "dynamic"), parameter("values", "dynamic")],
    "dynamic",
    "never",
    zip,
  ),
} as const satisfies FunctionTable;

/** Operators on bags, under names that a query cannot write as a function. */
export const BAG_OPERATORS = {
  bagWithoutNulls: simple(
    "The bag without the entries that are null or an empty text.",
    [bag],
    "dynamic",
    "never",
    withoutNulls,
  ),
} as const satisfies FunctionTable;
