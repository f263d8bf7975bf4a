import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { compileKql } from "../../../query/index.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { queryRunner } from "../query-store.ts";
import { answered, type Case, wrongCases } from "./printed-values.ts";

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});
afterAll(() => stores.close());

/** A day, a day before 1970, and the first and the last there are. */
const DAY = "todatetime('2021-05-05 13:14:15.1234567')";
const OLD = "todatetime('1955-02-28 13:14:15.1234567')";
const FIRST = "todatetime('1900-01-01')";
const LAST = "todatetime('2262-04-11 20:00')";

const PARTS: readonly Case[] = [
  ...Object.entries({
    year: [2021, 1955],
    Quarter: [2, 1],
    month: [5, 2],
    week_of_year: [18, 9],
    day: [5, 28],
    dayOfYear: [125, 59],
    hour: [13, 13],
    minute: [14, 14],
    second: [15, 15],
    millisecond: [123, 123],
    microsecond: [123456, 123456],
    nanosecond: [123456700, 123456700],
  }).flatMap(([part, [day, old]]): Case[] => [
    [`datetime_part('${part}', ${DAY})`, day],
    [`datetime_part('${part}', ${OLD})`, old],
  ]),
  ["datetime_part('year', datetime(null))", null],
  [`getyear(${OLD})`, 1955],
  [`getyear(${LAST})`, 2262],
  [`getmonth(${DAY})`, 5],
  ["getmonth(datetime(null))", null],
  [`monthofyear(${OLD})`, 2],
  [`monthofyear(${FIRST})`, 1],
  [`dayofmonth(${DAY})`, 5],
  ["dayofmonth(datetime(2024-02-29))", 29],
  [`dayofyear(${OLD})`, 59],
  ["dayofyear(datetime(2024-12-31))", 366],
  [`hourofday(${DAY})`, 13],
  [`hourofday(${OLD})`, 13],
  [`week_of_year(${DAY})`, 18],
  ["week_of_year(datetime(2021-01-03))", 53],
  [`weekofyear(${OLD})`, 9],
  ["weekofyear(datetime(2017-01-01))", 52],
  [`dayofweek(${DAY})`, "3.00:00:00"],
  ["dayofweek(datetime(2021-05-02))", "00:00:00"],
  [`dayofweek(${FIRST})`, "1.00:00:00"],
];

const ADDED: readonly Case[] = [
  ["datetime_add('year', 1, datetime(2024-02-29))", "2025-02-28T00:00:00Z"],
  ["datetime_add('quarter', -1, datetime(2021-05-31))", "2021-02-28T00:00:00Z"],
  ["datetime_add('month', 1, datetime(2021-01-31 10:00))", "2021-02-28T10:00:00Z"],
  [`datetime_add('Month', 12, ${OLD})`, "1956-02-28T13:14:15.1234567Z"],
  ["datetime_add('week', 2, datetime(2021-05-03))", "2021-05-17T00:00:00Z"],
  ["datetime_add('day', -3, datetime(2021-05-03))", "2021-04-30T00:00:00Z"],
  ["datetime_add('hour', 25, datetime(2021-05-03))", "2021-05-04T01:00:00Z"],
  ["datetime_add('minute', -1, datetime(2021-05-03))", "2021-05-02T23:59:00Z"],
  ["datetime_add('second', toint('90'), datetime(2021-05-03))", "2021-05-03T00:01:30Z"],
  ["datetime_add('millisecond', 5, datetime(2021-05-03))", "2021-05-03T00:00:00.005Z"],
  ["datetime_add('microsecond', 5, datetime(2021-05-03))", "2021-05-03T00:00:00.000005Z"],
  ["datetime_add('nanosecond', 500, datetime(2021-05-03))", "2021-05-03T00:00:00.0000005Z"],
  [`datetime_add('year', 1, ${LAST})`, null],
  [`datetime_add('month', -1, ${FIRST})`, null],
  [`datetime_add('day', 9223372036854775807, ${DAY})`, null],
  [`datetime_add('year', -9223372036854775807, ${DAY})`, null],
  [`datetime_add('hour', -1, ${FIRST})`, null],
  [`datetime_add('day', long(null), ${DAY})`, null],
];

