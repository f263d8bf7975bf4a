import { TIME_MAX_NS } from "../time-range.ts";

const NANOS_PER_MILLI = 1_000_000n;
const DAY_NS = 86_400_000n * NANOS_PER_MILLI;
const WEEK_NS = 7n * DAY_NS;
/** Kusto's smallest step of time: a day ends that much before the next. */
const TICK_NS = 100n;
/** 1970-01-01 was a Thursday, weeks begin on Sunday. */
const DAYS_INTO_WEEK = 4n;
/** From 0001-01-01, where the bins of times begin, to 1970-01-01. */
const BIN_ORIGIN_NS = -719_162n * DAY_NS;

type Start = (timeNs: bigint, offset: bigint) => bigint;

const STARTS: ReadonlyMap<string, Start> = new Map<string, Start>([
  ["day", (timeNs, offset) => floored(timeNs, DAY_NS, 0n) + offset * DAY_NS],
  ["week", (timeNs, offset) => floored(timeNs, WEEK_NS, -DAYS_INTO_WEEK * DAY_NS) + offset * WEEK_NS],
  ["month", (timeNs, offset) => monthStart(timeNs, (year, month) => [year, month + Number(offset)])],
  ["year", (timeNs, offset) => monthStart(timeNs, (year) => [year + Number(offset), 0])],
]);

/** Periods that are counted in one step: beyond them the store says what becomes of a time. */
const OFFSET_MAX = 100_000n;

/** What `startofday` and its like make of a time, in nanoseconds since 1970; null for other names. */
export function boundaryOf(name: string, timeNs: bigint, offset: bigint): bigint | null {
  const [, edge, period = ""] = /^(start|end)of(\w+)$/.exec(name) ?? [];
  const start = STARTS.get(period);
  if (start === undefined || offset > OFFSET_MAX || offset < -OFFSET_MAX) return null;
  return edge === "start" ? start(timeNs, offset) : start(timeNs, offset + 1n) - TICK_NS;
}

/** The start of the bin that holds the value; bins of times are counted from the year 1. */
export function binStart(value: bigint, size: bigint, type: "datetime" | "long" | "timespan"): bigint {
  return floored(value, size, type === "datetime" ? BIN_ORIGIN_NS : 0n);
}

function floored(value: bigint, size: bigint, origin: bigint): bigint {
  return value - ((((value - origin) % size) + size) % size);
}

function monthStart(timeNs: bigint, move: (year: number, month: number) => [number, number]): bigint {
  const date = new Date(Number(floored(timeNs, DAY_NS, 0n) / NANOS_PER_MILLI));
  const [year, month] = move(date.getUTCFullYear(), date.getUTCMonth());
  const start = Date.UTC(year, month, 1);
  return Number.isNaN(start) ? TIME_MAX_NS + 1n : BigInt(start) * NANOS_PER_MILLI;
}
