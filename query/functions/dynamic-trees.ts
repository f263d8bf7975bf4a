import { type FunctionTable, parameter, type SqlTemplate, simple } from "./definition.ts";
import {
  arrayOfElements,
  elementsOf,
  elementToText,
  entriesOf,
  isArray,
  isBag,
  operandToJson,
  operandType,
} from "./json-arrays.ts";

/** SQL has no recursion: each level of a value is a lambda of its own, and this is how many there are. */
const MAX_LEVELS = 8;

/** The JSON text with the keys of bags in order, down to that many levels. `json` must be shared, or of a lambda. */
function ordered(json: string, levels: number): string {
  if (levels === 0) return json;
  const members = `arrayMap(x -> tuple(concat(toJSONString(x.1), ':'), x.2), arraySort(x -> x.1, ${entriesOf(json)}))`;
  const parts = `if(${isBag(json)}, ${members}, arrayMap(x -> tuple('', x), ${elementsOf(json)}))`;
  const joined = `arrayStringConcat(arrayMap(x -> concat(x.1, ${ordered("x.2", levels - 1)}), ${parts}), ',')`;
  const brackets = (bag: string, array: string) => `if(${isBag(json)}, '${bag}', '${array}')`;
  const text = `concat(${brackets("{", "[")}, ${joined}, ${brackets("}", "]")})`;
  return `if(${isBag(json)} OR ${isArray(json)}, ${text}, ${json})`;
}

const canonicalText: SqlTemplate = (call) => {
  const json = call.share(operandToJson(call, 0));
  return operandType(call, 0) === "dynamic"
    ? elementToText(call.share(ordered(json, MAX_LEVELS)))
    : elementToText(json);
};

/** The paths to the parts of a value, each part before its own; `path` leads to the value. */
function pathsInside(json: string, path: string, levels: number): string {
  const members = `arrayMap(x -> tuple(concat(${path}, '[\\'', x.1, '\\']'), x.2), ${entriesOf(json)})`;
  // All elements of an array go by the same name.
  const elements = `arrayMap(x -> tuple(concat(${path}, '[0]'), x), ${elementsOf(json)})`;
  const parts = `if(${isBag(json)}, ${members}, ${elements})`;
  const inner = levels === 1 ? "[y.1]" : `arrayConcat([y.1], ${pathsInside("y.2", "y.1", levels - 1)})`;
  return `arrayFlatten(arrayMap(y -> ${inner}, ${parts}))`;
}

const paths: SqlTemplate = (call) => {
  const json = call.sharedOperand(0);
  const distinct = `arrayDistinct(${pathsInside(json, "''", MAX_LEVELS)})`;
  return `if(${isBag(json)} OR ${isArray(json)}, ${arrayOfElements(`arrayMap(x -> toJSONString(x), ${distinct})`)}, '')`;
};

const DEPTH = `Only the outermost ${MAX_LEVELS} levels of a value are looked into.`;

export const TREE_FUNCTIONS = {
  dynamic_to_json: {
    ...simple(
      "The JSON text of a value, the keys of bags in order.",
      [parameter("value", "any")],
      "string",
      "never",
      canonicalText,
    ),
    approximate: DEPTH,
  },
  treepath: {
    ...simple(
      "The paths to all parts of a value.",
      [parameter("object", "dynamic")],
      "dynamic",
      "never",
      paths,
    ),
    approximate: DEPTH,
  },
} as const satisfies FunctionTable;
