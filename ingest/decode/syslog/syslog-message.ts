/** A parameter given once is a text, one given again a list; an element without parameters is `true`. */
export type StructuredValue = string | readonly string[] | true;

/** A message of syslog in its parts; what was not there, or was the NILVALUE, is null. */
export interface SyslogMessage {
  /** From 0 to 23. */
  readonly facility: number | null;
  /** From 0 (emergency) to 7 (debug). */
  readonly severity: number | null;
  readonly time: { readonly seconds: number; readonly nanos: number } | null;
  readonly hostname: string | null;
  readonly appName: string | null;
  readonly procId: string | null;
  readonly msgId: string | null;
  /** The number that network devices count their messages with. */
  readonly sequence: string | null;
  /** By `id.parameter`, an element without parameters by its id. */
  readonly structuredData: ReadonlyMap<string, StructuredValue>;
  readonly message: string;
}

export const NO_STRUCTURED_DATA: ReadonlyMap<string, StructuredValue> = new Map();

/** The names of the facilities. Source: RFC 5424 section 6.2.1 and the keywords of syslog.h. */
export const FACILITY_NAMES: readonly string[] = [
  ...["kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp"],
  ...["ntp", "audit", "alert", "clock"],
  ...["local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"],
];

export const SEVERITY_NAMES: readonly string[] = [
  "emerg",
  "alert",
  "crit",
  "err",
  "warning",
  "notice",
  "info",
  "debug",
];

const LESS = 0x3c;
const GREATER = 0x3e;
const DIGIT_ZERO = 0x30;
const PRIORITY_MAX_DIGITS = 3;
const MAX_PRIORITY = 191;

interface Priority {
  readonly facility: number | null;
  readonly severity: number | null;
  /** Where the text goes on behind it. */
  readonly end: number;
}

const NO_PRIORITY: Priority = { facility: null, severity: null, end: 0 };

/** `<PRI>` at the start of a text; without one, or with one that means nothing, the parts are null and `end` is 0. */
export function readPriority(text: string): Priority {
  if (text.charCodeAt(0) !== LESS) return NO_PRIORITY;
  let value = 0;
  let at = 1;
  for (let digit = digitAt(text, at); digit >= 0 && at <= PRIORITY_MAX_DIGITS; digit = digitAt(text, ++at))
    value = value * 10 + digit;
  if (at === 1 || text.charCodeAt(at) !== GREATER || value > MAX_PRIORITY) return NO_PRIORITY;
  return { facility: value >> 3, severity: value & 7, end: at + 1 };
}

function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - DIGIT_ZERO;
  return digit <= 9 ? digit : -1;
}
