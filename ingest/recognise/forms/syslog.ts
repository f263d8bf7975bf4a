import { objectTextIn } from "../../decode/json-message.ts";
import { parseSyslog } from "../../decode/syslog/parse-syslog.ts";
import { FACILITY_NAMES, SEVERITY_NAMES, type SyslogMessage } from "../../decode/syslog/syslog-message.ts";
import { levelOfSyslogSeverity } from "../../record/levels.ts";
import { type LineContext, type LineForm, matchAt, type TimedForm } from "../line-form.ts";
import { Reading } from "../reading.ts";

const PRIORITY = /^<\d{1,3}>/;
/** `host tag[pid]:` behind a time; a tag without a process counts only behind times as syslog daemons write them. */
const HOST_AND_PROCESS = / [A-Za-z0-9_.:%@/-]{1,255} [^\s:[\]{}"'=<>|,]{1,64}\[\d{1,10}\]:/y;
const HOST_AND_TAG = / [A-Za-z0-9_.:%@/-]{1,255} [^\s:[\]{}"'=<>|,]{1,64}(?:\[[^\]\s]{1,64}\])?: /y;
/** RFC 5424 without a priority, as daemons write it to files. */
const VERSION = /^1 \d{4}-\d\d-\d\dT/;
/** A level that a program put in front of what it says, as sshd does; the words stay, for they are a part of it. */
const SAID_LEVEL = /^(error|fatal|warning|warn|critical|emergency|debug|debug[1-3]|info|notice): /i;

/** Messages with a priority, and RFC 5424. */
export const PRIORITY_FORM: LineForm = {
  name: "syslog",
  read: (text, context) => {
    const hasPriority = PRIORITY.test(text);
    if (!hasPriority && !VERSION.test(text)) return null;
    const parsed = parsed3164Or5424(text);
    if (parsed.facility === null && parsed.time === null) return null;
    const time = VERSION.test(text.replace(PRIORITY, "")) ? parsed.time : timeIn(text, parsed, context);
    return read(parsed, time, context);
  },
};

/** `Jan  2 03:04:05 host program[123]: ...` and the same behind other times, as they are written to files. */
export const SYSLOG_FORM: TimedForm = {
  name: "syslog",
  read: (text, head, context) => {
    if (head.isHalfDay || head.isOpen) return null;
    const isMonthTime = isLetter(text.charCodeAt(0));
    const isDaemons = isMonthTime || (head.isMachine && head.hasZone);
    const pattern = isDaemons ? HOST_AND_TAG : HOST_AND_PROCESS;
    // Behind the time of a month comes a host, even where there is no tag.
    if (!isMonthTime && matchAt(pattern, text, head.end) === null) return null;
    const parsed = parsed3164Or5424(text);
    if (parsed.hostname === null || (!isMonthTime && parsed.appName === null)) return null;
    return read(parsed, head.instant, context);
  },
};

function parsed3164Or5424(text: string): SyslogMessage {
  // The year is found by the clock of the lines.
  return parseSyslog(text, "standard", 0);
}

/** The time of a message in the manner of RFC 3164, in the zone and the year of the lines. */
function timeIn(text: string, parsed: SyslogMessage, { clock }: LineContext): Reading["time"] {
  if (parsed.time === null) return null;
  const priority = PRIORITY.exec(text)?.[0].length ?? 0;
  return clock.read(text, priority) ?? null;
}

/**
 * What a program said is taken apart, too: JSON, pairs, requests, a level in front. Its own time counts where an object says it, or
 * where it names its zone, as it does on the syslog wire.
 */
function read(parsed: SyslogMessage, time: Reading["time"], context: LineContext): Reading {
  const { clock } = context;
  const guessed = clock.withoutZone + clock.withoutYear;
  const object = objectTextIn(parsed.message);
  const body = context.inner(object ?? parsed.message, time !== null);
  const isSure = object !== null || clock.withoutZone + clock.withoutYear === guessed;
  const reading = body === null || body.awaitsLine ? new Reading("syslog", parsed.message) : body;
  reading.form = reading.form === "syslog" ? "syslog" : `syslog ${reading.form}`;
  reading.isText = true;
  reading.isTimed = false;
  if (reading.time === null || !isSure) reading.time = time ?? reading.time;
  reading.host = parsed.hostname ?? reading.host;
  reading.service = parsed.appName ?? reading.service;
  const { facility, severity, procId, msgId, sequence } = parsed;
  if (severity !== null) {
    reading.level ??= levelOfSyslogSeverity(severity);
    reading.set("syslog.severity", SEVERITY_NAMES[severity]);
  }
  if (facility !== null) reading.set("syslog.facility", FACILITY_NAMES[facility]);
  if (procId !== null) reading.set("syslog.procid", procId);
  if (msgId !== null) reading.set("syslog.msgid", msgId);
  if (sequence !== null) reading.set("syslog.sequence", sequence);
  for (const [key, value] of parsed.structuredData) reading.attributes.set(key, value);
  if (severity === null && reading.level === null) {
    const said = SAID_LEVEL.exec(reading.message)?.[1] ?? "";
    reading.setLevel(said.replace(/\d$/, ""));
  }
  return reading;
}

function isLetter(unit: number): boolean {
  return (unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a;
}
