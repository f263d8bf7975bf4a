import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import { normalizeAddress } from "../../../../http/client-address.ts";
import type { Logger } from "../../../../log.ts";
import { UDP_RECEIVE_BUFFER_BYTES } from "./limits.ts";
import type { MessageBatches } from "./message-batches.ts";
import type { SyslogMetrics } from "./syslog-metrics.ts";

/**
 * Takes syslog over UDP (RFC 5426), a message a datagram, which is below 64 KiB by its nature. Datagrams for which there
 * is no room are dropped and counted.
 */
export class UdpListener {
  readonly #socket: Socket;

  constructor(deps: {
    batches: Pick<MessageBatches, "isFull" | "add">;
    metrics: SyslogMetrics;
    log: Logger;
    host: string;
  }) {
    const { batches, metrics, log, host } = deps;
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
      batches.add("udp", normalizeAddress(address), datagram);
    });
    this.#socket.on("error", (error) => log.warn({ err: error }, "receiving syslog over UDP failed"));
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
