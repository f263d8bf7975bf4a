import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  optional,
  type Parameter,
  parameter,
  simple,
} from "./definition.ts";
import { arrayOfElements, asElement, operandType } from "./json-arrays.ts";
import {
  areIntegers,
  constantOperand,
  eitherOf,
  elementOfInteger,
  elementOfReal,
  ofSeries,
} from "./series-values.ts";
import { valueToJson } from "./value-text.ts";

const SERIES = parameter("series", "dynamic");
const PLACEHOLDER = optional("missing_value_placeholder", ["long", "real"]);

/** The elements of a series as they stand in the result, and which of them are missing: two arrays, shared. */
interface Gaps {
  readonly items: string;
  readonly known: string;
}

/** Missing is what equals the placeholder, or null where the placeholder is null or absent. */
function gapsOf(call: CallWriter, items: string, placeholder: number): Gaps {
  const [integers, number] = [call.step(areIntegers(call, 0)), "toFloat64OrNull(x)"];
  const texts = call.step(eitherOf(integers, items, `arrayMap(x -> ${elementOfReal(number)}, ${items})`));
  const isMissing = (): string => {
    if (call.operands.length <= placeholder) return `isNull(${number})`;
    const value = call.step(`toFloat64(${call.operand(placeholder)})`);
    return `ifNull(${number} = ${value}, isNull(${value}) AND isNull(${number}))`;
  };
  return { items: texts, known: call.step(`arrayMap(x -> NOT (${isMissing()}), ${items})`) };
}

function filling(
  summary: string,
  parameters: readonly Parameter[],
  placeholder: number,
  fill: (call: CallWriter, gaps: Gaps) => string,
): FunctionDefinition {
  const template = ofSeries((call, items) => arrayOfElements(fill(call, gapsOf(call, items, placeholder))));
  return simple(summary, [SERIES, ...parameters], "dynamic", "never", template);
}

/** A number of an operand as an element of the series. */
function constantElement(call: CallWriter, index: number): string {
  if (call.operands.length <= index) return "'0.0'";
  return call.step(asElement(valueToJson(call.sharedOperand(index), operandType(call, index))));
}

/** On the straight line between the nearest known elements; of integers, cut to one. */
function linear(call: CallWriter, { items, known }: Gaps): string {
  const positions = call.step(`arrayMap((k, i) -> if(k, toInt64(i), 0), ${known}, arrayEnumerate(${known}))`);
  const integers = call.step(areIntegers(call, 0));
  const fillsEdges = constantOperand(call, 2, true);
  const constant = constantElement(call, 3);
  // a and b are the known elements before and behind, m and n their positions, of which 0 is none.
  const exact =
    "(toFloat64OrZero(a) + (toFloat64OrZero(b) - toFloat64OrZero(a)) * (toFloat64(i) - m) / (n - m))";
  const between = `if(${integers}, ${elementOfInteger(`trunc(${exact})`)}, ${elementOfReal(exact)})`;
  const edge = (nearest: string) => (fillsEdges ? nearest : "x");
  const filled = `multiIf(k, x, m = 0 AND n = 0, ${constant}, m = 0, ${edge("b")}, n = 0, ${edge("a")}, ${between})`;
  const before = (list: string) => `arrayFill((x, k) -> k, ${list}, ${known})`;
  const behind = (list: string) => `arrayReverseFill((x, k) -> k, ${list}, ${known})`;
  return (
    `arrayMap((x, k, i, a, b, m, n) -> ${filled}, ${items}, ${known}, arrayEnumerate(${items}), ` +
    `${before(items)}, ${behind(items)}, ${before(positions)}, ${behind(positions)})`
  );
}

/** Functions that fill the gaps of a series. */
export const SERIES_FILLING_FUNCTIONS = {
  series_fill_forward: filling(
    "What is missing in a series is what came before it.",
    [PLACEHOLDER],
    1,
    (_, { items, known }) => `arrayFill((x, k) -> k, ${items}, ${known})`,
  ),
  series_fill_backward: filling(
    "What is missing in a series is what comes behind it.",
    [PLACEHOLDER],
    1,
    (_, { items, known }) => `arrayReverseFill((x, k) -> k, ${items}, ${known})`,
  ),
  series_fill_const: filling(
    "What is missing in a series is a constant.",
    [optional("constant_value", ["long", "real"]), PLACEHOLDER],
    2,
    (call, { items, known }) =>
      `arrayMap((x, k) -> if(k, x, ${constantElement(call, 1)}), ${items}, ${known})`,
  ),
  series_fill_linear: filling(
    "What is missing in a series lies on the straight line between its neighbours.",
    [
      PLACEHOLDER,
      { ...optional("fill_edges", "bool"), isConstant: true },
      optional("constant_value", ["long", "real"]),
    ],
    1,
    linear,
  ),
} as const satisfies FunctionTable;
