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

/** The settings as values. URLs of stores hold passwords: never log them. */
export type Config = { readonly [K in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[K]["read"]> };

/** Variables of the command line that a person may well have set in the shell that starts the server. */
const COMMAND_LINE_VARIABLES = ["OBS_URL", "OBS_TOKEN"];

export type Environment = Readonly<Record<string, string | undefined>>;

function refuse(row: Setting<unknown>, text: string, problem: string): ConfigError {
  const shown = row.secret === true ? "the value (not shown, it may hold a password)" : JSON.stringify(text);
  return new ConfigError(
    `${row.name}: ${shown} ${problem}; accepted: ${row.type.accepts.replaceAll("`", "")}.`,
  );
}

function readValue(row: Setting<unknown>, environment: Environment): unknown {
  const text = environment[row.name]?.trim() ?? "";
  try {
    return row.read(text);
  } catch (error) {
    if (error instanceof ValueProblem) throw refuse(row, text, error.message);
    throw error;
  }
}

/** Whether there is a value for every setting; its type is what the setting's own reader answers. */
function isConfig(values: Readonly<Record<string, unknown>>): values is Config {
  return Object.keys(SETTINGS).every((key) => key in values);
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
  const config = Object.fromEntries(
    Object.entries(SETTINGS).map(([key, row]) => [key, readValue(row, environment)]),
  );
  if (!isConfig(config)) throw new Error("a setting has no value");
  requireTogether(config, ["syslogTlsCert", "syslogTlsKey"]);
  requireTogether(config, ["gelfTlsCert", "gelfTlsKey"]);
  requireTogether(config, ["forwardTlsCert", "forwardTlsKey"]);
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

/** What a balancer needs that asks every second or two and believes the second answer. */
const DRAIN_SECONDS_BESIDE_OTHERS = 5;

/** How long a server drains: only where the database is outside can there be others that its clients are sent to. */
export function drainSecondsOf({ drainSeconds, databaseUrl }: Config): number {
  return drainSeconds ?? (databaseUrl === null ? 0 : DRAIN_SECONDS_BESIDE_OTHERS);
}

/** The address people use: `PUBLIC_URL`, or what the listener on `port` is reached by from the same machine. */
export function publicUrlOf(config: Config, port: number): string {
  if (config.publicUrl !== null) return config.publicUrl;
  const everyInterface = config.host === "0.0.0.0" || config.host === "::";
  const host = everyInterface ? "localhost" : config.host.includes(":") ? `[${config.host}]` : config.host;
  return new URL(`http://${host}:${port}`).origin;
}
