import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  optional,
  overload,
  parameter,
  repeated,
  type SqlTemplate,
  simple,
} from "./definition.ts";
import {
  arrayOfElements,
  asElement,
  elementsOf,
  integerOperand,
  isArray,
  letting,
  operandToComparable,
  operandToElement,
  operandType,
  whenPresent,
  withElements,
} from "./json-arrays.ts";

const array = parameter("array", "dynamic");

/** An array made of the elements of the first operand, which has to be one; null without one of the other operands. */
function rearranged(
  build: (call: CallWriter, items: string, count: string) => string,
  operands: readonly number[] = [],
): SqlTemplate {
  return (call) =>
    whenPresent(
      call,
      operands,
      withElements(call, (items) => arrayOfElements(build(call, items, `toInt64(length(${items}))`))),
    );
}

/** Positions from the end are negative; what lies outside is moved to the nearest end. */
const slice: SqlTemplate = rearranged(
  (call, items, count) => {
    const start = integerOperand(call, 1);
    const end = integerOperand(call, 2);
    const first = `least(if(${start} < 0, greatest(${start} + ${count}, 0), ${start}), ${count})`;
    const last = `if(${end} < 0, ${end} + ${count}, least(${end}, ${count} - 1))`;
    return `arraySlice(${items}, ${first} + 1, greatest(${last} - ${first} + 1, 0))`;
  },
  [1, 2],
);

function rotate(direction: "left" | "right"): SqlTemplate {
  return rearranged(
    (call, items, count) => {
      const turns = `positiveModulo(${integerOperand(call, 1)}, greatest(${count}, 1))`;
      const split = direction === "left" ? turns : `${count} - ${turns}`;
      return `arrayConcat(arraySlice(${items}, ${split} + 1), arraySlice(${items}, 1, ${split}))`;
    },
    [1],
  );
}

function shift(direction: "left" | "right"): SqlTemplate {
  return rearranged(
    (call, items, count) => {
      const operand = integerOperand(call, 1);
      const steps = direction === "left" ? operand : `negate(${operand})`;
      const moved = `least(greatest(${steps}, -${count}), ${count})`;
      const fill = call.operands.length > 2 ? call.share(operandToElement(call, 2)) : "'null'";
      const filling = `arrayMap(x -> ${fill}, range(toUInt64(abs(${moved}))))`;
      return (
        `if(${moved} >= 0, arrayConcat(arraySlice(${items}, ${moved} + 1), ${filling}), ` +
        `arrayConcat(${filling}, arraySlice(${items}, 1, ${count} + ${moved})))`
      );
    },
    [1],
  );
}

/** Joins the arrays among the operands as text: what is inside them stays as it is. */
const concat: SqlTemplate = (call) => {
  const operands = call.operands.map((_, i) => call.operand(i)).join(", ");
  const insides = `arrayMap(x -> substring(x, 2, length(x) - 2), arrayFilter(x -> ${isArray("x")} AND x != '[]', [${operands}]))`;
  return arrayOfElements(insides);
};

const indexOf: SqlTemplate = (call) => {
  const optionalInteger = (index: number, absent: string) =>
    call.operands.length > index ? integerOperand(call, index) : absent;
  const start = optionalInteger(2, "0");
  const length = optionalInteger(3, "-1");
  const occurrence = optionalInteger(4, "1");
  const wanted = call.share(operandToComparable(call, 1));
  const found = (items: string) => {
    if (call.operands.length === 2) return `indexOf(${items}, ${wanted})`;
    const first = `if(${start} < 0, greatest(${start} + toInt64(length(${items})), 0), ${start})`;
    const fits = `x = ${wanted} AND i > ${first} AND (${length} < 0 OR i - ${first} <= ${length})`;
    return `arrayFilter((i, x) -> ${fits}, arrayEnumerate(${items}), ${items})[greatest(${occurrence}, 1)]`;
  };
  return letting(
    call.operand(0),
    (json) => `if(${isArray(json)}, toInt64(${letting(elementsOf(json), found, "y")}) - 1, NULL)`,
  );
};

const sum: SqlTemplate = (call) => {
  const isNumber = "x = 'null' OR isNotNull(toFloat64OrNull(x))";
  const added = (items: string) =>
    `if(notEmpty(${items}) AND arrayAll(x -> ${isNumber}, ${items}), arraySum(x -> toFloat64OrZero(x), ${items}), NULL)`;
  return letting(
    call.operand(0),
    (json) => `if(${isArray(json)}, ${letting(elementsOf(json), added, "y")}, NULL)`,
  );
};

/** The parts between positions; a position before the one before it makes an empty part. */
const split: SqlTemplate = (call) => {
  const positions =
    operandType(call, 1) === "dynamic"
      ? `arrayMap(x -> toInt64OrZero(x), ${elementsOf(call.sharedOperand(1))})`
      : `[${integerOperand(call, 1)}]`;
  const parts = (items: string) => {
    const count = `toInt64(length(${items}))`;
    const clamped = `arrayMap(x -> least(greatest(if(x < 0, x + ${count}, x), 0), ${count}), ${positions})`;
    const part = `arraySlice(${items}, x + 1, greatest(i - x, 0))`;
    const starts = `arrayConcat([toInt64(0)], ${clamped})`;
    return arrayOfElements(
      `arrayMap((x, i) -> ${arrayOfElements(part)}, ${starts}, arrayConcat(${clamped}, [${count}]))`,
    );
  };
  return whenPresent(call, [1], withElements(call, parts));
};

