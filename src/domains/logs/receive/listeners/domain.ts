import { readFile } from "node:fs/promises";
import { ForwardDecoder } from "../../../../../ingest/index.ts";
import { type Config, ConfigError } from "../../../../config/config.ts";
import { SETTINGS } from "../../../../config/settings.ts";
import type { Authenticator } from "../../../../http/authenticator.ts";
import type { Logger } from "../../../../log.ts";
import type { LogReceiver } from "../../../../receive/receive-records.ts";
import { ForwardListener } from "../forward/forward-listener.ts";
import { gelfProtocol } from "../gelf/gelf-protocol.ts";
import { syslogProtocol } from "../syslog/syslog-protocol.ts";
import { STOP_MS } from "./limits.ts";
import { MessageDelivery } from "./message-delivery.ts";
import {
  type MessageListeners,
  type MessageListenersOptions,
  openMessageListeners,
} from "./message-listeners.ts";
import type { MessageMetrics } from "./message-metrics.ts";
import type { TlsIdentity } from "./tcp-listener.ts";

interface ListenerDependencies {
  readonly config: Config;
  readonly receiver: LogReceiver;
  readonly authenticator: Authenticator;
  readonly metrics: {
    readonly syslog: MessageMetrics;
    readonly gelf: MessageMetrics;
    readonly forward: MessageMetrics;
  };
  readonly now: () => number;
  readonly log: Logger;
}

type OpenListener = Pick<MessageListeners, "close">;

/** The listeners for syslog, GELF and the forward protocol that are configured. The start throws when one cannot be opened. */
export function listenersDomain(deps: ListenerDependencies) {
  const opened: OpenListener[] = [];
  return {
    start: async () => {
      for (const open of [openSyslog, openGelf, openForward]) {
        const listener = await open(deps);
        if (listener !== null) opened.push(listener);
      }
    },
    endIntake: async () => {
      await Promise.all(opened.map((listener) => listener.close(STOP_MS)));
    },
  };
}

async function openSyslog(deps: ListenerDependencies): Promise<OpenListener | null> {
  const { config, metrics, now } = deps;
  const { syslogTcpPort: tcpPort, syslogUdpPort: udpPort, syslogHost: host, syslogToken: token } = config;
  if (token === null || (tcpPort === null && udpPort === null)) return null;
  const tls = await tlsIdentity(config, "syslogTlsCert", "syslogTlsKey");
  const protocol = syslogProtocol(now);
  return openListeners(deps, { protocol, host, tcpPort, udpPort, tls, token, metrics: metrics.syslog });
}

async function openGelf(deps: ListenerDependencies): Promise<OpenListener | null> {
  const { config, metrics } = deps;
  const { gelfTcpPort: tcpPort, gelfUdpPort: udpPort, gelfHost: host, gelfToken: token } = config;
  if (token === null || (tcpPort === null && udpPort === null)) return null;
  const tls = await tlsIdentity(config, "gelfTlsCert", "gelfTlsKey");
  const protocol = gelfProtocol(() => performance.now());
  return openListeners(deps, { protocol, host, tcpPort, udpPort, tls, token, metrics: metrics.gelf });
}

async function openForward(deps: ListenerDependencies): Promise<OpenListener | null> {
  const { config, receiver, authenticator, metrics, log } = deps;
  const { forwardPort, forwardHost: host, forwardToken: token, forwardSharedKey: sharedKey } = config;
  if (forwardPort === null || token === null) return null;
  const delivery = new MessageDelivery({ receiver, decoder: new ForwardDecoder(), authenticator, token });
  const tls = await tlsIdentity(config, "forwardTlsCert", "forwardTlsKey");
  const listener = new ForwardListener({ delivery, sharedKey, tls, metrics: metrics.forward, log });
  const port = await listener.listen(host, forwardPort);
  if ((await delivery.refusal()) !== null)
    log.error("FORWARD_TOKEN is not valid or lacks logs:write: the forward protocol will be refused");
  log.info({ host, port }, "listening for the forward protocol");
  return listener;
}

async function openListeners(
  { receiver, authenticator, now, log }: ListenerDependencies,
  own: Omit<MessageListenersOptions, "authenticator" | "receiver" | "now" | "log">,
): Promise<OpenListener> {
  const listeners = await openMessageListeners({ ...own, authenticator, receiver, now, log });
  const { tcpPort, udpPort } = listeners;
  log.info({ host: own.host, tcpPort, udpPort }, `listening for ${own.protocol.name}`);
  return listeners;
}

async function tlsIdentity(
  config: Config,
  certSetting: "syslogTlsCert" | "gelfTlsCert" | "forwardTlsCert",
  keySetting: "syslogTlsKey" | "gelfTlsKey" | "forwardTlsKey",
): Promise<TlsIdentity | null> {
  const { [certSetting]: cert, [keySetting]: key } = config;
  if (cert === null || key === null) return null;
  return {
    cert: await readPem(SETTINGS[certSetting].name, cert),
    key: await readPem(SETTINGS[keySetting].name, key),
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
