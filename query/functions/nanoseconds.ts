import type { Expression } from "../expression.ts";

/** A tick, the unit in which Kusto counts time. */
export const TICK_NS = 100n;
export const SECOND_NS = 1_000_000_000n;
export const DAY_NS = 86_400n * SECOND_NS;

/** Datetimes are exact from the first to the last of these, both in nanoseconds since 1970. */
export const FIRST_DATETIME_NS = -2_208_988_800n * SECOND_NS;
export const LAST_DATETIME_NS = 2n ** 63n - 1n;
/** The same in days since 1970. */
const FIRST_DAY = FIRST_DATETIME_NS / DAY_NS;

/** From 0001-01-01, where Kusto's ticks and bins begin, to 1970-01-01. */
export const DAYS_BEFORE_1970 = 719_162n;
export const TICKS_BEFORE_1970 = (DAYS_BEFORE_1970 * DAY_NS) / TICK_NS;

/** Says in a function's `approximate` what becomes of times that ClickHouse cannot hold. */
export const DATETIME_RANGE = "Times before 1900 or after 2262-04-11 are null.";
export const TIMESPAN_RANGE = "Spans of more than 292 years are null.";

/** The SQL of a 64-bit signed constant of ours. */
export function int64(value: bigint): string {
  return value === -(2n ** 63n) ? "toInt64('-9223372036854775808')" : `toInt64(${value})`;
}

/** The SQL of the nanoseconds since 1970 of a datetime. */
export function nanosecondsOf(datetime: string): string {
  return `toUnixTimestamp64Nano(${datetime})`;
}

/** The SQL of the nanoseconds since the year 1, as an Int128. */
export function nanosecondsSinceOrigin(nanoseconds: string): string {
  return `(toInt128(${nanoseconds}) + toInt128(${DAYS_BEFORE_1970}) * toInt128(${DAY_NS}))`;
}

/** The SQL of the datetime of nanoseconds that are known to be in range. */
export function datetimeOf(nanoseconds: string): string {
  return `fromUnixTimestamp64Nano(${nanoseconds}, 'UTC')`;
}

/** The SQL of the datetime of nanoseconds that may lie too far back, which is then NULL. `nanoseconds` must be shared. */
export function datetimeInRange(nanoseconds: string): string {
  return `if(${nanoseconds} >= ${int64(FIRST_DATETIME_NS)}, ${datetimeOf(nanoseconds)}, NULL)`;
}

/**
 * The SQL of the time that is `offset` constant nanoseconds after the beginning of a day, which is given in days since
 * 1970 and must be shared; NULL out of range.
 */
export function datetimeOfDay(days: string, offset = 0n): string {
  const lastDay = (LAST_DATETIME_NS - offset) / DAY_NS;
  const nanoseconds = `toInt64(${days}) * ${int64(DAY_NS)} + ${int64(offset)}`;
  return `if(${days} BETWEEN ${FIRST_DAY - offset / DAY_NS} AND ${lastDay}, ${datetimeOf(nanoseconds)}, NULL)`;
}

/** The SQL of the days since 1970 of a datetime, as an Int32. */
export function daysOf(datetime: string): string {
  return `toInt32(toDate32(${datetime}))`;
}

/** The SQL of a sum of two 64-bit numbers, both shared; NULL where it would wrap around. */
export function checkedSum(left: string, right: string): string {
  return `if(((${left} + ${right}) >= ${left}) = (${right} >= 0), ${left} + ${right}, NULL)`;
}

/** The SQL of a difference of two 64-bit numbers, both shared; NULL where it would wrap around. */
export function checkedDifference(left: string, right: string): string {
  return `if(((${left} - ${right}) <= ${left}) = (${right} >= 0), ${left} - ${right}, NULL)`;
}

/** The SQL of a product of two 64-bit numbers, both shared; NULL where it would wrap around. */
export function checkedProduct(left: string, right: string): string {
  return `if(abs(toFloat64(${left}) * toFloat64(${right})) < 9.223372036854e18, ${left} * ${right}, NULL)`;
}

/** The SQL of the whole part of a real number as an Int64; NULL where there is none. */
export function wholePart(real: string): string {
  return `accurateCastOrNull(trunc(${real}), 'Int64')`;
}

/** True if days are a whole number of these spans, so that spans counted from any midnight begin at the same times. */
export function dividesDay(nanoseconds: bigint): boolean {
  return nanoseconds > 0n && DAY_NS % nanoseconds === 0n;
}

/** The value of a timespan that is known when a query is compiled; null for anything else. */
export function constantSpan(expression: Expression | undefined): bigint | null {
  return expression?.kind === "literal" && expression.type === "timespan" ? expression.value : null;
}
