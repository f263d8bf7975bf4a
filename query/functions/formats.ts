import { NUMBERS } from "./arithmetic.ts";
import { nanosecondOfSecond } from "./datetime-parts.ts";
import {
  type CallWriter,
  constant,
  FunctionArgumentError,
  type FunctionDefinition,
  type FunctionTable,
  overload,
  type Parameter,
  parameter,
  simple,
} from "./definition.ts";

/** Characters that may stand between the parts of a format. */
const DELIMITERS = " /-:,._[]";

/** The constant text of an operand. */
function constantText(call: CallWriter, index: number): string {
  const operand = call.operands[index];
  return operand?.kind === "literal" && operand.type === "string" ? (operand.value ?? "") : "";
}

/** A format as runs of one letter and single delimiters. */
function formatParts(call: CallWriter, index: number): string[] {
  return constantText(call, index).match(/([A-Za-z])\1*|[^A-Za-z]/gu) ?? [];
}

/** The SQL of the texts that a format consists of, by the parts there are; throws for a part that is none. */
function formatted(call: CallWriter, parts: ReadonlyMap<string, string>, what: string): string[] {
  return formatParts(call, 1).map((part) => {
    if (DELIMITERS.includes(part)) return call.parameter("String", part);
    const sql = parts.get(part);
    if (sql !== undefined) return sql;
    const known = [...parts.keys()].join(", ");
    throw new FunctionArgumentError(
      1,
      `'${part}' is no part of the format of a ${what}: there are ${known} and the characters ${DELIMITERS}`,
    );
  });
}

/** The whole text; the empty one for null, and of a format without parts. */
function joined(parts: readonly string[]): string {
  return `ifNull(concat('', '', ${parts.join(", ") || "''"}), '')`;
}

function padded(number: string, length: number): string {
  return length === 1 ? `toString(${number})` : `leftPad(toString(${number}), ${length}, '0')`;
}

/** `f` to `fffffff`, the first digits of a second; with `F`, without the zeros at the end. */
function fractions(nanoseconds: string): [string, string][] {
  return [1, 2, 3, 4, 5, 6, 7].flatMap((digits): [string, string][] => {
    const text = `substring(leftPad(toString(${nanoseconds}), 9, '0'), 1, ${digits})`;
    return [
      ["f".repeat(digits), text],
      ["F".repeat(digits), `trim(TRAILING '0' FROM ${text})`],
    ];
  });
}

function datetimeParts(time: string): Map<string, string> {
  const hourOf12 = `((toHour(${time}) + 11) % 12 + 1)`;
  return new Map([
    ["yyyy", padded(`toYear(${time})`, 4)],
    ["yy", padded(`toYear(${time}) % 100`, 2)],
    ["y", padded(`toYear(${time}) % 100`, 1)],
    ["MM", padded(`toMonth(${time})`, 2)],
    ["M", padded(`toMonth(${time})`, 1)],
    ["dd", padded(`toDayOfMonth(${time})`, 2)],
    ["d", padded(`toDayOfMonth(${time})`, 1)],
    ["HH", padded(`toHour(${time})`, 2)],
    ["H", padded(`toHour(${time})`, 1)],
    ["hh", padded(hourOf12, 2)],
    ["h", padded(hourOf12, 1)],
    ["mm", padded(`toMinute(${time})`, 2)],
    ["m", padded(`toMinute(${time})`, 1)],
    ["ss", padded(`toSecond(${time})`, 2)],
    ["s", padded(`toSecond(${time})`, 1)],
    ["tt", `if(toHour(${time}) < 12, 'AM', 'PM')`],
    ...fractions(nanosecondOfSecond(time)),
  ]);
}

/** The longest run of `d` that a timespan's format takes. */
const MOST_DAY_DIGITS = 8;

function timespanParts(span: string): Map<string, string> {
  const size = `abs(${span})`;
  const number = (divisor: string, modulus: string) => `intDiv(${size}, ${divisor}) % ${modulus}`;
  const units: readonly (readonly [letters: string, number: string])[] = [
    ["hH", number("3600000000000", "24")],
    ["m", number("60000000000", "60")],
    ["s", number("1000000000", "60")],
  ];
  const days = `intDiv(${size}, 86400000000000)`;
  return new Map([
    ...Array.from({ length: MOST_DAY_DIGITS }, (_, i): [string, string] => [
      "d".repeat(i + 1),
      `leftPad(toString(${days}), greatest(${i + 1}, length(toString(${days}))), '0')`,
    ]),
    ...units.flatMap(([letters, value]) =>
      [...letters].flatMap((letter): [string, string][] => [
        [letter, padded(value, 1)],
        [letter.repeat(2), padded(value, 2)],
      ]),
    ),
    ...fractions(`${size} % 1000000000`),
  ]);
}

const UNITS = ["Bytes", "KB", "MB", "GB", "TB", "PB", "EB"];

/** Beyond these no digit is exact. */
const MOST_PRECISION = 15;

function formattedBytes(call: CallWriter): string {
  const size = call.sharedOperand(0);
  const precision =
    call.operands.length > 1 ? `least(greatest(toInt64(${call.operand(1)}), 0), ${MOST_PRECISION})` : "0";
  const scale = call.share(`exp10(ifNull(${precision}, 0))`);
  const amount = (power: number) => {
    const inUnit = `abs(${size}) / ${1024 ** power}`;
    return `toString(if(${size} < 0, -1, 1) * floor(${inUnit} * ${scale} + 0.5) / ${scale})`;
  };
  const inUnit = (power: number) => `concat(${amount(power)}, ' ${UNITS[power]}')`;
  if (call.operands.length > 2) {
    const wanted = constantText(call, 2);
    const power = UNITS.findIndex((unit) => unit.toLowerCase() === wanted.toLowerCase());
    if (power === -1)
      throw new FunctionArgumentError(2, `'${wanted}' is no unit of bytes: there are ${UNITS.join(", ")}.`);
    return `ifNull(${inUnit(power)}, '')`;
  }
  const branches = UNITS.slice(1)
    .map((_, i) => i + 1)
    .reverse()
    .flatMap((power) => [`abs(${size}) >= ${1024 ** power}`, inUnit(power)]);
  return `ifNull(multiIf(${branches.join(", ")}, ${inUnit(0)}), '')`;
}

function bytesOverload(...more: readonly Parameter[]) {
  return overload([parameter("size", NUMBERS), ...more], "string", "never", formattedBytes);
}

const PRECISION = parameter("precision", NUMBERS);

const FORMAT_BYTES: FunctionDefinition = {
  summary:
    "A number of bytes in a unit of 1024 to a power, the largest that leaves 1 or more if none is given.",
  overloads: [
    bytesOverload(),
    bytesOverload(PRECISION),
    bytesOverload(PRECISION, constant("units", "string")),
  ],
};

/** Values as texts in a format that the query gives. */
export const FORMAT_FUNCTIONS = {
  format_datetime: simple(
    "A time in a format of the letters of its parts.",
    [parameter("date", "datetime"), constant("format", "string")],
    "string",
    "never",
    (call) => joined(formatted(call, datetimeParts(call.sharedOperand(0)), "datetime")),
  ),
  format_timespan: simple(
    "A span in a format of the letters of its parts.",
    [parameter("timespan", "timespan"), constant("format", "string")],
    "string",
    "never",
    (call) => {
      const span = call.sharedOperand(0);
      return joined([`if(${span} < 0, '-', '')`, ...formatted(call, timespanParts(span), "timespan")]);
    },
  ),
  format_bytes: FORMAT_BYTES,
} as const satisfies FunctionTable;