/** Chooses element by element; a choice that is no array is the same for every element. */
const choose: SqlTemplate = (call) => {
  const choice = (index: number) => {
    if (operandType(call, index) !== "dynamic") return call.share(operandToElement(call, index));
    const chosen = call.sharedOperand(index);
    const list = call.share(elementsOf(chosen));
    return `multiIf(NOT ${isArray(chosen)}, ${asElement(chosen)}, i > length(${list}), 'null', ${list}[i])`;
  };
  const [whenTrue, whenFalse] = [choice(1), choice(2)];
  const chosen =
    `multiIf(x = 'true' OR toFloat64OrZero(x) != 0, ${whenTrue}, ` +
    `x = 'false' OR toFloat64OrNull(x) = 0, ${whenFalse}, 'null')`;
  return withElements(call, (items) =>
    arrayOfElements(`arrayMap((x, i) -> ${chosen}, ${items}, arrayEnumerate(${items}))`),
  );
};

/** Tuples of the elements at the same position, as long as the longest array. */
const zip: SqlTemplate = (call) => {
  const lists = call.operands.map((_, i) => call.share(elementsOf(call.operand(i))));
  const longest = `greatest(${lists.map((list) => `length(${list})`).join(", ")})`;
  const parts = lists.map((list) => `if(i > length(${list}), 'null', ${list}[i])`);
  return arrayOfElements(
    `arrayMap(i -> concat('[', ${parts.join(", ',', ")}, ']'), range(1, toUInt64(${longest}) + 1))`,
  );
};

const pack: SqlTemplate = (call) =>
  arrayOfElements(`[${call.operands.map((_, i) => operandToElement(call, i)).join(", ")}]`);

const chooseDefinition: FunctionDefinition = simple(
  "For each element of an array of conditions, the element of one of two other arrays.",
  [parameter("condition_array", "dynamic"), parameter("when_true", "any"), parameter("when_false", "any")],
  "dynamic",
  "never",
  choose,
);

function moving(summary: string, template: SqlTemplate): FunctionDefinition {
  return simple(summary, [array, parameter("count", "long")], "dynamic", "never", template);
}

function shifting(summary: string, template: SqlTemplate): FunctionDefinition {
  const parameters = [array, parameter("shift_count", "long"), optional("default_value", "any")];
  return simple(summary, parameters, "dynamic", "never", template);
}

const length = simple(
  "The number of elements of an array; null for anything else.",
  [array],
  "long",
  "possible",
  (call) => letting(call.operand(0), (json) => `if(${isArray(json)}, toInt64(JSONLength(${json})), NULL)`),
);

export const ARRAY_FUNCTIONS = {
  array_length: length,
  arraylength: length,
  array_concat: simple(
    "One array of the elements of several; what is no array is left out.",
    [array, repeated("other", "dynamic")],
    "dynamic",
    "never",
    concat,
  ),
  array_iff: chooseDefinition,
  array_iif: chooseDefinition,
  array_index_of: simple(
    "The position of a value in an array, from 0; -1 when it is not there.",
    [
      array,
      parameter("value", "any"),
      optional("start", "long"),
      optional("length", "long"),
      optional("occurrence", "long"),
    ],
    "long",
    "possible",
    indexOf,
  ),
  array_reverse: simple(
    "The elements in the opposite order.",
    [array],
    "dynamic",
    "never",
    rearranged((_, items) => `arrayReverse(${items})`),
  ),
  array_rotate_left: moving("The elements moved to the left, the first ones to the end.", rotate("left")),
  array_rotate_right: moving("The elements moved to the right, the last ones to the start.", rotate("right")),
  array_shift_left: shifting("The elements moved to the left, the places at the end filled.", shift("left")),
  array_shift_right: shifting(
    "The elements moved to the right, the places at the start filled.",
    shift("right"),
  ),
  array_slice: simple(
    "The elements from one position to another, both included; negative ones count from the end.",
    [array, parameter("start", "long"), parameter("end", "long")],
    "dynamic",
    "never",
    slice,
  ),
  array_split: {
    summary: "The parts of an array between positions.",
    overloads: [
      overload([array, parameter("index", "long")], "dynamic", "never", split),
      overload([array, parameter("indices", "dynamic")], "dynamic", "never", split),
    ],
  },
  array_sum: simple(
    "The sum of the numbers in an array; null when it holds anything else, or nothing.",
    [array],
    "real",
    "possible",
    sum,
  ),
  pack_array: simple("An array of the values.", [repeated("value", "any")], "dynamic", "never", pack),
  zip: simple(
    "Arrays of the elements at the same positions of several arrays, filled with null.",
    [array, parameter("other", "dynamic"), repeated("more", "dynamic")],
    "dynamic",
    "never",
    zip,
  ),
} as const satisfies FunctionTable;
