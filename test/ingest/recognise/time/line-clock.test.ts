import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LocalZone } from "../../../../ingest/recognise/index.ts";
import { LineClock } from "../../../../ingest/recognise/time/line-clock.ts";
import { isoOf } from "../line-case.ts";

function timeOf(text: string, { zone = "UTC", at = "2026-11-22T00:00:00Z" } = {}): string | null {
  const clock = new LineClock({ zone, yearReferenceMs: Date.parse(at) });
  const time = clock.read(text, 0);
  return time === null || clock.stamp.end !== text.length ? null : isoOf(time);
}

describe("a time is read in the form of", () => {
  test.each([
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"],
    ["2026-01-02T03:04:05.678901234+05:30", "2026-01-01T21:34:05.678901234Z"],
    ["2026-01-02 03:04:05,678", "2026-01-02T03:04:05.678Z"],
    ["2026-01-02 03:04:05 +0100", "2026-01-02T02:04:05Z"],
    ["2026-01-02 03:04:05.123-08", "2026-01-02T11:04:05.123Z"],
    ["2026-01-02 03:04:05 UTC", "2026-01-02T03:04:05Z"],
    ["2026/01/02 03:04:05.000012", "2026-01-02T03:04:05.000012Z"],
    ["2026.01.02 03:04:05", "2026-01-02T03:04:05Z"],
    ["20260102T030405Z", "2026-01-02T03:04:05Z"],
    ["20260102-03:04:05:678", "2026-01-02T03:04:05.678Z"],
    ["081109 203518", "2008-11-09T20:35:18Z"],
    ["081109  3:35:18", "2008-11-09T03:35:18Z"],
    ["03-17 16:13:38.811", "2026-03-17T16:13:38.811Z"],
    ["Jan  2 15:04:05", "2026-01-02T15:04:05Z"],
    ["Jan 2 15:04:05.25", "2026-01-02T15:04:05.25Z"],
    ["Sun Dec 04 04:47:44 2005", "2005-12-04T04:47:44Z"],
    ["Fri Sep 09 10:42:29.902022 2011", "2011-09-09T10:42:29.902022Z"],
    ["10/Oct/2000:13:55:36 -0700", "2000-10-10T20:55:36Z"],
    ["06/Feb/2009:12:14:14.655", "2009-02-06T12:14:14.655Z"],
    ["25 Nov 2014 13:02:09.123", "2014-11-25T13:02:09.123Z"],
    ["02-Jan-2026 03:04:05 CET", null],
    ["Tue, 22 Sep 2020 14:53:01 GMT", "2020-09-22T14:53:01Z"],
    ["Jan 02, 2026 12:04:05 AM", "2026-01-02T00:04:05Z"],
    ["Jan 02, 2026 12:04:05 PM", "2026-01-02T12:04:05Z"],
    ["1700000000", "2023-11-14T22:13:20Z"],
    ["1700000000.25", "2023-11-14T22:13:20.25Z"],
    ["1700000000250", "2023-11-14T22:13:20.25Z"],
    ["1700000000250123", "2023-11-14T22:13:20.250123Z"],
    ["1700000000250123456", "2023-11-14T22:13:20.250123456Z"],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"],
  ])("%s", (text, expected) => {
    expect(timeOf(text)).toBe(expected);
  });

  test.each([
    ["2026-02-30 03:04:05"],
    ["2026-13-01 03:04:05"],
    ["2026-01-02 24:04:05"],
    ["2026-01-02 03:60:05"],
    ["01/02/2026 03:04:05"],
    ["17/06/09 20:10:40"],
    ["03-17 16:13:38"],
    ["Feb 30 03:04:05"],
    ["Foo  2 03:04:05"],
    ["0700000000"],
    ["9999999999"],
    ["17000000001"],
    ["2026-01-02 13:04:05 PM"],
    // Another number of a row of them.
    ["2026-01-02 03:04:05,42"],
  ])("none at all: %s", (text) => {
    expect(timeOf(text)).toBeNull();
  });
});

describe("a zone", () => {
  test("is that of the options where the text has none", () => {
    expect(timeOf("2026-01-02 03:04:05", { zone: "+02:00" })).toBe("2026-01-02T01:04:05Z");
    expect(timeOf("2026-07-02 03:04:05", { zone: "Europe/Berlin" })).toBe("2026-07-02T01:04:05Z");
    expect(timeOf("2026-01-02 03:04:05", { zone: "Europe/Berlin" })).toBe("2026-01-02T02:04:05Z");
    expect(timeOf("2026-01-02 03:04:05Z", { zone: "Europe/Berlin" })).toBe("2026-01-02T03:04:05Z");
  });

  test("that nobody knows is refused", () => {
    expect(() => timeOf("", { zone: "Europe/Nowhere" })).toThrow(RangeError);
    expect(LocalZone.of("constructor")).toBeNull();
  });

  test("changes its offset where the clocks do", () => {
    const berlin = { zone: "Europe/Berlin" };
    expect(timeOf("2026-03-29 01:59:59", berlin)).toBe("2026-03-29T00:59:59Z");
    expect(timeOf("2026-03-29 03:00:00", berlin)).toBe("2026-03-29T01:00:00Z");
    // The hour that is left out, by the clock that was not set; the hour that comes twice, the first time.
    expect(timeOf("2026-03-29 02:30:00", berlin)).toBe("2026-03-29T01:30:00Z");
    expect(timeOf("2026-10-25 02:30:00", berlin)).toBe("2026-10-25T00:30:00Z");
    expect(timeOf("2026-10-25 03:00:00", berlin)).toBe("2026-10-25T02:00:00Z");
  });

  test("gives every clock's time back that it shows", () => {
    const zones = fc.constantFrom(
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "Asia/Kathmandu",
      "UTC",
    );
    fc.assert(
      fc.property(zones, fc.integer({ min: 0, max: 2_000_000_000 }), (zone, utc) => {
        const shown = new Date(utc * 1000).toLocaleString("sv-SE", { timeZone: zone });
        const clock = Date.parse(`${shown.replace(" ", "T")}Z`) / 1000;
        const found = LocalZone.of(zone)?.utcSeconds(clock) ?? Number.NaN;
        expect(new Date(found * 1000).toLocaleString("sv-SE", { timeZone: zone })).toBe(shown);
      }),
      { numRuns: 200 },
    );
  });
});

describe("a time without a year", () => {
  test("is of the newest year in which it was not ahead of the last line", () => {
    const at = "2026-01-03T12:00:00Z";
    expect(timeOf("Dec 30 03:04:05", { at })).toBe("2025-12-30T03:04:05Z");
    expect(timeOf("Jan  3 11:00:00", { at })).toBe("2026-01-03T11:00:00Z");
    // A zone may be ahead, and clocks are.
    expect(timeOf("Jan  4 20:00:00", { at })).toBe("2026-01-04T20:00:00Z");
    expect(timeOf("Jan  9 03:04:05", { at })).toBe("2025-01-09T03:04:05Z");
  });

  test("on a leap day is of a year that has one", () => {
    expect(timeOf("Feb 29 03:04:05", { at: "2026-11-22T00:00:00Z" })).toBe("2024-02-29T03:04:05Z");
  });

  test("rolls over New Year within a file", () => {
    const at = "2026-01-02T00:00:00Z";
    const times = ["Dec 31 23:59:59", "Jan  1 00:00:01"].map((text) => timeOf(text, { at }));
    expect(times).toEqual(["2025-12-31T23:59:59Z", "2026-01-01T00:00:01Z"]);
  });
});
