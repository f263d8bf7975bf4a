import { INTEGERS, NUMBERS } from "./arithmetic.ts";
import { CONVERSION_FUNCTIONS } from "./conversions.ts";
import { dayOfWeek } from "./datetime-parts.ts";
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
import {
  DATETIME_RANGE,
  DAY_NS,
  datetimeOf,
  datetimeOfDay,
  daysOf,
  int64,
  nanosecondsOf,
  TICK_NS,
  TIMESPAN_RANGE,
} from "./nanoseconds.ts";

type Period = "day" | "week" | "month" | "year";

/** Offsets beyond these lead out of the times there are. */
const MOST_PERIODS = 200_000;

/** The day since 1970, as an Int64, on which the period of a day begins; the day is that of the time, both shared. */
function firstDay(period: Period, day: string, time: string): string {
  switch (period) {
    case "day":
      return `toInt64(${day})`;
    case "week":
      return `toInt64(${day} - ${dayOfWeek(day)})`;
    case "month":
      return `toInt64(${day} - toDayOfMonth(${time}) + 1)`;
    case "year":
      return `toInt64(${day} - toDayOfYear(${time}) + 1)`;
  }
}

const DAYS_OF_PERIOD = { day: 1, week: 7 } as const;
const MONTHS_OF_PERIOD = { month: 1, year: 12 } as const;

/** The first day of the period that is so many periods later. */
function movedDay(period: Period, day: string, periods: string): string {
  if (period === "day" || period === "week") return `(${day} + ${DAYS_OF_PERIOD[period]} * ${periods})`;
  const months = `toInt64(${MONTHS_OF_PERIOD[period]} * ${periods})`;
  return `toInt64(toInt32(addMonths(toDate32(toInt32(${day})), ${months})))`;
}

/** The first day of the period of the first operand, moved by the second, and by one more for the end. */
function periodDay(call: CallWriter, period: Period, more: 0 | 1): string {
  const time = call.sharedOperand(0);
  const start = call.share(firstDay(period, call.share(daysOf(time)), time));
  if (call.operands.length === 1) return more === 0 ? start : call.share(movedDay(period, start, "1"));
  const clamped = `least(greatest(toInt64(${call.operand(1)}), -${MOST_PERIODS}), ${MOST_PERIODS})`;
  return call.share(movedDay(period, start, call.share(`(${clamped} + ${more})`)));
}

/** A day begins inside the range of times if anything of it does. */
const START_OF_DAY: SqlTemplate = (call) => {
  const time = call.share(nanosecondsOf(call.operand(0)));
  return datetimeOf(`${time} - positiveModulo(${time}, ${int64(DAY_NS)})`);
};

function boundary(summary: string, period: Period, side: "start" | "end"): FunctionDefinition {
  const date = parameter("date", "datetime");
  const offset = parameter("offset", INTEGERS);
  const write: SqlTemplate = (call) =>
    side === "start"
      ? datetimeOfDay(periodDay(call, period, 0))
      : datetimeOfDay(periodDay(call, period, 1), -TICK_NS);
  const isDay = period === "day" && side === "start";
  return {
    summary,
    approximate: DATETIME_RANGE,
    overloads: [
      overload([date], "datetime", isDay ? "propagate" : "possible", isDay ? START_OF_DAY : write),
      overload([date, offset], "datetime", "possible", write),
    ],
  };
}

/** A whole number inside bounds, and whether it was inside. */
function bounded(
  number: string,
  least: number,
  most: number,
): { readonly value: string; readonly isInside: string } {
  const isInside = `(${number} >= ${least} AND ${number} <= ${most})`;
  return { value: `toInt64(if(${isInside}, ${number}, ${least}))`, isInside };
}

/** A number of seconds as nanoseconds, cut to whole ticks. */
function secondsAsNanoseconds(seconds: string): string {
  return `(toInt64(floor(${seconds} * 10000000 + 0.001)) * 100)`;
}

/** Seconds from 0 to less than 60, as nanoseconds. */
function secondOperand(
  call: CallWriter,
  index: number,
): { readonly value: string; readonly isInside: string } {
  const seconds = call.sharedOperand(index);
  const isInside = `(${seconds} >= 0 AND ${seconds} < 60)`;
  return { value: secondsAsNanoseconds(`if(${isInside}, ${seconds}, 0)`), isInside };
}

/** The whole days that fit in 64 bits of nanoseconds. */
const MOST_DAYS = 106_750;

