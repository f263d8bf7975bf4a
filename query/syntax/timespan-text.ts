const NS_PER_TICK = 100n;
const NS_PER_SECOND = 1_000_000_000n;
const NS_PER_DAY = 86_400n * NS_PER_SECOND;

/** Nanoseconds of a unit by its first letters; the longest prefix that fits counts. */
const UNITS: readonly (readonly [string, bigint])[] = [
  ["milli", 1_000_000n],
  ["ms", 1_000_000n],
  ["micro", 1_000n],
  ["nano", 1n],
  ["tick", NS_PER_TICK],
  ["d", NS_PER_DAY],
  ["h", 3_600n * NS_PER_SECOND],
  ["m", 60n * NS_PER_SECOND],
  ["s", NS_PER_SECOND],
];
/** What fits in .NET's timespan, which Kusto uses: 64 bits of ticks; here 64 bits of nanoseconds. */
const MAX_NS = 9_223_372_036_854_775_807n;
const WITH_UNIT = /^(-?)(\d{1,19})(?:\.(\d{1,19}))?\s*([a-z]+)$/;
const CLOCK = /^(-?)(?:(\d{1,8})\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?$/;
const DAYS = /^(-?)(\d{1,8})(?:\.(\d{1,19}))?$/;

/** A timespan in nanoseconds: `1.5h`, `1.02:03:04.5`, `10:30`, `2` (days); undefined for anything else. */
export function readTimespan(text: string): bigint | undefined {
  const value = withUnit(text) ?? clock(text) ?? days(text);
  return value === undefined || value > MAX_NS || value < -MAX_NS ? undefined : value;
}

function withUnit(text: string): bigint | undefined {
  const match = WITH_UNIT.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = "", name = ""] = match;
  const unit = UNITS.find(([prefix]) => name.startsWith(prefix))?.[1];
  return unit === undefined ? undefined : signed(sign, scaled(whole, fraction, unit));
}

function days(text: string): bigint | undefined {
  const match = DAYS.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = "", fraction = ""] = match;
  return signed(sign, scaled(whole, fraction, NS_PER_DAY));
}

function clock(text: string): bigint | undefined {
  const match = CLOCK.exec(text);
  if (match === null) return undefined;
  const [, sign, dayText = "0", hours = "", minutes = "", seconds = "0", fraction = ""] = match;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  const whole = BigInt(dayText) * 86_400n + BigInt(hours) * 3_600n + BigInt(minutes) * 60n + BigInt(seconds);
  return signed(sign, scaled(whole.toString(), fraction, NS_PER_SECOND));
}

function scaled(whole: string, fraction: string, unit: bigint): bigint {
  return (BigInt(whole + fraction) * unit) / 10n ** BigInt(fraction.length);
}

function signed(sign: string | undefined, value: bigint): bigint {
  return sign === "-" ? -value : value;
}

/** As Kusto writes a timespan: `1.02:03:04.5000000`, the days and the fraction only where they are not zero. */
export function writeTimespan(ns: bigint): string {
  const size = ns < 0n ? -ns : ns;
  const ticks = (size % NS_PER_SECOND) / NS_PER_TICK;
  const seconds = size / NS_PER_SECOND;
  const two = (value: bigint) => value.toString().padStart(2, "0");
  const dayPart = seconds >= 86_400n ? `${seconds / 86_400n}.` : "";
  const clockPart = `${two((seconds / 3_600n) % 24n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`;
  const fraction = ticks === 0n ? "" : `.${ticks.toString().padStart(7, "0")}`;
  return `${ns < 0n ? "-" : ""}${dayPart}${clockPart}${fraction}`;
}
