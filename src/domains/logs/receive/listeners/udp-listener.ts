import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import { normalizeAddress } from "../../../../http/client-address.ts";
import type { Logger } from "../../../../log.ts";
import { UDP_RECEIVE_BUFFER_BYTES } from "./limits.ts";
import type { MessageBatches } from "./message-batches.ts";
import type { MessageMetrics } from "./message-metrics.ts";

/**
 * Takes messages over UDP; a datagram is below 64 KiB by its nature. Datagrams for which there
 * is no room are dropped and counted.
 */
export class UdpListener {
  readonly #socket: Socket;

  constructor(deps: {
    batches: Pick<MessageBatches, "isFull" | "add">;
    metrics: MessageMetrics;
    log: Logger;
    host: string;
    /** What is received, for the log. */
    protocol: string;
    /** The message that a datagram completes; null when there is none yet, undefined for what cannot be read. */
    messageOf: (datagram: Uint8Array, peer: string) => Uint8Array | null | undefined;
  }) {
    const { batches, metrics, log, host, protocol, messageOf } = deps;
    this.#socket = createSocket({
      type: isIPv6(host) ? "udp6" : "udp4",
      recvBufferSize: UDP_RECEIVE_BUFFER_BYTES,
    });
    this.#socket.on("message", (datagram: Uint8Array, { address }: RemoteInfo) => {
      if (datagram.length === 0) return;
      if (batches.isFull) {
        metrics.messages.inc({ transport: "udp", outcome: "dropped" });
        return;
      }
      const peer = normalizeAddress(address);
      const message = messageOf(datagram, peer);
      if (message === undefined) metrics.messages.inc({ transport: "udp", outcome: "unreadable" });
      else if (message !== null) batches.add("udp", peer, message);
    });
    this.#socket.on("error", (error) => log.warn({ err: error }, `receiving ${protocol} over UDP failed`));
  }

  /** Resolves with the port that is listened on. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#socket.once("error", reject);
      this.#socket.bind(port, host, () => {
        this.#socket.off("error", reject);
        resolve(this.#socket.address().port);
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }
}
