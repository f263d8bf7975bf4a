import { readIsoTime } from "./clock-time.ts";
import { readStructuredData } from "./structured-data.ts";
import { NO_STRUCTURED_DATA, readPriority, type SyslogMessage } from "./syslog-message.ts";

/** Logplex leaves STRUCTURED-DATA out: there everything behind MSGID is the message. */
export type Rfc5424Form = "standard" | "without structured data";

/** VERSION, TIMESTAMP, HOSTNAME, APP-NAME, PROCID and MSGID. */
const HEADER = /[1-9]\d{0,2} (\S{1,64}) (\S{1,255}) (\S{1,255}) (\S{1,255}) (\S{1,255})(?: |$)/y;
const NIL = "-";
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * A message of RFC 5424 in its parts; null when it is none. Beyond the RFC's letter: the priority and, in the standard
 * form, STRUCTURED-DATA may be missing, and the fields may be longer.
 */
export function parseRfc5424(text: string, form: Rfc5424Form): SyslogMessage | null {
  const { facility, severity, end: headerAt } = readPriority(text);
  if (!isDigit(text, headerAt)) return null;
  HEADER.lastIndex = headerAt;
  const header = HEADER.exec(text);
  if (header === null) return null;
  const [whole, timestamp = "", hostname = "", appName = "", procId = "", msgId = ""] = header;
  const time = timestamp === NIL ? null : readIsoTime(timestamp, 0);
  // A time that is none, or only begins as one, means that this is another format.
  if (timestamp !== NIL && time?.end !== timestamp.length) return null;
  const bodyAt = headerAt + whole.length;
  const structured = form === "standard" ? readStructuredData(text, bodyAt) : null;
  const isWhole = structured !== null && (structured.end === text.length || text[structured.end] === " ");
  const messageAt = isWhole ? structured.end + 1 : bodyAt;
  return {
    facility,
    severity,
    time,
    hostname: unlessNil(hostname),
    appName: unlessNil(appName),
    procId: unlessNil(procId),
    msgId: unlessNil(msgId),
    sequence: null,
    structuredData: isWhole ? structured.values : NO_STRUCTURED_DATA,
    message: messageFrom(text, messageAt, form),
  };
}

function isDigit(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0x30 && unit <= 0x39;
}

function messageFrom(text: string, at: number, form: Rfc5424Form): string {
  if (text.startsWith(BYTE_ORDER_MARK, at)) return text.slice(at + 1);
  // Relays that translate RFC 3164 keep the blank that stood behind the tag.
  return text.slice(form === "standard" && text[at] === " " ? at + 1 : at);
}

function unlessNil(field: string): string | null {
  return field === NIL ? null : field;
}
