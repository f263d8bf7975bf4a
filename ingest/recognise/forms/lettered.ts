import { levelOfText } from "../../record/levels.ts";
import { type LineForm, matchAt } from "../line-form.ts";
import { ATTRIBUTE, Reading, timedReading } from "../reading.ts";

const GLOG_START = /^[IWEFD]\d{4}/;
const GLOG_REST = /\s+(\d{1,10}) ([^\s:\]]{1,128}):(\d{1,6})\] /y;
const REDIS_START = /(\d{1,10}):([MSCX]) (?=\d{2} [A-Z])/y;
const REDIS_REST = / ([.\-*#]) /y;
/** Source: redis, serverLogRaw: debug, verbose, notice, warning. */
const REDIS_LEVELS: Readonly<Record<string, string>> = {
  ".": "debug",
  "-": "debug",
  "*": "notice",
  "#": "warning",
};
const REDIS_ROLES: Readonly<Record<string, string>> = {
  M: "master",
  S: "replica",
  C: "child",
  X: "sentinel",
};
const RUBY_START = /[DIWEFAU], \[/y;
const RUBY_REST = / #(\d{1,10})\]\s+([A-Z]+) -- ([^:]{0,128}): /y;
const JUPYTER_START = /\[([DIWEC]) (?=\d{4}-)/y;
const JUPYTER_REST = /(?: ([\w.]+))?\] /y;
const ANDROID_BRIEF = /([VDIWEF])\/(.{1,64}?)\s*\(\s*(\d{1,7})\): /y;
const PYTHON = /([A-Z]{4,8}):([\w.]{1,128}):/y;
const DOTNET = /^(trce|dbug|info|warn|fail|crit): ([\w.+`]{1,256})\[(\d{1,10})\]$/;
const DOTNET_LEVELS: Readonly<Record<string, string>> = { trce: "trace", fail: "error" };
const BRACKETED_LEVEL = /\[([A-Za-z]{4,9})\s*\][ \t]*(?:[-:] )?/y;
const CAPITAL_LEVEL = /([A-Z]{4,9}): {1,8}/y;
/** Capital words for levels that begin many other lines, too. */
const VAGUE = /^(?:NOTE|ALERT|SUCCESS|FAILURE|DEFAULT|CONFIG|FINE)$/i;

/** `I0102 15:04:05.000000   12345 file.go:123] ...` of glog and klog. */
const glog: LineForm = {
  name: "glog",
  read: (text, { clock }) => {
    if (!GLOG_START.test(text) || !clock.stamp.readGlog(text, 1)) return null;
    const rest = matchAt(GLOG_REST, text, clock.stamp.end);
    if (rest === null) return null;
    const reading = timedReading("glog", clock.instant(), text.slice(clock.stamp.end + rest[0].length));
    reading.setLevel(text.charAt(0));
    reading.setNumber(ATTRIBUTE.threadId, rest[1]);
    reading.set(ATTRIBUTE.file, rest[2]);
    reading.setNumber(ATTRIBUTE.line, rest[3]);
    return reading;
  },
};

/** `1234:M 02 Jan 2026 03:04:05.678 * ...` */
const redis: LineForm = {
  name: "redis",
  read: (text, { clock }) => {
    const start = matchAt(REDIS_START, text, 0);
    const time = start === null ? null : clock.read(text, start[0].length);
    const rest = time === null ? null : matchAt(REDIS_REST, text, clock.stamp.end);
    if (start === null || rest === null) return null;
    const reading = timedReading("redis", time, text.slice(clock.stamp.end + rest[0].length));
    reading.setLevel(REDIS_LEVELS[rest[1] ?? ""] ?? "");
    reading.setNumber(ATTRIBUTE.processId, start[1]);
    reading.set("redis.role", REDIS_ROLES[start[2] ?? ""]);
    return reading;
  },
};

/** `I, [2026-01-02T03:04:05.678901 #1234]  INFO -- billing: ...` of Ruby's Logger. */
const ruby: LineForm = {
  name: "ruby",
  read: (text, { clock }) => {
    const start = matchAt(RUBY_START, text, 0);
    const time = start === null ? null : clock.read(text, start[0].length);
    const rest = time === null ? null : matchAt(RUBY_REST, text, clock.stamp.end);
    if (rest === null) return null;
    const [whole, process, level = "", program] = rest;
    const reading = timedReading("ruby", time, text.slice(clock.stamp.end + whole.length));
    reading.setLevel(level);
    reading.setNumber(ATTRIBUTE.processId, process);
    if (program !== undefined && program !== "") reading.service = program;
    return reading;
  },
};

/** `[I 2026-01-02 03:04:05.678 ServerApp] ...` of Tornado and Jupyter. */
const tornado: LineForm = {
  name: "tornado",
  read: (text, { clock }) => {
    const start = matchAt(JUPYTER_START, text, 0);
    const time = start === null ? null : clock.read(text, start[0].length);
    const rest = time === null ? null : matchAt(JUPYTER_REST, text, clock.stamp.end);
    if (start === null || rest === null) return null;
    const reading = timedReading("tornado", time, text.slice(clock.stamp.end + rest[0].length));
    reading.setLevel(start[1] ?? "");
    reading.set(ATTRIBUTE.logger, rest[1]);
    return reading;
  },
};

/** `D/WindowManager( 1702): ...` */
const androidBrief: LineForm = {
  name: "android",
  read: (text) => {
    const match = matchAt(ANDROID_BRIEF, text, 0);
    if (match === null) return null;
    const reading = new Reading("android", text.slice(match[0].length));
    reading.isText = true;
    reading.setLevel(match[1] ?? "");
    reading.set(ATTRIBUTE.logger, match[2]);
    reading.setNumber(ATTRIBUTE.processId, match[3]);
    return reading;
  },
};

/** A level without a time: `WARNING:billing.ledger:...` of Python, `[INFO] ...`, `ERROR: ...`, .NET's console. */
const levelled: LineForm = {
  name: "levelled",
  read: (text) => {
    const dotnet = DOTNET.exec(text);
    if (dotnet !== null) {
      const [, word = "", logger, event] = dotnet;
      const reading = new Reading("levelled", "");
      reading.setLevel(DOTNET_LEVELS[word] ?? word);
      reading.set(ATTRIBUTE.logger, logger);
      reading.setNumber("event.id", event);
      reading.isText = true;
      reading.awaitsLine = true;
      return reading;
    }
    const match =
      matchAt(PYTHON, text, 0) ?? matchAt(BRACKETED_LEVEL, text, 0) ?? matchAt(CAPITAL_LEVEL, text, 0);
    const [whole = "", word = "", logger] = match ?? [];
    if (word === "" || VAGUE.test(word) || levelOfText(word) === null) return null;
    const reading = new Reading("levelled", text.slice(whole.length));
    reading.isText = true;
    reading.setLevel(word);
    reading.set(ATTRIBUTE.logger, logger);
    return reading;
  },
};

export const LETTERED_FORMS: readonly LineForm[] = [glog, redis, ruby, tornado, androidBrief];
export const LEVELLED_FORM: LineForm = levelled;
