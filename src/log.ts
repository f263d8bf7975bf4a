import pino from "pino";

export type Logger = pino.Logger;

/** Fields that never reach a log line, wherever they sit in the first two levels of a record. */
const REDACTED = [
  "password",
  "newPassword",
  "currentPassword",
  "token",
  "secret",
  "authorization",
  "cookie",
  "totp",
].flatMap((name) => [name, `*.${name}`]);

export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";

/**
 * The server's own log: one JSON object per line on standard output.
 * Written synchronously, so that the last lines before an exit are not lost.
 */
export function createLogger(level: LogLevel): Logger {
  return pino(
    { level, redact: { paths: REDACTED, censor: "[redacted]" }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 1, sync: true }),
  );
}