const DIFFERENCES: readonly Case[] = [
  ["datetime_diff('year', datetime(2021-01-01), datetime(2020-12-31))", 1],
  ["datetime_diff('quarter', datetime(2021-04-01), datetime(2020-12-31))", 2],
  ["datetime_diff('month', datetime(2021-01-31), datetime(2021-02-01))", -1],
  ["datetime_diff('week', datetime(2021-05-02), datetime(2021-05-01))", 1],
  ["datetime_diff('Week', datetime(2021-05-08), datetime(2021-05-02))", 0],
  ["datetime_diff('day', datetime(2021-05-03 00:01), datetime(2021-05-02 23:59))", 1],
  ["datetime_diff('hour', datetime(2021-05-03 01:00), datetime(2021-05-02 23:59))", 2],
  ["datetime_diff('minute', todatetime('1969-12-31 23:59:59'), datetime(1970-01-01))", -1],
  ["datetime_diff('second', datetime(2021-05-03 00:00:01.9), datetime(2021-05-03))", 1],
  ["datetime_diff('millisecond', datetime(2021-05-03 00:00:00.0019), datetime(2021-05-03))", 1],
  ["datetime_diff('microsecond', datetime(2021-05-03 00:00:00.0019), datetime(2021-05-03))", 1900],
  ["datetime_diff('nanosecond', datetime(2021-05-03 00:00:00.0000002), datetime(2021-05-03))", 200],
  [`datetime_diff('nanosecond', ${LAST}, ${FIRST})`, null],
  [`datetime_diff('year', ${LAST}, ${FIRST})`, 362],
  ["datetime_diff('day', datetime(null), datetime(2021-05-03))", null],
];

const BOUNDARIES: readonly Case[] = [
  [`startofday(${DAY})`, "2021-05-05T00:00:00Z"],
  [`startofday(${OLD}, 2)`, "1955-03-02T00:00:00Z"],
  [`startofday(${FIRST}, -1)`, null],
  [`startofweek(${DAY})`, "2021-05-02T00:00:00Z"],
  [`startofweek(${OLD}, -1)`, "1955-02-20T00:00:00Z"],
  [`startofweek(${FIRST})`, null],
  [`startofmonth(${DAY})`, "2021-05-01T00:00:00Z"],
  [`startofmonth(${OLD}, -2)`, "1954-12-01T00:00:00Z"],
  [`startofyear(${DAY})`, "2021-01-01T00:00:00Z"],
  [`startofyear(${OLD}, 1)`, "1956-01-01T00:00:00Z"],
  [`startofyear(${DAY}, 9223372036854775807)`, null],
  [`startofmonth(${DAY}, long(null))`, null],
  ["startofday(datetime(null))", null],
  [`endofday(${DAY})`, "2021-05-05T23:59:59.9999999Z"],
  [`endofday(${OLD}, 1)`, "1955-03-01T23:59:59.9999999Z"],
  [`endofday(${LAST})`, null],
  [`endofweek(${DAY})`, "2021-05-08T23:59:59.9999999Z"],
  [`endofweek(${FIRST})`, "1900-01-06T23:59:59.9999999Z"],
  ["endofmonth(datetime(2024-02-01))", "2024-02-29T23:59:59.9999999Z"],
  [`endofmonth(${OLD}, 1)`, "1955-03-31T23:59:59.9999999Z"],
  [`endofyear(${OLD})`, "1955-12-31T23:59:59.9999999Z"],
  [`endofyear(${DAY}, -1)`, "2020-12-31T23:59:59.9999999Z"],
  [`endofyear(${LAST})`, null],
];

const MADE: readonly Case[] = [
  ["make_datetime(2021, 5, 3)", "2021-05-03T00:00:00Z"],
  ["make_datetime(2021, 5, 3, 10, 20)", "2021-05-03T10:20:00Z"],
  ["make_datetime(1955, 5, 3, 10, 20, 30.5)", "1955-05-03T10:20:30.5Z"],
  ["make_datetime(2021, 2, 29)", null],
  ["make_datetime(2021, 13, 1)", null],
  ["make_datetime(2021, 5, 3, 24)", null],
  ["make_datetime(2021, 5, 3, 10, 20, 60)", null],
  ["make_datetime(1899, 12, 31)", null],
  ["make_datetime(2262, 4, 12)", null],
  ["make_datetime(int(null), 5, 3)", null],
  ["make_datetime('2021-05-03')", "2021-05-03T00:00:00Z"],
  ["make_datetime(637555968000000000)", "2021-05-03T00:00:00Z"],
  ["make_timespan('1d')", "1.00:00:00"],
  ["make_timespan(1, 30)", "01:30:00"],
  ["make_timespan(1, 30, 55.5)", "01:30:55.5"],
  ["make_timespan(2, 1, 30, 55)", "2.01:30:55"],
  ["make_timespan(25, 0)", null],
  ["make_timespan(1, 60)", null],
  ["make_timespan(1, long(null))", null],
  ["unixtime_seconds_todatetime(1620000000)", "2021-05-03T00:00:00Z"],
  ["unixtime_seconds_todatetime(-0.5)", "1969-12-31T23:59:59.5Z"],
  ["unixtime_seconds_todatetime(1e300)", null],
  ["unixtime_milliseconds_todatetime(1620000000123)", "2021-05-03T00:00:00.123Z"],
  ["unixtime_milliseconds_todatetime(9223372036854775807)", null],
  ["unixtime_microseconds_todatetime(1620000000000001)", "2021-05-03T00:00:00.000001Z"],
  ["unixtime_microseconds_todatetime(real(null))", null],
  ["unixtime_nanoseconds_todatetime(1620000000000000100)", "2021-05-03T00:00:00.0000001Z"],
  ["unixtime_nanoseconds_todatetime(-9223372036854775807)", null],
];

