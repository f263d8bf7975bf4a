import type { Level } from "../log-batch.ts";
import { levelOfText } from "../record/levels.ts";
import type { Instant } from "./time/line-clock.ts";

/** Levels are all that is left of these words; others (`notice`, `crit`) say more than the level that they become. */
const SAYS_NO_MORE =
  /^(?:[a-z]|trace|trc|debug|dbg|info|inf|information|warn|warning|wrn|error|err|fatal|ftl|log)$/;

/** What a line says; what it does not say is null. */
export class Reading {
  /** The form in which it was recognised, `plain` for none. */
  form: string;
  time: Instant | null = null;
  level: Level | null = null;
  service: string | null = null;
  source: string | null = null;
  host: string | null = null;
  traceId: string | null = null;
  spanId: string | null = null;
  eventId: string | null = null;
  message: string;
  readonly attributes = new Map<string, unknown>();
  /** Something was recognised; otherwise the line may as well be a part of the one above. */
  isHead = true;
  /** The line is text for people, behind which a stack may go on; one of data is whole. */
  isText = false;
  /** A text whose lines begin with a time. */
  isTimed = false;
  /** The message, or what follows it, is in the next line. */
  awaitsLine = false;
  /** The next line of the same stream goes on where this one stops, without a line end between. */
  isPartial = false;
  /** Lines of several streams stand between each other; those of one belong together. */
  stream = "";

  constructor(form: string, message: string) {
    this.form = form;
    this.message = message;
  }

  /** Sets the level, and keeps a word that says more than it. False for a word that is no level. */
  setLevel(word: string): boolean {
    const level = levelOfText(word);
    if (level === null) return false;
    this.level = level;
    const lower = word.trim().toLowerCase();
    if (!SAYS_NO_MORE.test(lower)) this.attributes.set("log.level", lower);
    return true;
  }

  /** Sets an attribute unless the text is empty or `-`, which stands for nothing. */
  set(key: string, text: string | undefined): void {
    if (text !== undefined && text !== "" && text !== "-") this.attributes.set(key, text);
  }

  /** The same for a number; a text that is none is kept as it is. */
  setNumber(key: string, text: string | undefined): void {
    if (text === undefined || text === "" || text === "-") return;
    const number = Number(text);
    this.attributes.set(key, Number.isFinite(number) ? number : text);
  }
}

/** A line of which nothing is known. */
export function plainReading(line: string): Reading {
  const reading = new Reading("plain", line);
  reading.isHead = false;
  reading.isText = true;
  return reading;
}

/** A text with a time in front. */
export function timedReading(form: string, time: Instant | null, message: string): Reading {
  const reading = new Reading(form, message);
  reading.time = time;
  reading.isText = true;
  reading.isTimed = true;
  return reading;
}

/**
 * The names of attributes: those of OpenTelemetry's semantic conventions, `log.*` those of the Elastic Common Schema, and
 * `logger`, as most loggers call it in JSON.
 */
export const ATTRIBUTE = {
  processId: "process.pid",
  threadId: "thread.id",
  threadName: "thread.name",
  logger: "logger",
  file: "code.file.path",
  line: "code.line.number",
  function: "code.function.name",
  stream: "log.iostream",
  logFile: "log.file.name",
  method: "http.request.method",
  path: "url.path",
  query: "url.query",
  scheme: "url.scheme",
  status: "http.response.status_code",
  bytes: "http.response.body.size",
  requestBytes: "http.request.body.size",
  referer: "http.request.header.referer",
  /** In seconds. */
  duration: "http.server.request.duration",
  protocolVersion: "network.protocol.version",
  clientAddress: "client.address",
  clientPort: "client.port",
  serverAddress: "server.address",
  serverPort: "server.port",
  user: "user.name",
  userAgent: "user_agent.original",
  requestId: "http.request.id",
} as const;
