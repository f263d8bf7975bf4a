import {
  DAY_NS,
  datetimeOf,
  FIRST_DATETIME_NS,
  int64,
  LAST_DATETIME_NS,
  TICK_NS,
  TICKS_BEFORE_1970,
} from "./nanoseconds.ts";

/** Reads values from texts as Kusto does: NULL for a text that is none, never an error. Every operand must be shared. */

type Integer = "int" | "long";

const HEX_DIGITS = { int: 8, long: 16 } as const;

function trimmed(text: string): string {
  return `trim(BOTH ' \\t\\r\\n\\f\\v' FROM ${text})`;
}

/** Decimal digits with a sign, or `0x` and hexadecimal digits. */
export function parsedInteger(text: string, type: Integer): string {
  const bare = trimmed(text);
  const bits = type === "int" ? "Int32" : "Int64";
  const decimal = `to${bits}OrNull(${bare})`;
  const digits = HEX_DIGITS[type];
  const isHex = `(substring(${bare}, 1, 2) IN ('0x', '0X') AND match(substring(${bare}, 3), '^[0-9a-fA-F]{1,${digits}}$'))`;
  const hex = `reinterpretAs${bits}(reverse(unhex(leftPad(substring(${bare}, 3), ${digits}, '0'))))`;
  return `multiIf(isNotNull(${decimal}), ${decimal}, ${isHex}, ${hex}, NULL)`;
}

/** Capital `INF` and `NAN` are no numbers in Kusto, other than in ClickHouse. */
export function parsedReal(text: string): string {
  const bare = trimmed(text);
  const value = `toFloat64OrNull(${bare})`;
  return `if(isFinite(${value}) OR match(${bare}, '^[+-]?([Ii]nf|Infinity|nan|NaN|[0-9.]+[eE0-9+.]*)$'), ${value}, NULL)`;
}

/** `true` and `false` in any case, or a whole number. */
export function parsedBool(text: string): string {
  const bare = `lower(${text})`;
  return `multiIf(${bare} = 'true', true, ${bare} = 'false', false, ${parsedInteger(text, "long")} != 0)`;
}

/** The whole part of a real number, the nearest number there is when it is too large; NULL for the infinite. */
export function integerOfReal(real: string, type: Integer): string {
  const [bits, last, first] =
    type === "int" ? ["Int32", 2n ** 31n - 1n, -(2n ** 31n)] : ["Int64", 2n ** 63n - 1n, -(2n ** 63n)];
  const inner = `accurateCastOrNull(trunc(${real}), '${bits}')`;
  return (
    `multiIf(not(isFinite(${real})), NULL, ${real} >= ${last}., to${bits}(${int64(last)}), ` +
    `${real} <= ${first}., to${bits}(${int64(first)}), ${inner})`
  );
}

/** Kusto counts the ticks of a datetime from the year 1. */
export function datetimeOfTicks(ticks: string): string {
  const first = FIRST_DATETIME_NS / TICK_NS + TICKS_BEFORE_1970;
  const last = LAST_DATETIME_NS / TICK_NS + TICKS_BEFORE_1970;
  const nanoseconds = `(toInt64(${ticks}) - ${int64(TICKS_BEFORE_1970)}) * 100`;
  return `if(${ticks} BETWEEN ${first} AND ${last}, ${datetimeOf(nanoseconds)}, NULL)`;
}

export function ticksOfDatetime(datetime: string): string {
  const nanoseconds = `toUnixTimestamp64Nano(${datetime})`;
  return `(intDiv(${nanoseconds} - positiveModulo(${nanoseconds}, toInt64(100)), toInt64(100)) + ${int64(TICKS_BEFORE_1970)})`;
}

export function timespanOfTicks(ticks: string): string {
  const most = LAST_DATETIME_NS / TICK_NS;
  return `if(${ticks} BETWEEN -${most} AND ${most}, toInt64(${ticks}) * 100, NULL)`;
}

/** 32 hexadecimal digits, with hyphens anywhere; nothing for anything else. */
export function parsedGuid(text: string): string {
  const digits = `lower(replaceAll(${trimmed(text)}, '-', ''))`;
  const parts = [
    [1, 8],
    [9, 4],
    [13, 4],
    [17, 4],
    [21, 12],
  ].map(([from, length]) => `substring(${digits}, ${from}, ${length})`);
  return `if(match(${digits}, '^[0-9a-f]{32}$'), concat(${parts.join(", '-', ")}), '')`;
}

const TIME = "(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\\\\.[0-9]+)?)?";
const ZONE = " ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})?";
const TIME_OF_DAY = `(?:[T ]${TIME}(?: ?[AaPp][Mm])?${ZONE})?`;
const WEEKDAY = "(?:[A-Za-z]{3,9},? )?";
const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
/** Year first, month first as in the United States, or the month's name first. */
const DATES = [
  "[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}",
  "(?:0?[1-9]|1[0-2])[-/.][0-9]{1,2}[-/.][0-9]{4}",
  `${WEEKDAY}${MONTH}[a-z]* [0-9]{1,2},? [0-9]{4}`,
];
const DATETIME = `^(?:${DATES.join("|")})${TIME_OF_DAY}$`;
/** As in mails: the day, then the month's name, and a year of two digits or four. */
const DAY_AND_MONTH = `^${WEEKDAY}([0-9]{1,2})[ -](${MONTH})[a-z]*[ -]`;
const MAIL_DATETIME = `${DAY_AND_MONTH}(?:[0-9]{2}){1,2}${TIME_OF_DAY}$`;

