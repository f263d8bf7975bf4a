const NS_PER_MS = 1_000_000n;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH = "(?<monthName>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\\.?";
const CLOCK = "(?<hour>\\d{1,2}):(?<minute>\\d{1,2})(?::(?<second>\\d{1,2})(?:[.,](?<fraction>\\d{1,9}))?)?";
const ZONE = "\\s*(?<zone>z|utc|gmt|[+-]\\d{1,2}(?::?\\d{2})?)?";
const HALF = "(?:\\s*(?<half>am|pm))?";
const TIME = `(?:(?:t|\\s+)${CLOCK}${HALF}${ZONE})?`;
const WEEKDAY = "(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},?\\s+)?";

/** ISO 8601 and its parts, then month/day/year, RFC 822 and 850, and their like. */
const FORMATS: readonly RegExp[] = [
  `(?<year>\\d{4})(?:-(?<month>\\d{1,2})(?:-(?<day>\\d{1,2}))?)?${TIME}`,
  `(?<year>\\d{4})\\s*[-/,]\\s*(?<month>\\d{1,2})\\s*[-/,]\\s*(?<day>\\d{1,2})${TIME}`,
  `(?<year>\\d{4})(?<month>\\d{2})(?<day>\\d{2})${TIME}`,
  `(?<month>\\d{1,2})[/.-](?<day>\\d{1,2})[/.-](?<year>\\d{4})${TIME}`,
  `${WEEKDAY}(?<day>\\d{1,2})[\\s-]${MONTH}[\\s-](?<year>\\d{4}|\\d{2})${TIME}`,
  `${WEEKDAY}${MONTH}\\s+(?<day>\\d{1,2}),?\\s+(?<year>\\d{4})${TIME}`,
].map((source) => new RegExp(`^${source}$`, "i"));

/** Two digits of a year from here on are of the last century, as RFC 822 readers have it. */
const CENTURY_PIVOT = 50;

/** Nanoseconds since 1970 of the text of a datetime literal, in UTC where it names no zone; undefined for no datetime. */
export function readDatetime(text: string): bigint | undefined {
  for (const format of FORMATS) {
    const groups = format.exec(text)?.groups;
    if (groups !== undefined) return instant(groups);
  }
  return undefined;
}

function instant(groups: Readonly<Record<string, string | undefined>>): bigint | undefined {
  const {
    year = "",
    month,
    monthName,
    day = "1",
    minute = "0",
    second = "0",
    fraction = "",
    half,
    zone,
  } = groups;
  const fullYear =
    year.length === 2 ? Number(year) + (Number(year) < CENTURY_PIVOT ? 2000 : 1900) : Number(year);
  const monthIndex =
    monthName === undefined ? Number(month ?? 1) - 1 : MONTHS.indexOf(monthName.toLowerCase());
  const hour = hourOfDay(Number(groups.hour ?? 0), half?.toLowerCase());
  if (hour === undefined || Number(minute) > 59 || Number(second) > 59 || fullYear < 1) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(fullYear, monthIndex, Number(day));
  if (date.getUTCMonth() !== monthIndex || date.getUTCDate() !== Number(day)) return undefined;
  date.setUTCHours(hour, Number(minute), Number(second));
  const shift = zoneMinutes(zone);
  if (shift === undefined) return undefined;
  const ms = BigInt(date.getTime()) - BigInt(shift) * 60_000n;
  return ms * NS_PER_MS + BigInt(fraction.padEnd(9, "0"));
}

function hourOfDay(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour > 23 ? undefined : hour;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half === "pm" ? 12 : 0);
}

function zoneMinutes(zone: string | undefined): number | undefined {
  const match = /^([+-])(\d{1,2}):?(\d{2})?$/.exec(zone ?? "");
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  if (minutes > 14 * 60) return undefined;
  return match[1] === "-" ? -minutes : minutes;
}

/** As Kusto writes a datetime: `2020-01-01T00:00:00.0000000Z`. */
export function writeDatetime(ns: bigint): string {
  const fraction = ((ns % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const seconds = new Date(Number((ns - fraction) / NS_PER_MS)).toISOString().slice(0, 19);
  return `${seconds}.${(fraction / 100n).toString().padStart(7, "0")}Z`;
}