const ZONES: readonly Case[] = [
  ["datetime_utc_to_local(datetime(2021-05-03 12:00), 'US/Pacific')", "2021-05-03T05:00:00Z"],
  ["datetime_utc_to_local(datetime(2021-01-03 12:00), 'Europe/Zurich')", "2021-01-03T13:00:00Z"],
  ["datetime_utc_to_local(datetime(null), 'UTC')", null],
  [`datetime_utc_to_local(${FIRST}, 'America/New_York')`, null],
  ["datetime_local_to_utc(datetime(2021-05-03 05:00), 'US/Pacific')", "2021-05-03T12:00:00Z"],
  ["datetime_local_to_utc(datetime(2021-03-28 03:30), 'Europe/Zurich')", "2021-03-28T01:30:00Z"],
  ["datetime_local_to_utc(datetime(2021-03-28 01:30), 'Europe/Zurich')", "2021-03-28T00:30:00Z"],
  ["array_length(datetime_list_timezones()) > 300", true],
  ["tostring(datetime_list_timezones()) has 'Europe/Zurich'", true],
];

const FORMATS: readonly Case[] = [
  [`format_datetime(${DAY}, 'yyyy-MM-dd HH:mm:ss.fffffff')`, "2021-05-05 13:14:15.1234567"],
  [`format_datetime(${OLD}, 'd/M/yy h:m:s tt')`, "28/2/55 1:14:15 PM"],
  ["format_datetime(datetime(2021-05-05 00:05), '[hh_mm tt, H]')", "[12_05 AM, 0]"],
  ["format_datetime(datetime(2021-05-05 00:00:00.0500), 'ff')", "05"],
  ["format_datetime(datetime(2021-05-05 00:00:00.5000), 'FFF')", "5"],
  ["format_datetime(datetime(2021-05-05), 'FFFFFFF')", ""],
  ["format_datetime(datetime(2005-05-05), 'y')", "5"],
  ["format_datetime(datetime(null), 'yyyy')", ""],
  ["format_timespan(1d + 2h + 3m + 4s + 5ms, 'd.hh:mm:ss.fff')", "1.02:03:04.005"],
  ["format_timespan(-26h, 'ddd [H:m]')", "-001 [2:0]"],
  ["format_timespan(1tick, 'fffffff')", "0000001"],
  ["format_timespan(timespan(null), 'd')", ""],
  ["format_bytes(564)", "564 Bytes"],
  ["format_bytes(10332, 1)", "10.1 KB"],
  ["format_bytes(20010332)", "19 MB"],
  ["format_bytes(20010332, 2)", "19.08 MB"],
  ["format_bytes(20010332, 0, 'KB')", "19541 KB"],
  ["format_bytes(-2048)", "-2 KB"],
  ["format_bytes(long(null))", ""],
];

describe("functions of times", () => {
  test.each([
    ["give the parts", PARTS],
    ["add periods of the calendar", ADDED],
    ["count the borders between two times", DIFFERENCES],
    ["find the bounds of periods", BOUNDARIES],
    ["make times and spans of numbers", MADE],
    ["know time zones", ZONES],
    ["write texts in a format", FORMATS],
  ])("%s as the engine does, and give null out of range", async (_, cases) => {
    expect(await wrongCases(queryRunner(stores), cases)).toEqual([]);
  });

  test("are the same for columns as for constants", async () => {
    const query =
      `datatable(t:datetime, n:int)[datetime(2021-05-05 13:14:15), 1, datetime(null), 2] ` +
      "| project startofmonth(t, n), endofweek(t), datetime_add('month', n, t), format_datetime(t, 'yyyy MM'), dayofweek(t)";
    expect(await answered(queryRunner(stores), query)).toEqual([
      [
        "2021-06-01T00:00:00Z",
        "2021-05-08T23:59:59.9999999Z",
        "2021-06-05T13:14:15Z",
        "2021 05",
        "3.00:00:00",
      ],
      [null, null, null, "", null],
    ]);
  });

  test("refuse parts, formats, zones and units that there are not", () => {
    const refused = (text: string) => {
      const compiled = compileKql(`print ${text}`, { nowNs: 0n });
      return compiled.ok ? null : compiled.diagnostics[0]?.text;
    };
    expect(refused("datetime_part('century', now())")).toBe("'century'");
    expect(refused("datetime_add('fortnight', 1, now())")).toBe("'fortnight'");
    expect(refused("datetime_diff('', now(), now())")).toBe("''");
    expect(refused("format_datetime(now(), 'yyyy-MM-ddTHH')")).toBe("'yyyy-MM-ddTHH'");
    expect(refused("format_timespan(1h, 'g')")).toBe("'g'");
    expect(refused("datetime_utc_to_local(now(), 'Mars/Olympus')")).toBe("'Mars/Olympus'");
    expect(refused("format_bytes(1, 0, 'parsec')")).toBe("'parsec'");
    expect(refused("datetime_part(strcat('ye', 'ar'), now())")).not.toBe(null);
  });
});
