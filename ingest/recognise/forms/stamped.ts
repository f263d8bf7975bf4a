import { levelOfText } from "../../record/levels.ts";
import { type LineContext, matchAt, type TimedForm } from "../line-form.ts";
import { ATTRIBUTE, timedReading } from "../reading.ts";
import { HeadTokens } from "./head-tokens.ts";

/** Between a time and a text that has no other head: ` - `, `: `, `] `. */
const AFTER_TIME = /[ \t]*(?:[-:](?=[ \t])|[,;|]|\](?::|,)?)?[ \t]*/y;
const ANDROID = /\s+(\d{1,7})\s+(\d{1,7}) ([VDIWEFA]) (.*?)\s*: ?/y;
const MONGO = / ([FEWI]|D[1-5]?)\s+([A-Z_]+|-)\s+\[([^\]]{1,128})\] /y;
const CELERY = /: ([A-Z]+)\/([^\]]{1,128})\] /y;
const INSIDE_BRACKET = /\s+([A-Za-z]+)(?:\s+([\w:.-]+))?\] /y;
const SPRING = /\s+([A-Z]+) (\d{1,10}) --- (?:\[([^\]]*)\] )?\[\s*([^\]]*)\] (\S+)\s+: ?/y;
const PHP = /\]? PHP (Fatal error|Parse error|Warning|Notice|Deprecated|[A-Z][a-z]+ error): {1,2}/y;
const JAVA_SOURCE = /^ ((?:[\w$]+\.)+[\w$]+) ([\w$<>]+)$/;
/** The class behind the message, as Kafka writes it. */
const CLASS_BEHIND = / \(([a-z][\w$]*(?:\.[\w$]+){2,})\)$/;
const PHP_LEVELS: Readonly<Record<string, string>> = {
  "Fatal error": "fatal",
  "Parse error": "error",
  Warning: "warn",
  Notice: "info",
  Deprecated: "warn",
};

/** `03-17 16:13:38.811  1702  2395 D WindowManager: ...` */
const android: TimedForm = {
  name: "android",
  read: (text, head) => {
    const match = matchAt(ANDROID, text, head.end);
    if (match === null) return null;
    const [whole, process, thread, letter = "", tag] = match;
    const reading = timedReading("android", head.instant, text.slice(head.end + whole.length));
    reading.setLevel(letter === "A" ? "F" : letter);
    reading.setNumber(ATTRIBUTE.processId, process);
    reading.setNumber(ATTRIBUTE.threadId, thread);
    reading.set(ATTRIBUTE.logger, tag);
    return reading;
  },
};

/** `2026-01-02T03:04:05.678+0000 I NETWORK  [listener] ...`, MongoDB before 4.4. */
const mongo: TimedForm = {
  name: "mongodb",
  read: (text, head) => {
    const match = matchAt(MONGO, text, head.end);
    if (match === null) return null;
    const [whole, letter = "", component, thread] = match;
    const reading = timedReading("mongodb", head.instant, text.slice(head.end + whole.length));
    reading.setLevel(letter.charAt(0));
    reading.set(ATTRIBUTE.logger, component);
    reading.set(ATTRIBUTE.threadName, thread);
    return reading;
  },
};

/** `[2026-01-02 03:04:05,678: INFO/MainProcess] ...` and `[2026-01-02T03:04:05Z INFO  crate::module] ...` */
const bracketed: TimedForm = {
  name: "bracketed",
  read: (text, head) => {
    if (!head.isOpen) return null;
    const celery = matchAt(CELERY, text, head.end);
    const [whole = "", level = "", name] = celery ?? matchAt(INSIDE_BRACKET, text, head.end) ?? [];
    if (level === "" || levelOfText(level) === null) return null;
    const reading = timedReading("bracketed", head.instant, text.slice(head.end + whole.length));
    reading.setLevel(level);
    reading.set(celery === null ? ATTRIBUTE.logger : ATTRIBUTE.threadName, name);
    return reading;
  },
};

/** `2026-01-02T03:04:05.678Z  INFO 12345 --- [shop] [main] c.e.Ledger : ...` of Spring Boot. */
const spring: TimedForm = {
  name: "spring",
  read: (text, head) => {
    const match = matchAt(SPRING, text, head.end);
    if (match === null) return null;
    const [whole, level = "", process, application, thread, logger] = match;
    const reading = timedReading("spring", head.instant, text.slice(head.end + whole.length));
    if (!reading.setLevel(level)) return null;
    reading.setNumber(ATTRIBUTE.processId, process);
    if (application !== undefined && application.trim() !== "") reading.service = application.trim();
    reading.set(ATTRIBUTE.threadName, thread?.trim());
    reading.set(ATTRIBUTE.logger, logger);
    return reading;
  },
};

/** `[02-Jan-2026 03:04:05 UTC] PHP Warning:  ...`; the words stay in the message, for they are a part of it. */
const php: TimedForm = {
  name: "php",
  read: (text, head) => {
    const match = matchAt(PHP, text, head.end);
    if (match === null) return null;
    const reading = timedReading("php", head.instant, text.slice(head.end).replace(/^\]? /, ""));
    reading.setLevel(PHP_LEVELS[match[1] ?? ""] ?? "error");
    return reading;
  },
};

/** `Jan 02, 2026 3:04:05 PM org.example.Ledger open`, the message in the next line behind its level. */
const javaUtil: TimedForm = {
  name: "java.util.logging",
  read: (text, head) => {
    const match = JAVA_SOURCE.exec(text.slice(head.end));
    if (match === null) return null;
    const reading = timedReading("java.util.logging", head.instant, "");
    reading.set(ATTRIBUTE.logger, match[1]);
    reading.set(ATTRIBUTE.function, match[2]);
    reading.awaitsLine = true;
    return reading;
  },
};

/** A time, what loggers put behind it, and the message. */
const stamped: TimedForm = {
  name: "stamped",
  read: (text, head, _context: LineContext) => {
    const reading = timedReading("stamped", head.instant, "");
    const from = head.isOpen ? closing(text, head.end) : head.end;
    const messageAt = new HeadTokens(text, from, reading).read();
    if (messageAt >= 0) {
      reading.message = text.slice(messageAt);
      const inClass = CLASS_BEHIND.exec(reading.message);
      if (inClass !== null && !reading.attributes.has(ATTRIBUTE.logger)) {
        reading.set(ATTRIBUTE.logger, inClass[1]);
        reading.message = reading.message.slice(0, inClass.index);
      }
      return reading;
    }
    // A number may be anything, and behind a bracket that stays open there is no message.
    if (head.isOpen || head.isWholeNumber) return null;
    reading.message = text.slice(head.end + (matchAt(AFTER_TIME, text, head.end)?.[0].length ?? 0));
    return reading;
  },
};

/** Behind the bracket that stands open in front of the time, if it closes right away. */
function closing(text: string, at: number): number {
  return text[at] === "]" ? at + 1 : at;
}

export const STAMPED_FORMS: readonly TimedForm[] = [
  android,
  mongo,
  spring,
  bracketed,
  php,
  javaUtil,
  stamped,
];
