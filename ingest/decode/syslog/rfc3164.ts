import { levelOfText } from "../../record/levels.ts";
import { type ClockTime, readEpochTime, readIsoTime, readMonthTime } from "./clock-time.ts";
import { NO_STRUCTURED_DATA, readPriority, type SyslogMessage } from "./syslog-message.ts";
import { zoneOffset } from "./time-zones.ts";

/** What network devices put in front of the time: a running number, the version of the protocol, a colon. */
const SEQUENCE = /(\d{1,10}): /y;
const VERSION_BEFORE_EPOCH = /1 (?=\d{9,11}\.\d)/y;
const LEADING_COLON = /: ?/y;
/** A device's name in front of the time. */
const ORIGIN = /([^\s:]{1,255}): /y;
/** A device whose clock is not set says so with one of these in front of the time. */
const CLOCK_MARK = /[*.]/y;
/** A zone behind the time counts with the colon that ends the time there, or when its name is no host's. */
const ZONE = / (UTC|GMT|[A-Z]{2,5}(?=:)|[+-]\d{2}:?\d{2}(?=:))(:)?(?: |$)/y;
const TIME_END = /(:)?(?: |$)/y;
const FORWARDED = /Message forwarded from ([^\s:]{1,255}): /y;
const HOST = /([A-Za-z0-9_.:%@/-]{1,255}) (?:: )?/y;
/** `tag:` or `tag[pid]:`, with or without a blank behind the latter. */
const TAG = /([^\s:[\]{}"'=<>|,]{1,64})(?:\[([^\]\s]{1,64})\]:? ?|:(?: |$))/y;
/** `%FACILITY-SEVERITY-MNEMONIC:`, which is a part of the message, too. */
const MNEMONIC = /%([A-Za-z0-9_]{1,64}(?:-[A-Za-z0-9_]{1,64}){0,4}-([0-7])-[A-Za-z0-9_]{1,64}) ?:/y;

/**
 * A message in the manner of RFC 3164, as found in the wild, in its parts. It never fails: what is not recognised is
 * the message. Times without a zone count as UTC; one without a year is of the newest year that is not ahead of `nowMs`.
 */
export function parseRfc3164(text: string, nowMs: number): SyslogMessage {
  const priority = readPriority(text);
  const start = readStart(text, priority.end, nowMs);
  if (priority.end === 0 && start.time === null) return plainMessage(text);
  let at = start.end;
  let hostname = start.origin;
  if (start.time !== null && hostname === null && !start.endsWithColon) {
    const host = readHost(text, at, priority.end > 0 || start.isMonthTime);
    hostname = host?.name ?? null;
    at = host?.end ?? at;
  }
  const mnemonic = matchAt(MNEMONIC, text, at);
  const tag = mnemonic === null ? matchAt(TAG, text, at) : null;
  return {
    facility: priority.facility,
    severity: priority.severity ?? (mnemonic === null ? null : Number(mnemonic[2])),
    time: start.time,
    hostname,
    appName: tag?.[1] ?? null,
    procId: tag?.[2] ?? null,
    msgId: mnemonic?.[1] ?? null,
    sequence: start.sequence,
    structuredData: NO_STRUCTURED_DATA,
    message: text.slice(at + (tag?.[0].length ?? 0)),
  };
}

/** A text that has nothing of syslog. */
function plainMessage(message: string): SyslogMessage {
  return {
    facility: null,
    severity: null,
    time: null,
    hostname: null,
    appName: null,
    procId: null,
    msgId: null,
    sequence: null,
    structuredData: NO_STRUCTURED_DATA,
    message,
  };
}

interface Start {
  readonly sequence: string | null;
  readonly origin: string | null;
  readonly time: { readonly seconds: number; readonly nanos: number } | null;
  readonly isMonthTime: boolean;
  /** Behind such a time comes the message, not a host. */
  readonly endsWithColon: boolean;
  readonly end: number;
}

/** Everything up to the time, the time and its zone. Without a time nothing before it counts as recognised. */
function readStart(text: string, from: number, nowMs: number): Start {
  let at = from;
  let sequence: RegExpExecArray | null = null;
  if (!isLetter(text, at)) {
    sequence = matchAt(SEQUENCE, text, at);
    at += sequence?.[0].length ?? 0;
    at += matchAt(VERSION_BEFORE_EPOCH, text, at)?.[0].length ?? 0;
    at += matchAt(LEADING_COLON, text, at)?.[0].length ?? 0;
  }
  let origin: string | null = null;
  let found = readTime(text, at, nowMs);
  if (found === null) {
    const named = matchAt(ORIGIN, text, at);
    found = named === null ? null : readTime(text, at + named[0].length, nowMs);
    if (found !== null) origin = named?.[1] ?? null;
  }
  if (found === null)
    return { sequence: null, origin: null, time: null, isMonthTime: false, endsWithColon: false, end: from };
  const { time, isMonthTime } = found;
  const zone = matchAt(ZONE, text, time.end);
  const east = zone === null ? null : zoneOffset(zone[1] ?? "");
  // What is no zone that anybody knows is a tag.
  const [end = "", colon] =
    (east === null ? matchAt(TIME_END, text, time.end) : [zone?.[0], zone?.[2]]) ?? [];
  return {
    sequence: sequence?.[1] ?? null,
    origin,
    time: { seconds: time.seconds - (east ?? 0), nanos: time.nanos },
    isMonthTime,
    endsWithColon: colon !== undefined,
    end: time.end + end.length,
  };
}

function readTime(text: string, at: number, nowMs: number): { time: ClockTime; isMonthTime: boolean } | null {
  const clockAt = at + (matchAt(CLOCK_MARK, text, at)?.[0].length ?? 0);
  const monthTime = readMonthTime(text, clockAt, nowMs);
  const time = monthTime ?? readIsoTime(text, clockAt) ?? readEpochTime(text, clockAt);
  return time === null ? null : { time, isMonthTime: monthTime !== null };
}

/**
 * The host behind the time. Where it is not sure that this is syslog (a log file's line may begin with a time, too),
 * a word counts as a host only when a tag comes behind it.
 */
function readHost(text: string, from: number, isSyslog: boolean): { name: string; end: number } | null {
  const forwarded = matchAt(FORWARDED, text, from);
  if (forwarded !== null) return { name: forwarded[1] ?? "", end: from + forwarded[0].length };
  const host = matchAt(HOST, text, from);
  const [whole = "", name = ""] = host ?? [];
  const end = from + whole.length;
  if (host === null || levelOfText(name) !== null) return null;
  // With a colon at its end it is the tag, unless a device's mnemonic comes behind it.
  if (name.endsWith(":"))
    return matchAt(MNEMONIC, text, end) === null ? null : { name: name.slice(0, -1), end };
  return isSyslog || matchAt(TAG, text, end) !== null ? { name, end } : null;
}

/** Most messages begin with the name of a month, and so with nothing of what devices put in front of it. */
function isLetter(text: string, at: number): boolean {
  return text.charCodeAt(at) >= 0x41;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
