import type { RecordDecoder } from "../../../../../ingest/index.ts";
import type { Authenticator } from "../../../../http/authenticator.ts";
import type { Logger } from "../../../../log.ts";
import type { LogReceiver } from "../../../../receive/receive-records.ts";
import { REFUSAL_LOG_MS } from "./limits.ts";
import { MessageBatches } from "./message-batches.ts";
import { MessageDelivery } from "./message-delivery.ts";
import type { MessageMetrics } from "./message-metrics.ts";
import { type FrameSource, TcpListener, type TlsIdentity } from "./tcp-listener.ts";
import { UdpListener } from "./udp-listener.ts";

/** What is received, and how it is taken apart. */
export interface MessageProtocol {
  readonly name: string;
  /** The setting that holds the token. */
  readonly tokenSetting: string;
  /** Decodes bodies made by `RelayedFrames`. */
  readonly decoder: RecordDecoder;
  readonly frames: () => FrameSource;
  readonly messageOf: (datagram: Uint8Array, peer: string) => Uint8Array | null | undefined;
}

export interface MessageListenersOptions {
  readonly protocol: MessageProtocol;
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
  readonly metrics: MessageMetrics;
  readonly log: Logger;
}

export interface MessageListeners {
  readonly tcpPort: number | null;
  readonly udpPort: number | null;
  /** Stops listening and stores what was read; what is not stored within `withinMs` is lost and counted. */
  close(withinMs: number): Promise<void>;
}

/** Opens the listeners of a protocol. Throws when a port cannot be listened on. */
export async function openMessageListeners(options: MessageListenersOptions): Promise<MessageListeners> {
  const { authenticator, receiver, token, metrics, log, host } = options;
  const { name: protocol, tokenSetting, decoder, frames, messageOf } = options.protocol;
  const delivery = new MessageDelivery({ receiver, decoder, authenticator, token });
  let loggedRefusalMs = Number.NEGATIVE_INFINITY;
  const batches = new MessageBatches({
    protocol,
    delivery,
    metrics,
    log,
    onRoom: () => tcp.resume(),
    onRefused: () => {
      tcp.closeConnections();
      if (options.now() < loggedRefusalMs + REFUSAL_LOG_MS) return;
      loggedRefusalMs = options.now();
      log.error(
        `${protocol} messages are refused and lost: ${tokenSetting} is not valid or lacks logs:write`,
      );
    },
  });
  const isRefused = async (): Promise<boolean> => (await delivery.refusal()) !== null;
  const tcp = new TcpListener({ batches, frames, protocol, isRefused, metrics, log, tls: options.tls });
  const udp = new UdpListener({ batches, protocol, messageOf, metrics, log, host });
  const tcpPort = options.tcpPort === null ? null : await tcp.listen(host, options.tcpPort);
  const udpPort = options.udpPort === null ? null : await udp.listen(host, options.udpPort);
  if (await isRefused())
    log.error(`${tokenSetting} is not valid or lacks logs:write: ${protocol} will be refused`);
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
