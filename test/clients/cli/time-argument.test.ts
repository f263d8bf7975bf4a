import { expect, test } from "bun:test";
import { parseTime } from "../../../clients/cli/search/time-argument.ts";
import { LocalZone } from "../../../ingest/recognise/index.ts";

const NOW_MS = Date.UTC(2026, 5, 15, 12);

test("an age is that long before now", () => {
  const ages = { "0s": 0, "90s": 90, "15m": 900, "2h": 7200, "1d": 86_400, "2w": 1_209_600 };
  for (const [text, seconds] of Object.entries(ages))
    expect([text, parseTime(text, NOW_MS)]).toEqual([text, new Date(NOW_MS - seconds * 1000).toISOString()]);
});

test("a date is its beginning in the zone of this machine", () => {
  expect(parseTime("2026-01-02", NOW_MS)).toBe(new Date(2026, 0, 2).toISOString());
});

test("what names no zone is of the one that is given, and what names one is not", () => {
  const zone = LocalZone.of("America/New_York");
  if (zone === null) throw new Error("there is such a zone");
  const times = {
    "2026-01-02": "2026-01-02T05:00:00.000Z",
    "2026-07-02": "2026-07-02T04:00:00.000Z",
    "2026-01-02 10:02": "2026-01-02T15:02:00.000Z",
    "2026-07-02T10:02:03.5": "2026-07-02T14:02:03.500Z",
    "2026-01-02T10:02:00Z": "2026-01-02T10:02:00Z",
    "2026-01-02 10:02+01:00": "2026-01-02T09:02:00.000Z",
  };
  for (const [text, time] of Object.entries(times))
    expect([text, parseTime(text, NOW_MS, zone)]).toEqual([text, time]);
});

test("a date-time with an offset keeps its digits", () => {
  for (const text of [
    "2026-01-02T03:04:05.123456789Z",
    "2026-01-02T03:04:05+05:30",
    "2026-01-02T03:04:05.1Z",
  ])
    expect(parseTime(text, NOW_MS)).toBe(text);
});

test("a date-time without seconds is that minute's beginning", () => {
  expect(parseTime("2026-01-02T10:02Z", NOW_MS)).toBe("2026-01-02T10:02:00.000Z");
  expect(parseTime("2026-01-02 10:02+05:30", NOW_MS)).toBe("2026-01-02T04:32:00.000Z");
});

test("a date-time without an offset is the time of this machine", () => {
  expect(parseTime("2026-01-02T03:04:05", NOW_MS)).toBe(new Date(2026, 0, 2, 3, 4, 5).toISOString());
});

test("anything else is no time", () => {
  const texts = [
    "",
    "now",
    "15",
    "m",
    "-5m",
    "1.5h",
    "5y",
    "1234567m",
    "12/31/2026",
    "2026-13-01",
    "Jan 1 2026",
  ];
  for (const text of texts) expect([text, parseTime(text, NOW_MS)]).toEqual([text, null]);
});
