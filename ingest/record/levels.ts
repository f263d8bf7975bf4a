import { LEVEL_NUMBERS, type Level } from "../log-batch.ts";

/**
 * The words that loggers, shippers, databases and operating systems use for severities, in lower case. They are the same
 * on every wire; what a number means is its format's. Sources: syslog.h; java.util.logging, log4j, Logback; Python logging;
 * slog, zap, zerolog, logrus; winston's npm levels; Serilog; PostgreSQL's message severities; Android and glog letters.
 */
const WORDS: Readonly<Record<Level, readonly string[]>> = {
  trace: ["trace", "trc", "finest", "finer", "verbose", "vrb", "silly", "all", "notset", "t", "v"],
  debug: ["debug", "dbg", "dbug", "debg", "fine", "config", "d"],
  info: [
    ...["info", "inf", "information", "informational", "informative", "notice", "noti", "ntc", "note", "log"],
    ...["success", "default", "i", "n"],
  ],
  warn: ["warn", "wrn", "warning", "w"],
  error: ["error", "err", "eror", "erro", "severe", "failure", "e"],
  fatal: [
    ...[
      "fatal",
      "ftl",
      "fata",
      "crit",
      "critical",
      "alert",
      "alrt",
      "emerg",
      "emergency",
      "panic",
      "pnc",
      "dpanic",
    ],
    ...["f", "c"],
  ],
};

const LEVELS = Object.keys(LEVEL_NUMBERS).filter((name): name is Level => Object.hasOwn(WORDS, name));
const LEVEL_OF_WORD: ReadonlyMap<string, Level> = new Map(
  LEVELS.flatMap((level) => WORDS[level].map((word) => [word, level] as const)),
);
/** Every word for a level, the six names of the product first. */
export const LEVEL_WORDS: readonly string[] = [...new Set([...LEVELS, ...LEVEL_OF_WORD.keys()])];

/** Longer texts are no level; they need not be lowered first. */
const LEVEL_MAX_CHARS = 16;
/** Go's log/slog writes levels between the named ones so: `ERROR+2`. */
const OFFSET_WORD = /^([a-z]+)[+-]\d{1,3}$/;

/** Scales of levels that are numbers. */
export type NumberScale = "bunyan" | "python" | "syslog" | "otlp";

const BUNYAN_LEVELS: readonly Level[] = LEVELS;
const PYTHON_LEVELS: readonly Level[] = ["debug", "info", "warn", "error", "fatal"];
const SYSLOG_LEVELS: readonly Level[] = ["fatal", "fatal", "fatal", "error", "warn", "info", "info", "debug"];
const OTLP_NUMBERS_PER_LEVEL = 4;

interface AsciiWord {
  readonly bytes: Uint8Array;
  readonly level: Level;
}

/** Lengths and first letters that a word can have; both fit into five bits. */
const SHAPES = 32;
/** The words by length and first letter, so that one is compared with one or two others only. */
const WORDS_BY_SHAPE: AsciiWord[][] = [];
for (const [word, level] of LEVEL_OF_WORD) {
  const bytes = new TextEncoder().encode(word);
  const shape = shapeOf(bytes, 0, bytes.length);
  WORDS_BY_SHAPE[shape] = [...(WORDS_BY_SHAPE[shape] ?? []), { bytes, level }];
}

/** The level that a word means, in any case; null for anything else, numbers included: their scale is the format's. */
export function levelOfText(text: string): Level | null {
  if (text.length > LEVEL_MAX_CHARS) return null;
  const known = LEVEL_OF_WORD.get(text);
  if (known !== undefined) return known;
  const word = text.trim().toLowerCase();
  return LEVEL_OF_WORD.get(word) ?? LEVEL_OF_WORD.get(OFFSET_WORD.exec(word)?.[1] ?? "") ?? null;
}

/** The same for a word that is `source[start, end)`, without blanks around it or an offset behind it. */
export function levelOfBytes(source: Uint8Array, start: number, end: number): Level | null {
  const length = end - start;
  if (length < 1 || length > LEVEL_MAX_CHARS) return null;
  const candidates = WORDS_BY_SHAPE[shapeOf(source, start, end)];
  if (candidates === undefined) return null;
  for (const { bytes, level } of candidates) {
    let at = 0;
    // A byte below the letters stays below them with the bit of lower case set.
    while (at < length && bytes[at] === ((source[start + at] ?? 0) | 0x20)) at++;
    if (at === length) return level;
  }
  return null;
}

/** The level of a number in a scale; null for one that the scale does not have. */
export function levelOfNumber(number: number, scale: NumberScale): Level | null {
  switch (scale) {
    case "bunyan":
      return BUNYAN_LEVELS[number / 10 - 1] ?? null;
    case "python":
      return PYTHON_LEVELS[number / 10 - 1] ?? null;
    case "syslog":
      return levelOfSyslogSeverity(number);
    case "otlp":
      return levelOfOtlpSeverity(number);
  }
}

/** The level of a severity of RFC 5424, 0 (emergency) to 7 (debug); null for any other number. */
export function levelOfSyslogSeverity(severity: number): Level | null {
  return SYSLOG_LEVELS[severity] ?? null;
}

/** The level of an OpenTelemetry severity number, 1 to 24 in steps of four; null for any other number. */
export function levelOfOtlpSeverity(severity: number): Level | null {
  return LEVELS[Math.floor((severity - 1) / OTLP_NUMBERS_PER_LEVEL)] ?? null;
}

function shapeOf(source: Uint8Array, start: number, end: number): number {
  return (end - start) * SHAPES + ((source[start] ?? 0) & (SHAPES - 1));
}
