import type { Level } from "../log-batch.ts";

/** The words that loggers, shippers and operating systems use for severities, in lower case. */
const LEVEL_WORDS: ReadonlyMap<string, Level> = new Map([
  ...words("trace", "trace", "trc", "finest", "finer", "verbose", "silly", "all"),
  ...words("debug", "debug", "dbg", "dbug", "fine", "config"),
  ...words(
    "info",
    "info",
    "inf",
    "information",
    "informational",
    "notice",
    "note",
    "log",
    "success",
    "default",
  ),
  ...words("warn", "warn", "wrn", "warning"),
  ...words("error", "error", "err", "eror", "severe", "failure"),
  ...words("fatal", "fatal", "ftl", "crit", "critical", "alert", "emerg", "emergency", "panic", "dpanic"),
]);
/** Longer texts are no level; they need not be lowered first. */
const LEVEL_MAX_CHARS = 16;

const SYSLOG_LEVELS: readonly Level[] = ["fatal", "fatal", "fatal", "error", "warn", "info", "info", "debug"];
const OTLP_LEVELS: readonly Level[] = ["trace", "debug", "info", "warn", "error", "fatal"];
const OTLP_NUMBERS_PER_LEVEL = 4;

/** The level that a word means, in any case; null for anything else, numbers included: their scale is the format's. */
export function levelOfText(text: string): Level | null {
  if (text.length > LEVEL_MAX_CHARS) return null;
  return LEVEL_WORDS.get(text) ?? LEVEL_WORDS.get(text.trim().toLowerCase()) ?? null;
}

/** The level of a severity of RFC 5424, 0 (emergency) to 7 (debug); null for any other number. */
export function levelOfSyslogSeverity(severity: number): Level | null {
  return SYSLOG_LEVELS[severity] ?? null;
}

/** The level of an OpenTelemetry severity number, 1 to 24 in steps of four; null for any other number. */
export function levelOfOtlpSeverity(severity: number): Level | null {
  return OTLP_LEVELS[Math.floor((severity - 1) / OTLP_NUMBERS_PER_LEVEL)] ?? null;
}

function words(level: Level, ...texts: string[]): [string, Level][] {
  return texts.map((text) => [text, level]);
}
