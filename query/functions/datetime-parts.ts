import type { Expression } from "../expression.ts";
import { INTEGERS } from "./arithmetic.ts";
import {
  type CallWriter,
  constant,
  FunctionArgumentError,
  type FunctionDefinition,
  type FunctionTable,
  parameter,
  type SqlTemplate,
  simple,
} from "./definition.ts";
import {
  checkedDifference,
  DATETIME_RANGE,
  DAY_NS,
  datetimeInRange,
  datetimeOf,
  daysOf,
  FIRST_DATETIME_NS,
  int64,
  LAST_DATETIME_NS,
  nanosecondsOf,
} from "./nanoseconds.ts";

/** 1970-01-01 was a Thursday; weeks begin on Sunday. The number of weeks keeps the sum positive. */
const DAYS_FROM_SUNDAY = 4 + 7 * 10_000;

/** The SQL of the days from the last Sunday to a day since 1970: 0 to 6. */
export function dayOfWeek(days: string): string {
  return `((${days} + ${DAYS_FROM_SUNDAY}) % 7)`;
}

/** Spans that the calendar does not stretch. */
const FIXED_NS: ReadonlyMap<string, bigint> = new Map([
  ["week", 7n * DAY_NS],
  ["day", DAY_NS],
  ["hour", 3600n * 10n ** 9n],
  ["minute", 60n * 10n ** 9n],
  ["second", 10n ** 9n],
  ["millisecond", 10n ** 6n],
  ["microsecond", 1000n],
  ["nanosecond", 1n],
]);

const MONTHS: ReadonlyMap<string, bigint> = new Map([
  ["year", 12n],
  ["quarter", 3n],
  ["month", 1n],
]);

/** The name of a part that an argument gives, in small letters; throws when it is none of the known ones. */
function partName(call: CallWriter, known: Iterable<string>): string {
  const names = [...known];
  const given = call.operands[0];
  const value = given?.kind === "literal" && given.type === "string" ? (given.value ?? "") : "";
  const name = value.toLowerCase();
  if (names.includes(name)) return name;
  throw new FunctionArgumentError(
    0,
    `There is no part '${value}' of a datetime; the parts are ${names.join(", ")}.`,
  );
}

/** By small letters; the SQL of a part of a datetime. */
const PARTS: ReadonlyMap<string, (time: string) => string> = new Map([
  ["year", (time) => `toYear(${time})`],
  ["quarter", (time) => `toQuarter(${time})`],
  ["month", (time) => `toMonth(${time})`],
  ["week_of_year", (time) => `toISOWeek(${time})`],
  ["weekofyear", (time) => `toISOWeek(${time})`],
  ["day", (time) => `toDayOfMonth(${time})`],
  ["dayofyear", (time) => `toDayOfYear(${time})`],
  ["hour", (time) => `toHour(${time})`],
  ["minute", (time) => `toMinute(${time})`],
  ["second", (time) => `toSecond(${time})`],
  ["millisecond", (time) => `intDiv(${nanosecondOfSecond(time)}, 1000000)`],
  ["microsecond", (time) => `intDiv(${nanosecondOfSecond(time)}, 1000)`],
  ["nanosecond", (time) => nanosecondOfSecond(time)],
]);

/** The SQL of the nanoseconds since the last full second. */
export function nanosecondOfSecond(time: string): string {
  return `positiveModulo(${nanosecondsOf(time)}, toInt64(1000000000))`;
}

function part(summary: string, name: string): FunctionDefinition {
  const write = PARTS.get(name);
  if (write === undefined) throw new TypeError(`there is no part ${name}`);
  return simple(
    summary,
    [parameter("date", "datetime")],
    "long",
    "propagate",
    (call) => `toInt64(${write(call.operand(0))})`,
  );
}

const DATETIME_PART = simple(
  "A part of a datetime, as a number.",
  [constant("part", "string"), parameter("date", "datetime")],
  "long",
  "propagate",
  (call) => `toInt64(${PARTS.get(partName(call, PARTS.keys()))?.(call.operand(1))})`,
);

/** Amounts beyond these lead out of every calendar. */
const MOST_MONTHS = 6000n;

function addedMonths(call: CallWriter, months: bigint): string {
  const time = call.sharedOperand(2);
  const amount = `(least(greatest(toInt64(${call.operand(1)}), -${MOST_MONTHS}), ${MOST_MONTHS}) * ${months})`;
  const day = call.share(`toInt64(toInt32(addMonths(toDate32(${time}), ${amount})))`);
  const timeOfDay = `positiveModulo(${nanosecondsOf(time)}, ${int64(DAY_NS)})`;
  const firstDay = FIRST_DATETIME_NS / DAY_NS;
  const lastDay = LAST_DATETIME_NS / DAY_NS - 1n;
  return `if(${day} BETWEEN ${firstDay} AND ${lastDay}, ${datetimeOf(`${day} * ${int64(DAY_NS)} + ${timeOfDay}`)}, NULL)`;
}

function addedSpans(call: CallWriter, span: bigint): string {
  const time = call.share(nanosecondsOf(call.operand(2)));
  const amount = call.sharedOperand(1);
  const most = LAST_DATETIME_NS / span;
  const shift = call.share(`(toInt64(${amount}) * ${int64(span)})`);
  const isShort = `(${amount} >= -${most} AND ${amount} <= ${most})`;
  const last = `${time} <= ${int64(LAST_DATETIME_NS)} - ${shift}`;
  const first = `${time} >= ${int64(FIRST_DATETIME_NS)} - ${shift}`;
  return `if(${isShort} AND if(${shift} >= 0, ${last}, ${first}), ${datetimeOf(`${time} + ${shift}`)}, NULL)`;
}

