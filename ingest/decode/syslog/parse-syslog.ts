import { parseRfc3164 } from "./rfc3164.ts";
import { parseRfc5424, type Rfc5424Form } from "./rfc5424.ts";
import type { SyslogMessage } from "./syslog-message.ts";

/** What some relays put between their header and CEF as if it were a program. */
const CEF_TAG = "CEF";
const HOST = /^[A-Za-z0-9_.:%@/-]{1,255}$/;

/** A message of RFC 5424, RFC 3164 or anything else, in its parts; what is not recognised is the message. */
export function parseSyslog(text: string, form: Rfc5424Form, nowMs: number): SyslogMessage {
  return parseRfc5424(text, form) ?? parseRfc3164(text, nowMs);
}

/** The header in front of a message of another format, which may be no more than a host. */
export function parsePrefix(text: string, form: Rfc5424Form, nowMs: number): SyslogMessage {
  const parsed = parseSyslog(text, form, nowMs);
  const appName = parsed.appName === CEF_TAG ? null : parsed.appName;
  const rest = parsed.message.trim();
  const isHost = parsed.hostname === null && HOST.test(rest);
  return isHost ? { ...parsed, appName, hostname: rest, message: "" } : { ...parsed, appName, message: rest };
}
