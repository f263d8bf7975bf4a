import { readFile } from "node:fs/promises";
import type { Sql } from "postgres";
import { ForwardDecoder, type Ingest } from "../../ingest/index.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { SETTINGS } from "../config/settings.ts";
import { ForwardListener } from "../domains/logs/receive/forward/forward-listener.ts";
import { gelfProtocol } from "../domains/logs/receive/gelf/gelf-protocol.ts";
import {
  type MessageListeners,
  type MessageListenersOptions,
  openMessageListeners,
} from "../domains/logs/receive/syslog/message-listeners.ts";
import { SyslogDelivery } from "../domains/logs/receive/syslog/syslog-delivery.ts";
import { syslogProtocol } from "../domains/logs/receive/syslog/syslog-protocol.ts";
import type { Authenticator } from "../identity/authenticator.ts";
import type { Logger } from "../log.ts";
import type { QuarantineSink } from "../receive/quarantine-sink.ts";
import { LogReceiver } from "../receive/receive-records.ts";
import { DailyCaps } from "../usage/daily-caps.ts";
import { PlanCaps } from "../usage/plan.ts";
import { planOf } from "./app.ts";
import type { Metrics } from "./metrics.ts";

interface ServerListenersOptions {
  readonly config: Config;
  readonly sql: Sql;
  readonly ingest: Pick<Ingest, "ingest">;
  readonly quarantine: QuarantineSink;
  readonly authenticator: Authenticator;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** Opens the listeners for syslog, GELF and the forward protocol that are configured. Throws when one cannot be opened. */
export async function openServerListeners(
  options: ServerListenersOptions,
): Promise<readonly Pick<MessageListeners, "close">[]> {
  const { config, metrics } = options;
  const { syslogToken, gelfToken } = config;
  const now = Date.now;
  const opened: Pick<MessageListeners, "close">[] = [];
  if (syslogToken !== null && (config.syslogTcpPort !== null || config.syslogUdpPort !== null))
    opened.push(
      await openListeners(options, {
        protocol: syslogProtocol(now),
        host: config.syslogHost,
        tcpPort: config.syslogTcpPort,
        udpPort: config.syslogUdpPort,
        tls: await tlsIdentity(config),
        token: syslogToken,
        metrics: metrics.syslog,
      }),
    );
  if (gelfToken !== null && (config.gelfTcpPort !== null || config.gelfUdpPort !== null))
    opened.push(
      await openListeners(options, {
        protocol: gelfProtocol(() => performance.now()),
        host: config.gelfHost,
        tcpPort: config.gelfTcpPort,
        udpPort: config.gelfUdpPort,
        tls: null,
        token: gelfToken,
        metrics: metrics.gelf,
      }),
    );
  const forward = await openForward(options);
  if (forward !== null) opened.push(forward);
  return opened;
}

async function openForward(options: ServerListenersOptions): Promise<ForwardListener | null> {
  const { config, authenticator, metrics, log } = options;
  const { forwardPort, forwardHost: host, forwardToken: token, forwardSharedKey: sharedKey } = config;
  if (forwardPort === null || token === null) return null;
  const decoder = new ForwardDecoder();
  const delivery = new SyslogDelivery({ receiver: receiverOf(options), decoder, authenticator, token });
  const listener = new ForwardListener({ delivery, sharedKey, metrics: metrics.forward, log });
  const port = await listener.listen(host, forwardPort);
  if ((await delivery.refusal()) !== null)
    log.error("FORWARD_TOKEN is not valid or lacks logs:write: the forward protocol will be refused");
  log.info({ host, port }, "listening for the forward protocol");
  return listener;
}

function receiverOf({ config, sql, ingest, quarantine }: ServerListenersOptions): LogReceiver {
  const now = Date.now;
  const caps = { token: new DailyCaps({ sql, now }), plan: new PlanCaps({ plan: planOf(config), sql, now }) };
  return new LogReceiver({ ingest, caps, quarantine });
}

async function openListeners(
  options: ServerListenersOptions,
  own: Omit<MessageListenersOptions, "authenticator" | "receiver" | "now" | "log">,
): Promise<MessageListeners> {
  const { authenticator, log } = options;
  const receiver = receiverOf(options);
  const listeners = await openMessageListeners({ ...own, authenticator, receiver, now: Date.now, log });
  const { tcpPort, udpPort } = listeners;
  log.info({ host: own.host, tcpPort, udpPort }, `listening for ${own.protocol.name}`);
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
