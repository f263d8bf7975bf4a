import {
  type CallWriter,
  type FunctionDefinition,
  type FunctionTable,
  optional,
  overload,
  type Parameter,
  parameter,
  type SqlTemplate,
} from "./definition.ts";
import { constantText } from "./string-operators.ts";

/** A number of characters above which no text reaches, for arithmetic that cannot overflow. */
const MAX_CHARACTERS = 1_000_000_000;

/** A whole number within what texts can have; NULL becomes the given number. */
export function characterCount(call: CallWriter, index: number, whenNull: number): string {
  const operand = call.operands[index];
  if (operand?.kind === "literal" && typeof operand.value === "bigint") {
    const value = operand.value;
    const limit = BigInt(MAX_CHARACTERS);
    return `toInt64(${value > limit ? limit : value < -limit ? -limit : value})`;
  }
  const value = operand?.isNullable
    ? `ifNull(${call.sharedOperand(index)}, ${whenNull})`
    : call.sharedOperand(index);
  return call.share(`least(greatest(toInt64(${value}), -${MAX_CHARACTERS}), ${MAX_CHARACTERS})`);
}

/** No text holds it; what stands between two parts while delimiters that are not constant are looked for. */
const SPLIT_MARK = "'\\x1f\\x1a\\x1f'";

/** Array(String): the parts of a text between delimiters; `splitByString` takes constant ones only. Both must be shared. */
export function splitByAnything(text: string, delimiter: string): string {
  return `if(${delimiter} = '', [${text}], splitByString(${SPLIT_MARK}, replaceAll(${text}, ${delimiter}, ${SPLIT_MARK})))`;
}

/** Occurrences that may overlap. */
export function countOf(call: CallWriter): string {
  const text = call.share(call.textOperand(0));
  const part = constantText(call, 1);
  if (part !== undefined && !overlapsItself(part))
    return part === ""
      ? "toInt64(0)"
      : `toInt64(countSubstrings(${text}, ${call.parameter("String", part)}))`;
  const needle = call.share(call.textOperand(1));
  const starts = `range(1, toUInt64(greatest(toInt64(length(${text})) - toInt64(length(${needle})) + 2, 1)))`;
  return `if(${needle} = '', toInt64(0), toInt64(arrayCount(x -> substring(${text}, x, length(${needle})) = ${needle}, ${starts})))`;
}

/** True when the beginning of a text is also its end, so that two occurrences can share characters. */
function overlapsItself(text: string): boolean {
  for (let length = 1; length < text.length; length++) if (text.endsWith(text.slice(0, length))) return true;
  return false;
}

function indexOf(call: CallWriter): string {
  const text = call.share(call.textOperand(0));
  const part = call.share(call.textOperand(1));
  if (call.operands.length === 2) return `(toInt64(positionUTF8(${text}, ${part})) - 1)`;
  const isNothing = call.operands.length > 3 ? call.share(`(${part} = '')`) : null;
  const found = indexWithin(call, text, findPart(call, part), `toInt64(lengthUTF8(${part})) - 1`);
  return isNothing === null ? found : `if(${isNothing}, NULL, ${found})`;
}

/** The place of a part in the window, -1 for none. */
function findPart(call: CallWriter, part: string) {
  return (window: string, occurrence: string | undefined): string => {
    const first = `if(positionUTF8(${window}, ${part}) = 0, toInt64(-1), toInt64(positionUTF8(${window}, ${part})) - 1)`;
    if (occurrence === undefined) return first;
    const ends = call.share(splitByAnything(window, part));
    const before = `arraySum(x -> toInt64(lengthUTF8(x)), arraySlice(${ends}, 1, ${occurrence}))`;
    const nth = `if(length(${ends}) <= ${occurrence}, toInt64(-1), ${before} + (${occurrence} - 1) * toInt64(lengthUTF8(${part})))`;
    return `if(${part} = '', ${first}, ${nth})`;
  };
}

/**
 * A position found in the part of a text that the optional operands 2 to 4 (start, length, occurrence) name; null when
 * the length is less than -1 or the occurrence less than 1. `find` gives the position in the part, -1 for none. A match
 * may reach as many characters beyond the length as `beyond` says.
 */
export function indexWithin(
  call: CallWriter,
  text: string,
  find: (window: string, occurrence: string | undefined) => string,
  beyond = "0",
): string {
  const start = characterCount(call, 2, 0);
  const from = call.share(`if(${start} < 0, greatest(toInt64(lengthUTF8(${text})) + ${start}, 0), ${start})`);
  const length = call.operands.length > 3 ? characterCount(call, 3, -2) : undefined;
  const occurrence = call.operands.length > 4 ? characterCount(call, 4, 0) : undefined;
  const window = call.share(
    length === undefined
      ? `substringUTF8(${text}, ${from} + 1)`
      : `substringUTF8(${text}, ${from} + 1, multiIf(${length} < 0, ${MAX_CHARACTERS}, ${length} = 0, 0, ${length} + ${beyond}))`,
  );
  const at = call.share(find(window, occurrence && call.share(`greatest(${occurrence}, 1)`)));
  const found = `if(${at} < 0, toInt64(-1), ${at} + ${from})`;
  const refused = [
    ...(length === undefined ? [] : [`${length} < -1`]),
    ...(occurrence === undefined ? [] : [`${occurrence} < 1`]),
  ];
  return refused.length === 0 ? found : `if(${refused.join(" OR ")}, NULL, ${found})`;
}

/** Looks for a position, in all of a text or in a part of it; in a part that cannot be there it is null. */
export function positionFunction(
  summary: string,
  match: Parameter,
  template: SqlTemplate,
): FunctionDefinition {
  const source = parameter("string", "any");
  const part = [parameter("start", "long"), optional("length", "long"), optional("occurrence", "long")];
  return {
    summary,
    overloads: [
      overload([source, match], "long", "never", template),
      overload([source, match, ...part], "long", "possible", template),
    ],
  };
}

export const POSITION_FUNCTIONS = {
  indexof: positionFunction(
    "The position of the first occurrence, from 0, and -1 without one.",
    parameter("match", "any"),
    indexOf,
  ),
} as const satisfies FunctionTable;
