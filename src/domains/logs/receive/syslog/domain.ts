import { readFile } from "node:fs/promises";
import { type Config, ConfigError } from "../../../../config/config.ts";
import { SETTINGS } from "../../../../config/settings.ts";
import type { Authenticator } from "../../../../http/authenticator.ts";
import type { Logger } from "../../../../log.ts";
import type { LogReceiver } from "../../../../receive/receive-records.ts";
import { STOP_MS } from "./limits.ts";
import { openSyslogListeners, type SyslogListeners } from "./syslog-listeners.ts";
import type { SyslogMetrics } from "./syslog-metrics.ts";
import type { TlsIdentity } from "./tcp-listener.ts";

interface SyslogDependencies {
  readonly config: Config;
  readonly receiver: LogReceiver;
  readonly authenticator: Authenticator;
  readonly metrics: { readonly syslog: SyslogMetrics };
  readonly now: () => number;
  readonly log: Logger;
}

/** The listeners for syslog that are configured, if any. The start throws when one cannot be opened. */
export function syslogDomain({ config, receiver, authenticator, metrics, now, log }: SyslogDependencies) {
  const { syslogTcpPort: tcpPort, syslogUdpPort: udpPort, syslogHost: host, syslogToken: token } = config;
  let listeners: SyslogListeners | undefined;
  return {
    start: async () => {
      if (token === null || (tcpPort === null && udpPort === null)) return;
      const tls = await tlsIdentity(config);
      const parts = { receiver, authenticator, metrics: metrics.syslog, now, log };
      listeners = await openSyslogListeners({ ...parts, host, tcpPort, udpPort, tls, token });
      log.info({ host, tcpPort: listeners.tcpPort, udpPort: listeners.udpPort }, "listening for syslog");
    },
    endIntake: async () => listeners?.close(STOP_MS),
  };
}

async function tlsIdentity({ syslogTlsCert: cert, syslogTlsKey: key }: Config): Promise<TlsIdentity | null> {
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
