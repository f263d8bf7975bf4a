import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { chunkOf, decodeValue, encodeValue } from "../../../../../ingest/index.ts";
import type { Logger } from "../../../../log.ts";
import { listenOn } from "../listeners/listen-on.ts";
import type { MessageDelivery } from "../listeners/message-delivery.ts";
import type { MessageMetrics } from "../listeners/message-metrics.ts";
import type { TlsIdentity } from "../listeners/tcp-listener.ts";
import { Handshake } from "./handshake.ts";
import {
  BATCH_MAX_BYTES,
  CONNECTION_IDLE_MS,
  CONNECTIONS_MAX,
  HELD_MAX_BYTES,
  MESSAGE_MAX_BYTES,
  RETRY_MAX_MS,
  RETRY_MIN_MS,
  ROOM_STALL_MS,
  UNEXPECTED_FAILURES_MAX,
} from "./limits.ts";
import { MessageQueue } from "./message-queue.ts";

interface ForwardListenerDependencies {
  readonly delivery: Pick<MessageDelivery, "deliver" | "refusal">;
  /** Null demands no handshake. */
  readonly sharedKey: string | null;
  /** Null listens without encryption. */
  readonly tls: TlsIdentity | null;
  readonly bounds?: { readonly heldMaxBytes: number; readonly roomStallMs: number };
  readonly metrics: MessageMetrics;
  readonly log: Logger;
}

/** One sender. */
interface Connection {
  readonly socket: Socket;
  readonly queue: MessageQueue;
  /** Until the sender has proved that it knows the key. */
  handshake: Handshake | null;
  isStoring: boolean;
  /** Bytes of what is being stored. */
  storingBytes: number;
  /** A chunk that comes after what is being stored. */
  waiting: Uint8Array | null;
}

/** Messages that are stored together, and what acknowledges them. */
interface Batch {
  readonly body: Uint8Array;
  readonly count: number;
  readonly chunk: string | null;
}

/**
 * Takes Fluentd's forward protocol over TCP. A connection is not read while what came is being stored, so that senders
 * wait; a chunk is acknowledged when it is durable, and one that is sent again is stored once.
 */
export class ForwardListener {
  readonly #deps: ForwardListenerDependencies;
  readonly #server: Server;
  readonly #bounds: { readonly heldMaxBytes: number; readonly roomStallMs: number };
  /** In the order of their last whole messages. */
  readonly #connections = new Set<Connection>();
  /** Not read until there is room. */
  readonly #waiting = new Set<Connection>();
  /** The one that is read while others wait. */
  #readAlone: Connection | undefined;
  #isClosing = false;

