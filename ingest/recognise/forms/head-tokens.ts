import { levelOfText } from "../../record/levels.ts";
import { HEAD_MAX_TOKENS } from "../limits.ts";
import { matchAt } from "../line-form.ts";
import { ATTRIBUTE, type Reading } from "../reading.ts";

/** What stands between the parts of a head. */
const SEPARATORS = /[ \t]*(?:(?:-{1,3}|\||:|::)(?=[ \t])[ \t]*)?\|?[ \t]*/y;
/** `[...]`, also with brackets in it, `<...>`, `{...}`, or a word. */
const BRACKET = /\[([^[\]]{0,256}(?:\[[^[\]]{0,64}\][^[\]]{0,128}){0,4})\]/y;
const ANGLE = /<([^<>]{1,64})>/y;
const BRACE = /\{([^{}]{0,128})\}/y;
const WORD = /[^\s[\]|{}<>]{1,256}/y;

const DIGITS = /^\d{1,10}$/;
/** `pid 35708:tid 139`, `1234#5678`, `#1234`, `pid=12`. */
const PROCESS = /^(?:pid[ =])?#?(\d{1,10})(?:(?::tid |#|:)(\d{1,20}))?$/;
const CLIENT = /^client ([^\s]+?)(?::(\d{1,5}))?$/;
/** `thread:Class@123` */
const THREAD_AND_PLACE = /^(.*):([\w.$]+)@(\d{1,6})$/;
const LOGGER = /^[A-Za-z_$](?:(?!\/\/)[\w$.:/\\@<>-])*$/;
/** Beginnings of packages; a word with dots and nothing behind it may as well be a host. */
const PACKAGE = /^(?:org|com|net|io|java|javax|jakarta|sun|scala|akka|kafka|edu)(?:\.[\w$]+){2,}$/;
/** `module:function:12` and `file.go:12` */
const PLACE = /^([\w./\\$<>-]+?)(?::([\w$<>]+))?:(\d{1,6})$/;
const MYSQL_CODE = /^MY-\d{6}$/;
/** `production.ERROR:` of PHP, and `module:level` of Apache. */
const CHANNEL_LEVEL = /^([\w-]+)[.:]([A-Za-z]{4,9}):?$/;
const USER_AT_DATABASE = /^[\w.-]+@[\w.-]+$/;
const UPPER_CASE = /^[A-Z]+$/;
/** The context of OpenStack's requests: `req-...`, the user, the project. */
const REQUEST = /^(req-[0-9a-f-]{36})(?: ([\w-]+))?(?: ([\w-]+))?(?: [\w-]+){0,4}$/;
const REQUEST_BEHIND = /^ \[(?:req-|-\])/;
/** Of a request, as AWS Lambda writes it behind the time. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const BEHIND_CHARS = 6;
/** In brackets a letter by itself is a level only as a capital. */
const LETTER = /^[TVDIWEF]$/;
/** Words for levels that a sentence in capitals can begin with, and that in brackets name other things, too. */
const VAGUE = /^(?:log|note|default|all|config|fine|alert|success|failure|silly|notset)$/i;
const THREAD_MAX_WORDS = 4;

type Taken = "level" | "part" | "message" | "end";

/**
 * Reads the parts that loggers put between the time and the message: process, thread, level, logger and place. They count
 * only when a level is among them; without one everything is the message.
 */
export class HeadTokens {
  readonly #text: string;
  readonly #reading: Reading;
  readonly #parts: [string, string | number][] = [];
  #at: number;
  #hasLevel = false;
  #hasProcess = false;
  #hasThread = false;
  #hasLogger = false;

  constructor(text: string, at: number, reading: Reading) {
    this.#text = text;
    this.#at = at;
    this.#reading = reading;
  }

