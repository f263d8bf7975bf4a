/** 1900-01-01 and 2262-04-11, the days the server can store, in seconds since 1970. */
const MIN_SECONDS = -2_208_988_800;
const MAX_SECONDS = 9_223_286_400;

/** Whether the server can store a time, in seconds since 1970. */
export function isStorable(seconds: number): boolean {
  return seconds >= MIN_SECONDS && seconds < MAX_SECONDS;
}

const DATE_TIME =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)[Tt ](?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)(?:\.(?<fraction>\d+))?(?:[Zz]|(?<sign>[+-])(?<hours>\d\d):?(?<minutes>\d\d))$/;

/**
 * A `ts` that the server takes, in milliseconds since 1970; null for any other. Real logs hold others, such as the year 1 of
 * a time that was never set; as an entry such a line would be refused, and the batch with it.
 */
export function entryTimeMs(value: unknown): number | null {
  if (typeof value === "number") return epochTimeMs(value);
  return typeof value === "string" ? dateTimeMs(value) : null;
}

/** Seconds, milli-, micro- or nanoseconds by magnitude. Nanoseconds need not be exact here: the line is sent as it is. */
function epochTimeMs(value: number): number | null {
  if (!Number.isInteger(value) || value < 1) return null;
  const perSecond = value < 1e11 ? 1 : value < 1e14 ? 1e3 : value < 1e17 ? 1e6 : 1e9;
  const seconds = value / perSecond;
  return seconds < MAX_SECONDS ? Math.floor(seconds * 1000) : null;
}

function dateTimeMs(text: string): number | null {
  const parts = DATE_TIME.exec(text)?.groups;
  if (parts === undefined) return null;
  const number = (name: string): number => Number(parts[name] ?? 0);
  const [year, month, day] = [number("year"), number("month"), number("day")];
  if (number("hour") > 23 || number("minute") > 59 || number("second") > 60) return null;
  if (number("hours") > 23 || number("minutes") > 59) return null;
  // Years below 100 would mean others to Date.UTC; the range below ends long after them.
  if (year < 1000) return null;
  const midnight = new Date(Date.UTC(year, month - 1, day));
  if (midnight.getUTCMonth() !== month - 1 || midnight.getUTCDate() !== day) return null;
  const offset = (parts.sign === "-" ? -1 : 1) * (number("hours") * 3600 + number("minutes") * 60);
  const seconds =
    midnight.getTime() / 1000 + number("hour") * 3600 + number("minute") * 60 + number("second") - offset;
  if (!isStorable(seconds)) return null;
  return seconds * 1000 + Math.floor(Number(`0.${parts.fraction ?? 0}`) * 1000);
}