const DATETIME_ADD: FunctionDefinition = {
  ...simple(
    "A number of years, months, days and so on later; the last day of a month stays inside it.",
    [constant("period", "string"), parameter("amount", INTEGERS), parameter("datetime", "datetime")],
    "datetime",
    "possible",
    (call) => {
      const name = partName(call, [...MONTHS.keys(), ...FIXED_NS.keys()]);
      const months = MONTHS.get(name);
      return months === undefined ? addedSpans(call, FIXED_NS.get(name) ?? 1n) : addedMonths(call, months);
    },
  ),
  approximate: DATETIME_RANGE,
};

/** Numbers of the periods since some fixed time, so that a difference counts the borders between two times. */
const PERIODS: ReadonlyMap<string, (time: string) => string> = new Map([
  ["year", (time) => `toInt64(toYear(${time}))`],
  ["quarter", (time) => `(toInt64(toYear(${time})) * 4 + toQuarter(${time}))`],
  ["month", (time) => `(toInt64(toYear(${time})) * 12 + toMonth(${time}))`],
  ["week", (time) => `toInt64(intDiv(${daysOf(time)} + ${DAYS_FROM_SUNDAY}, 7))`],
  ...[...FIXED_NS]
    .filter(([name]) => name !== "week")
    .map(([name, span]): [string, (time: string) => string] => [name, (time) => fixedPeriod(time, span)]),
]);

function fixedPeriod(time: string, span: bigint): string {
  const nanoseconds = nanosecondsOf(time);
  return `intDiv(${nanoseconds} - positiveModulo(${nanoseconds}, ${int64(span)}), ${int64(span)})`;
}

const DATETIME_DIFF = simple(
  "How many borders of a period lie between two times; positive if the first is the later one.",
  [constant("period", "string"), parameter("datetime1", "datetime"), parameter("datetime2", "datetime")],
  ([period]) => (isWeek(period) ? "real" : "long"),
  "possible",
  (call) => {
    const name = partName(call, PERIODS.keys());
    const [later, earlier] = [1, 2].map((i) =>
      call.share(PERIODS.get(name)?.(call.sharedOperand(i)) ?? "NULL"),
    );
    if (name === "nanosecond") return checkedDifference(later ?? "", earlier ?? "");
    return `${call.type === "real" ? "toFloat64" : "toInt64"}(${later} - ${earlier})`;
  },
);

function isWeek(period: Expression | undefined): boolean {
  return period?.kind === "literal" && String(period.value).toLowerCase() === "week";
}

const DAYOFWEEK: SqlTemplate = (call) =>
  `(toInt64(${dayOfWeek(daysOf(call.operand(0)))}) * ${int64(DAY_NS)})`;

const WEEK_OF_YEAR = part("The number of the ISO 8601 week.", "week_of_year");
const MONTH = part("The month, from 1 to 12.", "month");

function ofNumber(summary: string, nanoseconds: bigint): FunctionDefinition {
  const [first, last] = [FIRST_DATETIME_NS / nanoseconds, LAST_DATETIME_NS / nanoseconds];
  return {
    summary,
    approximate: DATETIME_RANGE,
    overloads: [
      ...simple("", [parameter("number", INTEGERS)], "datetime", "possible", (call) => {
        const number = call.sharedOperand(0);
        return `if(${number} BETWEEN ${first} AND ${last}, ${datetimeOf(`toInt64(${number}) * ${nanoseconds}`)}, NULL)`;
      }).overloads,
      ...simple("", [parameter("number", ["real", "decimal"])], "datetime", "possible", (call) => {
        const scaled = `accurateCastOrNull(round(${call.operand(0)} * ${Number(nanoseconds) / 100}) * 100, 'Int64')`;
        return datetimeInRange(call.share(scaled));
      }).overloads,
    ],
  };
}

/** Parts of datetimes, and calendar arithmetic. */
export const DATETIME_PART_FUNCTIONS = {
  datetime_part: DATETIME_PART,
  datepart: DATETIME_PART,
  datetime_add: DATETIME_ADD,
  datetime_diff: DATETIME_DIFF,
  dayofweek: simple(
    "The days since Sunday, as a timespan.",
    [parameter("date", "datetime")],
    "timespan",
    "propagate",
    DAYOFWEEK,
  ),
  dayofmonth: part("The day of the month, from 1 to 31.", "day"),
  dayofyear: part("The day of the year, from 1 to 366.", "dayofyear"),
  getyear: part("The year.", "year"),
  getmonth: MONTH,
  monthofyear: MONTH,
  week_of_year: WEEK_OF_YEAR,
  weekofyear: WEEK_OF_YEAR,
  hourofday: part("The hour of the day, from 0 to 23.", "hour"),
  unixtime_seconds_todatetime: ofNumber("The time of seconds since 1970.", 10n ** 9n),
  unixtime_milliseconds_todatetime: ofNumber("The time of milliseconds since 1970.", 10n ** 6n),
  unixtime_microseconds_todatetime: ofNumber("The time of microseconds since 1970.", 1000n),
  unixtime_nanoseconds_todatetime: ofNumber("The time of nanoseconds since 1970.", 1n),
} as const satisfies FunctionTable;
