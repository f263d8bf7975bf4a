import { writeSync } from "node:fs";
import { hostname } from "node:os";
import pino from "pino";
import { terminalLine } from "./terminal-log.ts";

export type Logger = pino.Logger;

export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

/** Names of fields whose values never reach a log line. */
const SECRET_NAMES = new Set([
  "password",
  "newPassword",
  "currentPassword",
  "token",
  "inviteToken",
  "secret",
  "authorization",
  "cookie",
  "set-cookie",
  "totp",
]);

/** Levels of a record searched for secrets. */
const MAX_REDACTED_DEPTH = 4;

/** Bytes held before they are written without waiting for the end of the turn. */
const BUFFER_BYTES = 128 * 1024;
/** What one UTF-16 unit takes at most in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/** Pino's number for the mildest level that is written at once. */
const WARN_LEVEL = 40;
const INFO_LEVEL = 30;

/**
 * The server's own log: one JSON object per line, on standard output where nothing else is said, and there in words for a person
 * where that is a terminal; requests that went well are then left out above level debug. Secrets left out by the name of their field (but
 * not searched for in the bindings of child loggers). Lines of one turn of the event loop are written together, from
 * warnings on at once; before the process is ended by hand, `flush` writes what is left.
 */
export function createLogger(level: LogLevel, destination: LogDestination = standardOutput(level)): Logger {
  const log = pino(
    { level, timestamp: pino.stdTimeFunctions.isoTime, formatters: { log: (record) => redact(record, 0) } },
    destination,
  );
  destinations.set(log, destination);
  return log;
}

/** Where lines go. */
interface LogDestination {
  write(line: string): void;
  /** The level of the line that is written next, where the destination cares. */
  lastLevel?: number;
}

function standardOutput(level: LogLevel): LogDestination {
  const isRead = process.stdout.isTTY === true && level !== "debug" && level !== "trace";
  return isRead ? new TerminalOutput() : new StandardOutput();
}

const destinations = new WeakMap<Logger, LogDestination>();

/**
 * Makes a writer of one kind of line at level info, for records that are known to hold no secret and at least one field:
 * the same lines as the logger's at a third of the cost. `log` is one of `createLogger`, not a child.
 */
export function plainLineWriter(
  log: Logger,
  message: string,
): (record: Readonly<Record<string, unknown>>) => void {
  const destination = destinations.get(log);
  if (destination === undefined) throw new Error("a logger made elsewhere has no destination of ours");
  const source = JSON.stringify({ pid: process.pid, hostname: hostname() }).slice(1, -1);
  const end = `,"msg":${JSON.stringify(message)}}\n`;
  return (record) => {
    if (!log.isLevelEnabled("info")) return;
    destination.lastLevel = INFO_LEVEL;
    const start = `{"level":${INFO_LEVEL},"time":"${new Date().toISOString()}",${source},`;
    destination.write(start + JSON.stringify(record).slice(1, -1) + end);
  };
}

const LEVEL_METADATA: unique symbol = Symbol.for("pino.metadata");

/**
 * Gathers the lines of one turn and writes them with one system call, which under load is most of what a line costs.
 * Blocks while whoever reads is behind: memory stays bounded and lines keep their order.
 */
class StandardOutput {
  /** Makes pino leave the level of each line in `lastLevel`. */
  readonly [LEVEL_METADATA] = true;
  lastLevel = 0;
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  #used = 0;

  write(line: string): void {
    if (line.length * MAX_BYTES_PER_UNIT > BUFFER_BYTES - this.#used) {
      this.flush();
      if (line.length * MAX_BYTES_PER_UNIT > BUFFER_BYTES) {
        writeAll(Buffer.from(line));
        return;
      }
    }
    if (this.#used === 0) setImmediate(() => this.flush());
    this.#used += this.#buffer.write(line, this.#used);
    if (this.lastLevel >= WARN_LEVEL) this.flush();
  }

  flush(done?: () => void): void {
    const bytes = this.#buffer.subarray(0, this.#used);
    this.#used = 0;
    writeAll(bytes);
    done?.();
  }
}

/** The same for a person. */
class TerminalOutput extends StandardOutput {
  readonly #style = { color: Bun.enableANSIColors && process.stdout.hasColors() };

  override write(json: string): void {
    const line = terminalLine(json, this.#style);
    if (line !== null) super.write(line);
  }
}

function writeAll(bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSome(bytes.subarray(written));
}

/** Writes what standard output takes now and says how much that was. */
function writeSome(bytes: Uint8Array): number {
  try {
    return writeSync(1, bytes);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // When nobody reads any more there is nobody to tell either, and a server must outlive its log.
    if (code !== "EAGAIN") return bytes.length;
    Bun.sleepSync(1);
    return 0;
  }
}

/** A record without its secrets; the record itself where it has none. */
function redact(record: Record<string, unknown>, depth: number): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined;
  for (const name in record) {
    const value = record[name];
    const kept = redactField(name, value, depth);
    if (kept === value) continue;
    copy ??= { ...record };
    copy[name] = kept;
  }
  return copy ?? record;
}

function redactField(name: string, value: unknown, depth: number): unknown {
  if (value === null || value === undefined) return value;
  if (SECRET_NAMES.has(name)) return "[redacted]";
  return isPlainObject(value) && depth < MAX_REDACTED_DEPTH ? redact(value, depth + 1) : value;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