const DATETIME_FORMS = [DATETIME, MAIL_DATETIME].map(
  // In a text of SQL every backslash is written twice.
  (form) => new RegExp(form.replaceAll("\\\\", "\\")),
);

/** False for a constant text of which `parsedDatetime` surely makes nothing. */
export function mayBeDatetime(text: string): boolean {
  return DATETIME_FORMS.some((form) => form.test(text.trim()));
}

/** The SQL of a mail's date in the one form that ClickHouse reads; a year of two digits lies between 1950 and 2049. */
function plainMailDate(text: string): string {
  const withSpaces = `replaceRegexpOne(${text}, '${DAY_AND_MONTH}', '\\\\1 \\\\2 ')`;
  const century = (decades: string, digits: string, inside: string) =>
    `replaceRegexpOne(${inside}, '^([0-9]+ [A-Za-z]+ )([${decades}][0-9])( |T|$)', '\\\\1${digits}\\\\2\\\\3')`;
  return century("0-4", "20", century("5-9", "19", withSpaces));
}

/** The formats of Kusto's documentation; times without a zone are UTC. */
export function parsedDatetime(text: string): string {
  const bare = trimmed(text);
  const read = (form: string) => {
    const value = `parseDateTime64BestEffortUSOrNull(${form}, 9, 'UTC')`;
    return `if(toYear(${value}) >= 1900, ${value}, NULL)`;
  };
  return (
    `multiIf(match(${bare}, '${DATETIME}'), ${read(bare)}, ` +
    `match(${bare}, '${MAIL_DATETIME}'), ${read(plainMailDate(bare))}, NULL)`
  );
}

const UNITS: readonly (readonly [names: string, nanoseconds: bigint])[] = [
  ["d|day|days", DAY_NS],
  ["h|hr|hrs|hour|hours", 3600n * 10n ** 9n],
  ["m|min|minute|minutes", 60n * 10n ** 9n],
  ["s|sec|second|seconds", 10n ** 9n],
  ["ms|milli|millis|millisecond|milliseconds", 10n ** 6n],
  ["micro|micros|microsecond|microseconds", 1000n],
  ["tick|ticks", TICK_NS],
  ["nano|nanos|nanosecond|nanoseconds", 1n],
];
const CLOCK = "^(-?)(?:([0-9]{1,6})\\\\.)?([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\\\\.([0-9]{1,7}))?)?$";

/** `[-][d.]hh:mm[:ss[.fffffff]]`, a number with a unit, or a whole number of days. */
export function parsedTimespan(text: string): string {
  const bare = trimmed(text);
  const groups = `extractGroups(${bare}, '${CLOCK}')`;
  const part = (index: number) => `toInt64OrZero(${groups}[${index}])`;
  const isClock = `(${part(2)} <= 106750 AND ${part(3)} < 24 AND ${part(4)} < 60 AND ${part(5)} < 60)`;
  const seconds = `(${part(2)} * 86400 + ${part(3)} * 3600 + ${part(4)} * 60 + ${part(5)})`;
  const ticks = `toInt64OrZero(rightPad(${groups}[6], 7, '0'))`;
  const clock = `if(${isClock}, if(${groups}[1] = '-', -1, 1) * (${seconds} * 1000000000 + ${ticks} * 100), NULL)`;
  const amount = `toFloat64OrNull(extract(${bare}, '^-?[0-9]+(?:\\\\.[0-9]+)?'))`;
  const unit = `extract(${bare}, '[a-z]*$')`;
  const [names, sizes] = [
    UNITS.flatMap(([list]) => list.split("|").map((name) => `'${name}'`)),
    UNITS.flatMap(([list, size]) => list.split("|").map(() => `${size}`)),
  ];
  const size = `transform(${unit}, [${names.join(", ")}], [${sizes.join(", ")}], 0)`;
  const isAmount = `(match(${bare}, '^-?[0-9]+(?:\\\\.[0-9]+)? ?[a-z]+$') AND ${size} > 0)`;
  const days = `match(${bare}, '^-?[0-9]{1,6}$') AND abs(toInt64OrZero(${bare})) <= 106750`;
  return (
    `multiIf(position(${bare}, ':') > 0, if(match(${bare}, '${CLOCK}'), ${clock}, NULL), ` +
    `${isAmount}, accurateCastOrNull(round(${amount} * ${size}), 'Int64'), ` +
    `${days}, toInt64OrZero(${bare}) * ${DAY_NS}, NULL)`
  );
}