  constructor(deps: ForwardListenerDependencies) {
    this.#deps = deps;
    this.#bounds = deps.bounds ?? { heldMaxBytes: HELD_MAX_BYTES, roomStallMs: ROOM_STALL_MS };
    const onConnection = (socket: Socket): void => this.#open(socket);
    this.#server =
      deps.tls === null ? createServer(onConnection) : createTlsServer({ ...deps.tls }, onConnection);
    this.#server.on("error", (error) =>
      deps.log.warn({ err: error }, "receiving the forward protocol failed"),
    );
    // A client that speaks no TLS, or not ours, is its own problem.
    this.#server.on("tlsClientError", (error: Error) =>
      deps.log.debug({ err: error }, "no TLS with a sender of the forward protocol"),
    );
  }

  /** Resolves with the port that is listened on. */
  listen(host: string, port: number): Promise<number> {
    return listenOn(this.#server, host, port);
  }

  /** Ends all connections; what was not acknowledged is sent again by its senders. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const { socket } of this.#connections) socket.destroy();
    await closed;
  }

  #open(socket: Socket): void {
    const { metrics, sharedKey } = this.#deps;
    socket.on("error", () => socket.destroy());
    if (this.#connections.size >= CONNECTIONS_MAX) {
      metrics.closed.inc({ reason: "too_many" });
      socket.destroy();
      return;
    }
    const handshake = sharedKey === null ? null : new Handshake(sharedKey);
    const connection: Connection = {
      socket,
      queue: new MessageQueue(),
      handshake,
      isStoring: false,
      storingBytes: 0,
      waiting: null,
    };
    this.#connections.add(connection);
    metrics.connections.inc();
    socket.on("close", () => {
      this.#connections.delete(connection);
      this.#waiting.delete(connection);
      metrics.connections.dec();
      this.#readOn();
    });
    socket.setTimeout(CONNECTION_IDLE_MS);
    socket.on("timeout", () => {
      // It is we who do not read.
      if (connection.isStoring || this.#waiting.has(connection)) return;
      metrics.closed.inc({ reason: "idle" });
      socket.destroy();
    });
    socket.on("data", (bytes: Uint8Array) => {
      connection.queue.push(bytes);
      void this.#takeMessages(connection);
    });
    if (handshake !== null) socket.write(encodeValue(handshake.hello()));
  }

  async #takeMessages(connection: Connection): Promise<void> {
    if (connection.isStoring) return;
    connection.isStoring = true;
    const { socket, queue } = connection;
    socket.pause();
    try {
      if (connection.handshake !== null) this.#shakeHands(connection, connection.handshake);
      for (let batch = this.#nextBatch(connection); batch !== null; batch = this.#nextBatch(connection)) {
        connection.storingBytes = batch.body.length;
        const isStored = await this.#store(batch, socket);
        connection.storingBytes = 0;
        if (!isStored) {
          socket.destroy();
          return;
        }
        if (this.#connections.delete(connection)) this.#connections.add(connection);
        if (batch.chunk !== null) socket.write(encodeValue({ ack: batch.chunk }));
      }
    } finally {
      connection.isStoring = false;
    }
    if (queue.isDamaged || queue.heldBytes > MESSAGE_MAX_BYTES) {
      this.#deps.metrics.closed.inc({ reason: "refused" });
      socket.destroy();
      return;
    }
    if (socket.destroyed) return;
    this.#waiting.add(connection);
    this.#readOn();
    if (this.#waiting.has(connection)) this.#deps.metrics.pauses.inc();
  }

  /**
   * Reads those that wait for room: all while there is some, else the one whose last whole message is the longest ago of
   * those that hold part of one, so that never all wait. Whoever lets others wait may not be silent for long.
   */
  #readOn(): void {
    const { heldMaxBytes, roomStallMs } = this.#bounds;
    const hasRoom = this.#heldBytes() <= heldMaxBytes;
    const first = hasRoom ? undefined : this.#connections.values().find(({ queue }) => queue.heldBytes > 0);
    for (const connection of this.#waiting) {
      if (!hasRoom && connection !== first) continue;
      this.#waiting.delete(connection);
      connection.socket.resume();
    }
    const alone = this.#waiting.size > 0 ? first : undefined;
    if (alone === this.#readAlone) return;
    this.#readAlone?.socket.setTimeout(CONNECTION_IDLE_MS);
    alone?.socket.setTimeout(roomStallMs);
    this.#readAlone = alone;
  }

  #shakeHands(connection: Connection, handshake: Handshake): void {
    const { socket, queue } = connection;
    const message = queue.next();
    if (message === null) return;
    const { isValid, pong } = handshake.answer(decodedMessage(message));
    socket.write(encodeValue(pong));
    if (isValid) connection.handshake = null;
    else {
      this.#deps.metrics.closed.inc({ reason: "refused" });
      socket.destroySoon();
    }
  }

  /** A chunk by itself, so that its repetition is known, or all messages up to the next one. */
  #nextBatch(connection: Connection): Batch | null {
    const { queue, handshake, socket } = connection;
    if (handshake !== null || socket.destroyed) return null;
    const bodies: Uint8Array[] = [];
    let bytes = 0;
    while (bytes < BATCH_MAX_BYTES) {
      const message = connection.waiting ?? queue.next();
      connection.waiting = null;
      if (message === null) break;
      const chunk = chunkOf(message);
      if (chunk !== null && bodies.length === 0) return { body: message, count: 1, chunk };
      if (chunk !== null) {
        connection.waiting = message;
        break;
      }
      bodies.push(message);
      bytes += message.length;
    }
    return bodies.length === 0 ? null : { body: Buffer.concat(bodies), count: bodies.length, chunk: null };
  }

  /** Whether a batch is stored: tried again until it is, unless it is refused or its sender has gone. */
  async #store({ body, count, chunk }: Batch, socket: Socket): Promise<boolean> {
    const { delivery, metrics, log } = this.#deps;
    const name = chunk === null ? crypto.randomUUID() : `${chunk} ${Bun.hash(body)}`;
    let unexpected = 0;
    for (let waitMs = RETRY_MIN_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
      const delivered = await delivery.deliver(body, name);
      if (delivered.outcome === "stored") {
        metrics.messages.inc({ transport: "tcp", outcome: "stored" }, count);
        return true;
      }
      if (delivered.outcome === "unavailable" && delivered.isUnexpected) unexpected++;
      const isOver = delivered.outcome === "refused" || unexpected === UNEXPECTED_FAILURES_MAX;
      if (isOver || socket.destroyed || this.#isClosing) {
        metrics.messages.inc({ transport: "tcp", outcome: isOver ? "refused" : "dropped" }, count);
        log.error({ err: delivered.error }, "messages of the forward protocol were not stored");
        return false;
      }
      await Bun.sleep(waitMs);
    }
  }

  #heldBytes(): number {
    let bytes = 0;
    for (const { queue, storingBytes } of this.#connections) bytes += queue.heldBytes + storingBytes;
    return bytes;
  }
}

function decodedMessage(message: Uint8Array): unknown {
  try {
    return decodeValue(message);
  } catch {
    return undefined;
  }
}