  /** Where the message begins; -1, and nothing is set, when there is no level. */
  read(): number {
    let messageAt = this.#at;
    for (let count = 0; count < HEAD_MAX_TOKENS; count++) {
      this.#at += matchAt(SEPARATORS, this.#text, this.#at)?.[0].length ?? 0;
      const taken = this.#take();
      if (taken === "end") break;
      messageAt = this.#at;
      if (taken === "message") break;
    }
    if (!this.#hasLevel) return -1;
    for (const [key, value] of this.#parts) this.#reading.attributes.set(key, value);
    return messageAt + (matchAt(SEPARATORS, this.#text, messageAt)?.[0].length ?? 0);
  }

  #take(): Taken {
    switch (this.#text[this.#at]) {
      case "[":
        return this.#takeIn(BRACKET, (inside) => this.#bracket(inside));
      case "<":
        return this.#takeIn(ANGLE, (inside) => this.#angle(inside));
      case "{":
        return this.#hasLevel ? "end" : this.#takeIn(BRACE, (inside) => this.#brace(inside));
      default:
        return this.#word();
    }
  }

  #takeIn(pattern: RegExp, read: (inside: string) => Taken): Taken {
    const match = matchAt(pattern, this.#text, this.#at);
    if (match === null) return "end";
    const taken = read((match[1] ?? "").trim());
    if (taken !== "end") this.#at += match[0].length;
    return taken;
  }

  #bracket(inside: string): Taken {
    if (!this.#hasLevel && isBracketedLevel(inside) && this.#level(inside)) return "level";
    const channel = this.#hasLevel ? null : CHANNEL_LEVEL.exec(inside);
    if (channel !== null && this.#level(channel[2] ?? "")) {
      this.#logger(channel[1] ?? "");
      return "level";
    }
    const process = PROCESS.exec(inside);
    if (process !== null) return this.#process(process[1], process[2]);
    const client = CLIENT.exec(inside);
    if (client !== null) {
      this.#parts.push([ATTRIBUTE.clientAddress, client[1] ?? ""]);
      if (client[2] !== undefined) this.#parts.push([ATTRIBUTE.clientPort, Number(client[2])]);
      return "part";
    }
    const request = this.#hasLevel ? REQUEST.exec(inside) : null;
    if (request !== null) {
      this.#parts.push([ATTRIBUTE.requestId, request[1] ?? ""]);
      if (request[2] !== undefined && request[2] !== "-") this.#parts.push(["user.id", request[2]]);
      if (request[3] !== undefined && request[3] !== "-")
        this.#parts.push(["openstack.project.id", request[3]]);
      return "message";
    }
    if (MYSQL_CODE.test(inside)) {
      this.#parts.push(["error.code", inside]);
      return "part";
    }
    return this.#threadOrLogger(inside);
  }

  #threadOrLogger(inside: string): Taken {
    const place = THREAD_AND_PLACE.exec(inside);
    if (place !== null && !this.#hasThread) {
      const [, thread = "", logger = "", line = ""] = place;
      this.#thread(thread);
      this.#logger(logger);
      this.#parts.push([ATTRIBUTE.line, Number(line)]);
      return "part";
    }
    if (inside === "" || inside === "-") return this.#hasLevel ? "part" : "end";
    if (this.#hasLogger || inside.includes("=") || inside.split(" ").length > THREAD_MAX_WORDS) return "end";
    if (this.#hasLevel && inside.includes(".") && LOGGER.test(inside)) {
      this.#logger(inside);
      return "part";
    }
    if (this.#hasThread) return "end";
    this.#thread(inside);
    return "part";
  }

  #angle(inside: string): Taken {
    if (!this.#hasLevel && this.#level(inside)) return "level";
    if (!this.#hasLevel || this.#hasThread || this.#hasLogger) return "end";
    this.#thread(inside);
    return "part";
  }

  #brace(inside: string): Taken {
    if (inside !== "") this.#parts.push(["db.query.id", inside]);
    return "part";
  }

  #word(): Taken {
    const match = matchAt(WORD, this.#text, this.#at);
    if (match === null) return "end";
    const [whole] = match;
    const hasColon = whole.endsWith(":");
    const word = hasColon ? whole.slice(0, -1) : whole;
    const behind = this.#text.slice(this.#at + whole.length, this.#at + whole.length + BEHIND_CHARS);
    return this.#hasLevel
      ? this.#wordBehind(word, hasColon, behind)
      : this.#wordBefore(word, hasColon, behind);
  }

  #wordBefore(word: string, hasColon: boolean, behind: string): Taken {
    if (isWrittenAsLevel(word, hasColon, behind) && this.#level(word))
      return this.#consume(word, hasColon, hasColon ? "message" : "level");
    const channel = hasColon ? CHANNEL_LEVEL.exec(word) : null;
    if (channel !== null && UPPER_CASE.test(channel[2] ?? "") && this.#level(channel[2] ?? "")) {
      this.#logger(channel[1] ?? "");
      return this.#consume(word, hasColon, "message");
    }
    if (hasColon) return "end";
    if (DIGITS.test(word)) {
      // In front of a level in brackets it is a thread's, as MySQL and MariaDB write it.
      if (/^ \[[A-Z]/.test(behind)) this.#parts.push([ATTRIBUTE.threadId, Number(word)]);
      else this.#process(word, undefined);
      return this.#consume(word, hasColon, "part");
    }
    if (USER_AT_DATABASE.test(word)) {
      const at = word.indexOf("@");
      this.#parts.push([ATTRIBUTE.user, word.slice(0, at)], ["db.namespace", word.slice(at + 1)]);
      return this.#consume(word, hasColon, "part");
    }
    if (UUID.test(word) && isSeparated(behind)) {
      this.#parts.push(["faas.invocation_id", word]);
      return this.#consume(word, hasColon, "part");
    }
    if (!isSeparated(behind) || this.#hasLogger || !LOGGER.test(word)) return "end";
    this.#logger(word);
    return this.#consume(word, hasColon, "part");
  }

  #wordBehind(word: string, hasColon: boolean, behind: string): Taken {
    const process = hasColon || isSeparated(behind) || behind.startsWith(" --") ? PROCESS.exec(word) : null;
    if (process !== null && !this.#hasProcess) {
      this.#process(process[1], process[2]);
      return this.#consume(word, hasColon, hasColon ? "message" : "part");
    }
    if (this.#hasLogger) return this.#placeBehind(word, hasColon, behind);
    const isEnded = hasColon ? behind === "" || /^\s/.test(behind) : isSeparated(behind);
    const place = isEnded ? PLACE.exec(word) : null;
    if (place !== null) {
      this.#place(place);
      return this.#consume(word, hasColon, "message");
    }
    if (isEnded && LOGGER.test(word) && (levelOfText(word) === null || VAGUE.test(word))) {
      this.#logger(word);
      // Behind a tab or a bar the place may come.
      return this.#consume(word, hasColon, !hasColon && /^[\t|]/.test(behind) ? "part" : "message");
    }
    if (!hasColon && (PACKAGE.test(word) || (word.includes(".") && REQUEST_BEHIND.test(behind)))) {
      this.#logger(word);
      return this.#consume(word, hasColon, "part");
    }
    return "end";
  }

  /** The file and the line behind the logger, as zap's console writes them. */
  #placeBehind(word: string, hasColon: boolean, behind: string): Taken {
    const place = !hasColon && behind.startsWith("\t") ? PLACE.exec(word) : null;
    if (place === null) return "end";
    this.#parts.push([ATTRIBUTE.file, place[1] ?? ""], [ATTRIBUTE.line, Number(place[3])]);
    return this.#consume(word, hasColon, "message");
  }

  #place([, first = "", second, line]: RegExpExecArray): void {
    if (second === undefined) this.#parts.push([ATTRIBUTE.file, first]);
    else {
      this.#logger(first);
      this.#parts.push([ATTRIBUTE.function, second]);
    }
    this.#parts.push([ATTRIBUTE.line, Number(line)]);
  }

  #consume(word: string, hasColon: boolean, taken: Taken): Taken {
    this.#at += word.length + (hasColon ? 1 : 0);
    return taken;
  }

  #level(word: string): boolean {
    if (!this.#reading.setLevel(word)) return false;
    this.#hasLevel = true;
    return true;
  }

  #process(process: string | undefined, thread: string | undefined): Taken {
    if (process === undefined) return "end";
    // The second number is the thread's.
    const key = this.#hasProcess ? ATTRIBUTE.threadId : ATTRIBUTE.processId;
    this.#hasProcess = true;
    this.#parts.push([key, Number(process)]);
    if (thread !== undefined) this.#parts.push([ATTRIBUTE.threadId, Number(thread)]);
    return "part";
  }

  #thread(name: string): void {
    this.#hasThread = true;
    if (name !== "") this.#parts.push([ATTRIBUTE.threadName, name]);
  }

  #logger(name: string): void {
    this.#hasLogger = true;
    this.#parts.push([ATTRIBUTE.logger, name]);
  }
}

/** A bar, a tab or a dash between blanks. */
function isSeparated(behind: string): boolean {
  return /^(?:\t|[ \t]*\||[ \t]+(?:-{1,2}|:)[ \t])/.test(behind);
}

/**
 * Whether a word that may be a level stands there as one. In capitals it does; otherwise a sentence can begin with it
 * (`Error while reading`), unless it is set off from what follows.
 */
function isWrittenAsLevel(word: string, hasColon: boolean, behind: string): boolean {
  if (word.length < 3) return false;
  if (UPPER_CASE.test(word) && !VAGUE.test(word)) return behind === "" || /^\s|^\||^\[/.test(behind);
  return (hasColon && /^\s|^$/.test(behind)) || isSeparated(behind);
}

function isBracketedLevel(inside: string): boolean {
  if (inside.length < 3) return LETTER.test(inside);
  return !VAGUE.test(inside) || UPPER_CASE.test(inside) || /^note$/i.test(inside);
}