const MAKE_DATETIME: SqlTemplate = (call) => {
  const whole = (index: number, least: number, most: number) =>
    index < call.operands.length
      ? bounded(call.sharedOperand(index), least, most)
      : { value: "0", isInside: "true" };
  const [year, month, day] = [whole(0, 1900, 2262), whole(1, 1, 12), whole(2, 1, 31)];
  const [hour, minute] = [whole(3, 0, 23), whole(4, 0, 59)];
  const second = call.operands.length > 5 ? secondOperand(call, 5) : { value: "0", isInside: "true" };
  const first = call.share(`makeDate32(${year.value}, ${month.value}, 1)`);
  const lastOfMonth = `toDayOfMonth(addDays(addMonths(${first}, 1), -1))`;
  const dayNumber = call.share(`(toInt64(toInt32(${first})) + ${day.value} - 1)`);
  const conditions = [year, month, day, hour, minute, second].map(({ isInside }) => isInside);
  const isDay = `${day.value} <= ${lastOfMonth} AND ${dayNumber} <= ${MOST_DAYS}`;
  const timeOfDay = `(${hour.value} * 60 + ${minute.value}) * 60000000000 + ${second.value}`;
  const time = datetimeOf(`${dayNumber} * ${int64(DAY_NS)} + ${timeOfDay}`);
  return `if(${conditions.join(" AND ")} AND ${isDay}, ${time}, NULL)`;
};

function makeTimespan(days: number | null, hours: number, seconds: number): SqlTemplate {
  return (call) => {
    const none = { value: "0", isInside: "true" };
    const day = days === null ? none : bounded(call.sharedOperand(days), -MOST_DAYS, MOST_DAYS);
    const hour = bounded(call.sharedOperand(hours), 0, 23);
    const minute = bounded(call.sharedOperand(hours + 1), 0, 59);
    const second = seconds < call.operands.length ? secondOperand(call, seconds) : none;
    const conditions = [day, hour, minute, second].map(({ isInside }) => isInside);
    const span = `${day.value} * ${DAY_NS} + (${hour.value} * 60 + ${minute.value}) * 60000000000 + ${second.value}`;
    return `if(${conditions.join(" AND ")}, toInt64(${span}), NULL)`;
  };
}

function numbers(...names: readonly string[]): Parameter[] {
  return names.map((name) => parameter(name, NUMBERS));
}

/** Functions about the calendar. */
export const CALENDAR_FUNCTIONS = {
  startofday: boundary("The beginning of the day, or of one so many days later.", "day", "start"),
  startofweek: boundary(
    "The beginning of the week, a Sunday, or of one so many weeks later.",
    "week",
    "start",
  ),
  startofmonth: boundary("The beginning of the month, or of one so many months later.", "month", "start"),
  startofyear: boundary("The beginning of the year, or of one so many years later.", "year", "start"),
  endofday: boundary("The last tick of the day, or of one so many days later.", "day", "end"),
  endofweek: boundary(
    "The last tick of the week, on a Saturday, or of one so many weeks later.",
    "week",
    "end",
  ),
  endofmonth: boundary("The last tick of the month, or of one so many months later.", "month", "end"),
  endofyear: boundary("The last tick of the year, or of one so many years later.", "year", "end"),
  make_datetime: {
    summary: "The time of its parts; null when there is no such time.",
    approximate: DATETIME_RANGE,
    overloads: [
      overload(
        [
          ...numbers("year", "month", "day"),
          ...["hour", "minute", "second"].map((name) => optional(name, NUMBERS)),
        ],
        "datetime",
        "possible",
        MAKE_DATETIME,
      ),
      ...CONVERSION_FUNCTIONS.todatetime.overloads,
    ],
  },
  make_timespan: {
    summary:
      "The span of its parts: hours and minutes, then seconds, or days before them; null when a part is out of range.",
    approximate: TIMESPAN_RANGE,
    overloads: [
      overload(numbers("hours", "minutes"), "timespan", "possible", makeTimespan(null, 0, 2)),
      overload(numbers("hours", "minutes", "seconds"), "timespan", "possible", makeTimespan(null, 0, 2)),
      overload(numbers("days", "hours", "minutes", "seconds"), "timespan", "possible", makeTimespan(0, 1, 3)),
      ...CONVERSION_FUNCTIONS.totimespan.overloads,
    ],
  },
} as const satisfies FunctionTable;
