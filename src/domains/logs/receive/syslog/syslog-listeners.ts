import { SyslogDecoder } from "../../../../../ingest/index.ts";
import type { Authenticator } from "../../../../http/authenticator.ts";
import type { Logger } from "../../../../log.ts";
import type { LogReceiver } from "../../../../receive/receive-records.ts";
import { REFUSAL_LOG_MS } from "./limits.ts";
import { MessageBatches } from "./message-batches.ts";
import { SyslogDelivery } from "./syslog-delivery.ts";
import type { SyslogMetrics } from "./syslog-metrics.ts";
import { TcpListener, type TlsIdentity } from "./tcp-listener.ts";
import { UdpListener } from "./udp-listener.ts";

export interface SyslogListenersOptions {
  readonly host: string;
  /** Null does not listen; 0 takes a free port. */
  readonly tcpPort: number | null;
  readonly udpPort: number | null;
  readonly tls: TlsIdentity | null;
  /** A personal access token whose organisation owns what arrives. */
  readonly token: string;
  readonly authenticator: Authenticator;
  readonly receiver: Pick<LogReceiver, "receive">;
  readonly now: () => number;
  readonly metrics: SyslogMetrics;
  readonly log: Logger;
}

export interface SyslogListeners {
  readonly tcpPort: number | null;
  readonly udpPort: number | null;
  /** Stops listening and stores what was read; what is not stored within `withinMs` is lost and counted. */
  close(withinMs: number): Promise<void>;
}

/** Opens the listeners for syslog. Throws when a port cannot be listened on. */
export async function openSyslogListeners(options: SyslogListenersOptions): Promise<SyslogListeners> {
  const { authenticator, receiver, token, metrics, log, host } = options;
  const decoder = new SyslogDecoder({ now: options.now });
  const delivery = new SyslogDelivery({ receiver, decoder, authenticator, token });
  let loggedRefusalMs = Number.NEGATIVE_INFINITY;
  const batches = new MessageBatches({
    delivery,
    metrics,
    log,
    onRoom: () => tcp.resume(),
    onRefused: () => {
      tcp.closeConnections();
      if (options.now() < loggedRefusalMs + REFUSAL_LOG_MS) return;
      loggedRefusalMs = options.now();
      log.error("syslog messages are refused and lost: SYSLOG_TOKEN is not valid or lacks logs:write");
    },
  });
  const isRefused = async (): Promise<boolean> => (await delivery.refusal()) !== null;
  const tcp = new TcpListener({ batches, isRefused, metrics, log, tls: options.tls });
  const udp = new UdpListener({ batches, metrics, log, host });
  const tcpPort = options.tcpPort === null ? null : await tcp.listen(host, options.tcpPort);
  const udpPort = options.udpPort === null ? null : await udp.listen(host, options.udpPort);
  if (await isRefused()) log.error("SYSLOG_TOKEN is not valid or lacks logs:write: syslog will be refused");
  return {
    tcpPort,
    udpPort,
    close: async (withinMs) => {
      await Promise.all([
        tcpPort === null ? undefined : tcp.close(),
        udpPort === null ? undefined : udp.close(),
      ]);
      await batches.close(withinMs);
    },
  };
}
