import type { Setting } from "./setting.ts";
import { SETTINGS } from "./settings.ts";
import { ValueProblem } from "./values.ts";

/** A setting has an unacceptable value; the message is one line for the person who starts the server. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ConfigError";
  }
}

type Value<S> = S extends Setting<infer T> ? (S extends { default: string } ? T : T | null) : never;

/** The settings as values. URLs of stores hold passwords: never log them. */
export type Config = { readonly [K in keyof typeof SETTINGS]: Value<(typeof SETTINGS)[K]> };

/** Variables of the command line that a person may well have set in the shell that starts the server. */
const COMMAND_LINE_VARIABLES = ["OBS_URL", "OBS_TOKEN"];

export type Environment = Readonly<Record<string, string | undefined>>;

function refuse(row: Setting<unknown>, text: string, problem: string): ConfigError {
  const shown = row.secret === true ? "the value (not shown, it may hold a password)" : JSON.stringify(text);
  return new ConfigError(`${row.name}: ${shown} ${problem}; accepted: ${row.accepts.replaceAll("`", "")}.`);
}

function readText<T>(row: Setting<T>, text: string): T {
  try {
    return row.read(text);
  } catch (error) {
    if (error instanceof ValueProblem) throw refuse(row, text, error.message);
    throw error;
  }
}

function refuseUnknownVariables(environment: Environment): void {
  const known = new Set([...Object.values(SETTINGS).map((row) => row.name), ...COMMAND_LINE_VARIABLES]);
  for (const name of Object.keys(environment)) {
    if (name.startsWith("OBS_") && !known.has(name)) {
      throw new ConfigError(`${name}: there is no such setting; docs/configuration.md lists them.`);
    }
  }
}

/**
 * Reads the settings from the environment, the only place that does. An empty variable counts as unset. Throws
 * `ConfigError` for the first value that is not acceptable and for a variable `OBS_...` that means nothing.
 */
export function loadConfig(environment: Environment): Config {
  refuseUnknownVariables(environment);
  const textOf = (row: Setting<unknown>): string => environment[row.name]?.trim() ?? "";
  const required = <T>(row: Setting<T> & { default: string }): T => readText(row, textOf(row) || row.default);
  const optional = <T>(row: Setting<T> & { default: null }): T | null =>
    textOf(row) === "" ? null : readText(row, textOf(row));
  const config: Config = {
    port: required(SETTINGS.port),
    host: required(SETTINGS.host),
    publicUrl: optional(SETTINGS.publicUrl),
    drainSeconds: required(SETTINGS.drainSeconds),
    dataDirectory: required(SETTINGS.dataDirectory),
    clickhouseUrl: optional(SETTINGS.clickhouseUrl),
    databaseUrl: optional(SETTINGS.databaseUrl),
    redisUrl: optional(SETTINGS.redisUrl),
    secretKey: optional(SETTINGS.secretKey),
    logLevel: required(SETTINGS.logLevel),
    trustedProxies: optional(SETTINGS.trustedProxies),
    rateLimitPerMinute: required(SETTINGS.rateLimitPerMinute),
    rateLimitIngestPerMinute: required(SETTINGS.rateLimitIngestPerMinute),
    rateLimitAnonymousPerMinute: required(SETTINGS.rateLimitAnonymousPerMinute),
    walMaxBytes: required(SETTINGS.walMaxBytes),
    ingestMaxInFlightBytes: required(SETTINGS.ingestMaxInFlightBytes),
    dedupeWindowSeconds: required(SETTINGS.dedupeWindowSeconds),
    dedupeMaxEvents: required(SETTINGS.dedupeMaxEvents),
    idempotencyHoldSeconds: required(SETTINGS.idempotencyHoldSeconds),
    queryTimeoutMs: required(SETTINGS.queryTimeoutMs),
    queryMaxReadBytes: required(SETTINGS.queryMaxReadBytes),
    queryMaxMemoryBytes: required(SETTINGS.queryMaxMemoryBytes),
    queryMaxResultBytes: required(SETTINGS.queryMaxResultBytes),
    planName: required(SETTINGS.planName),
    planMaxMonitors: optional(SETTINGS.planMaxMonitors),
    planMonthlyChecks: optional(SETTINGS.planMonthlyChecks),
    planMonthlyLogBytes: optional(SETTINGS.planMonthlyLogBytes),
    quarantineMaxRecords: required(SETTINGS.quarantineMaxRecords),
    quarantineMaxBytes: required(SETTINGS.quarantineMaxBytes),
    outboundAllow: optional(SETTINGS.outboundAllow),
    outboundAllowPrivate: required(SETTINGS.outboundAllowPrivate),
    logRetentionDays: required(SETTINGS.logRetentionDays),
    archiveRetentionDays: required(SETTINGS.archiveRetentionDays),
    archiveClockConfirmedMs: optional(SETTINGS.archiveClockConfirmedMs),
    archiveDirectory: optional(SETTINGS.archiveDirectory),
    archiveS3Url: optional(SETTINGS.archiveS3Url),
    archiveS3AccessKeyId: optional(SETTINGS.archiveS3AccessKeyId),
    archiveS3SecretAccessKey: optional(SETTINGS.archiveS3SecretAccessKey),
    smtpUrl: optional(SETTINGS.smtpUrl),
    smtpFrom: optional(SETTINGS.smtpFrom),
    requireEmailVerification: required(SETTINGS.requireEmailVerification),
    otlpProtobuf: required(SETTINGS.otlpProtobuf),
    syslogTcpPort: optional(SETTINGS.syslogTcpPort),
    syslogUdpPort: optional(SETTINGS.syslogUdpPort),
    syslogHost: required(SETTINGS.syslogHost),
    syslogToken: optional(SETTINGS.syslogToken),
    syslogTlsCert: optional(SETTINGS.syslogTlsCert),
    syslogTlsKey: optional(SETTINGS.syslogTlsKey),
    gelfTcpPort: optional(SETTINGS.gelfTcpPort),
    gelfUdpPort: optional(SETTINGS.gelfUdpPort),
    gelfHost: required(SETTINGS.gelfHost),
    gelfToken: optional(SETTINGS.gelfToken),
    forwardPort: optional(SETTINGS.forwardPort),
    forwardHost: required(SETTINGS.forwardHost),
    forwardToken: optional(SETTINGS.forwardToken),
    forwardSharedKey: optional(SETTINGS.forwardSharedKey),
    idpAIssuer: optional(SETTINGS.idpAIssuer),
    idpAClientId: optional(SETTINGS.idpAClientId),
    idpAClientSecret: optional(SETTINGS.idpAClientSecret),
    idpAName: required(SETTINGS.idpAName),
    idpBIssuer: optional(SETTINGS.idpBIssuer),
    idpBClientId: optional(SETTINGS.idpBClientId),
    idpBClientSecret: optional(SETTINGS.idpBClientSecret),
    idpBName: required(SETTINGS.idpBName),
  };
  requireTogether(config, ["syslogTlsCert", "syslogTlsKey"]);
  requireToken(config, "syslogToken", ["syslogTcpPort", "syslogUdpPort"]);
  requireToken(config, "gelfToken", ["gelfTcpPort", "gelfUdpPort"]);
  requireToken(config, "forwardToken", ["forwardPort"]);
  requireTogether(config, ["idpAIssuer", "idpAClientId", "idpAClientSecret"]);
  requireTogether(config, ["archiveS3Url", "archiveS3AccessKeyId", "archiveS3SecretAccessKey"]);
  requireTogether(config, ["idpBIssuer", "idpBClientId", "idpBClientSecret"]);
  return config;
}

/** Refuses a part of what is of use only as a whole. */
function requireTogether(config: Config, keys: readonly (keyof Config)[]): void {
  const missing = keys.filter((key) => config[key] === null);
  const [first] = missing;
  if (first === undefined || missing.length === keys.length) return;
  const names = keys.map((key) => SETTINGS[key].name).join(", ");
  throw new ConfigError(`${SETTINGS[first].name}: the value is missing; ${names} are of use only together.`);
}

/** Refuses a listener whose messages would belong to nobody. */
function requireToken(
  config: Config,
  token: "syslogToken" | "gelfToken" | "forwardToken",
  ports: readonly ("syslogTcpPort" | "syslogUdpPort" | "gelfTcpPort" | "gelfUdpPort" | "forwardPort")[],
): void {
  const port = ports.find((key) => config[key] !== null);
  if (config[token] !== null || port === undefined) return;
  throw new ConfigError(`${SETTINGS[token].name}: the value is missing; ${SETTINGS[port].name} needs it.`);
}

/** The address people use: `PUBLIC_URL`, or what the listener on `port` is reached by from the same machine. */
export function publicUrlOf(config: Config, port: number): string {
  if (config.publicUrl !== null) return config.publicUrl;
  const everyInterface = config.host === "0.0.0.0" || config.host === "::";
  const host = everyInterface ? "localhost" : config.host.includes(":") ? `[${config.host}]` : config.host;
  return new URL(`http://${host}:${port}`).origin;
}
