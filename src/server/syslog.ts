import { readFile } from "node:fs/promises";
import type { Sql } from "postgres";
import type { Ingest } from "../../ingest/index.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { SETTINGS } from "../config/settings.ts";
import {
  openSyslogListeners,
  type SyslogListeners,
} from "../domains/logs/receive/syslog/syslog-listeners.ts";
import type { Authenticator } from "../identity/authenticator.ts";
import type { Logger } from "../log.ts";
import type { QuarantineSink } from "../receive/quarantine-sink.ts";
import { LogReceiver } from "../receive/receive-records.ts";
import { DailyCaps } from "../usage/daily-caps.ts";
import { PlanCaps } from "../usage/plan.ts";
import { planOf } from "./app.ts";
import type { Metrics } from "./metrics.ts";

interface ServerSyslogOptions {
  readonly config: Config;
  readonly sql: Sql;
  readonly ingest: Pick<Ingest, "ingest">;
  readonly quarantine: QuarantineSink;
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Opens the listeners for syslog that are configured; null when none is. Throws when one cannot be opened. */
export async function openServerSyslog(options: ServerSyslogOptions): Promise<SyslogListeners | null> {
  const { config, sql, authenticator, metrics, log } = options;
  const { syslogTcpPort: tcpPort, syslogUdpPort: udpPort, syslogHost: host, syslogToken: token } = config;
  if (token === null || (tcpPort === null && udpPort === null)) return null;
  const now = Date.now;
  const listeners = await openSyslogListeners({
    host,
    tcpPort,
    udpPort,
    tls: await tlsIdentity(config),
    token,
    authenticator,
    receiver: new LogReceiver({
      ingest: options.ingest,
      caps: { token: new DailyCaps({ sql, now }), plan: new PlanCaps({ plan: planOf(config), sql, now }) },
      quarantine: options.quarantine,
    }),
    now,
    metrics: metrics.syslog,
    log,
  });
  log.info({ host, tcpPort: listeners.tcpPort, udpPort: listeners.udpPort }, "listening for syslog");
  return listeners;
}

async function tlsIdentity({
  syslogTlsCert: cert,
  syslogTlsKey: key,
}: Config): Promise<{ cert: string; key: string } | null> {
  if (cert === null || key === null) return null;
  return {
    cert: await readPem(SETTINGS.syslogTlsCert.name, cert),
    key: await readPem(SETTINGS.syslogTlsKey.name, key),
  };
}

async function readPem(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${name}: ${path} cannot be read: ${reason}`);
  }
}
