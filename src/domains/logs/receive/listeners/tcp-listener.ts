import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { normalizeAddress, UNKNOWN_ADDRESS } from "../../../../http/client-address.ts";
import type { Logger } from "../../../../log.ts";
import { CONNECTION_IDLE_MS, CONNECTIONS_MAX } from "./limits.ts";
import { listenOn } from "./listen-on.ts";
import type { MessageBatches } from "./message-batches.ts";
import type { MessageMetrics } from "./message-metrics.ts";

/** A certificate and its private key in PEM. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

interface TcpListenerDependencies {
  readonly batches: Pick<MessageBatches, "isFull" | "add">;
  /** Whether messages would be refused for good now, so that there is no use in reading them. */
  readonly isRefused: () => Promise<boolean>;
  /** What takes the bytes of a connection apart. */
  readonly frames: () => FrameSource;
  /** What is received, for the log. */
  readonly protocol: string;
  readonly metrics: MessageMetrics;
  readonly log: Logger;
  /** Null listens without encryption. */
  readonly tls: TlsIdentity | null;
}

/** Takes the bytes of one connection apart. */
export interface FrameSource {
  /** Frames that were cut so far. */
  readonly cut: number;
  push(chunk: Uint8Array): void;
  /** The next whole frame, valid until the next call; null when there is none yet. */
  next(): Uint8Array | null;
  /** What is left when the connection ends. */
  rest(): Uint8Array | null;
}

/** One sender. */
interface Connection {
  readonly socket: Socket;
  readonly peer: string;
  readonly frames: FrameSource;
  /** Not read, because its messages have no room. */
  isPaused: boolean;
  cutSoFar: number;
}

/** Takes messages over TCP or TLS. While there is no room for messages, sockets are not read. */
export class TcpListener {
  readonly #deps: TcpListenerDependencies;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();

  constructor(deps: TcpListenerDependencies) {
    this.#deps = deps;
    const onConnection = (socket: Socket): void => void this.#open(socket);
    this.#server =
      deps.tls === null ? createServer(onConnection) : createTlsServer({ ...deps.tls }, onConnection);
    this.#server.on("error", (error) =>
      deps.log.warn({ err: error }, `receiving ${deps.protocol} over TCP failed`),
    );
    // A client that speaks no TLS, or not ours, is its own problem.
    this.#server.on("tlsClientError", (error: Error) =>
      deps.log.debug({ err: error }, `no TLS with a ${deps.protocol} sender`),
    );
  }

  /** Resolves with the port that is listened on. */
  listen(host: string, port: number): Promise<number> {
    return listenOn(this.#server, host, port);
  }

  /** Goes on with connections that were not read; to be called when there is room. */
  resume(): void {
    for (const connection of this.#connections) if (connection.isPaused) this.#takeFrames(connection);
  }

  /** Closes every connection, without its unread messages. */
  closeConnections(): void {
    for (const { socket } of this.#connections) {
      this.#deps.metrics.closed.inc({ reason: "refused" });
      socket.destroy();
    }
  }

  /** Ends all connections; what was read from them goes into the batches. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections) {
      const { socket, frames } = connection;
      socket.pause();
      for (let chunk = socket.read(); chunk instanceof Uint8Array; chunk = socket.read()) frames.push(chunk);
      this.#takeRest(connection);
      socket.destroy();
    }
    await closed;
  }

  async #open(socket: Socket): Promise<void> {
    const { metrics } = this.#deps;
    socket.on("error", () => socket.destroy());
    if (this.#connections.size >= CONNECTIONS_MAX) {
      metrics.closed.inc({ reason: "too_many" });
      socket.destroy();
      return;
    }
    const connection: Connection = {
      socket,
      peer: socket.remoteAddress === undefined ? UNKNOWN_ADDRESS : normalizeAddress(socket.remoteAddress),
      frames: this.#deps.frames(),
      isPaused: false,
      cutSoFar: 0,
    };
    this.#connections.add(connection);
    metrics.connections.inc();
    socket.pause();
    socket.on("close", () => {
      this.#takeRest(connection);
      this.#connections.delete(connection);
      metrics.connections.dec();
    });
    socket.setKeepAlive(true);
    socket.setTimeout(CONNECTION_IDLE_MS, () => this.#endIdle(connection));
    if (await this.#deps.isRefused()) {
      metrics.closed.inc({ reason: "refused" });
      socket.destroy();
      return;
    }
    socket.on("data", (chunk: Uint8Array) => {
      connection.frames.push(chunk);
      this.#takeFrames(connection);
    });
    // Not read before there is room, or senders that come and go could fill the memory.
    this.#takeFrames(connection);
    if (!connection.isPaused) socket.resume();
  }

  /** Takes frames as long as there is room, and reads on or not. */
  #takeFrames(connection: Connection): void {
    const { batches, metrics } = this.#deps;
    const { socket, frames, peer } = connection;
    let frame: Uint8Array | null = null;
    while (!batches.isFull) {
      frame = frames.next();
      if (frame === null) break;
      batches.add("tcp", peer, frame);
    }
    this.#countCut(connection);
    const pauses = batches.isFull;
    if (pauses === connection.isPaused) return;
    connection.isPaused = pauses;
    if (pauses) {
      metrics.pauses.inc();
      socket.pause();
    } else {
      socket.resume();
    }
  }

  /** Takes everything that was read, room or not: nobody will read on. */
  #takeRest(connection: Connection): void {
    const { frames, peer } = connection;
    for (let frame = frames.next(); frame !== null; frame = frames.next())
      this.#deps.batches.add("tcp", peer, frame);
    const rest = frames.rest();
    if (rest !== null) this.#deps.batches.add("tcp", peer, rest);
    this.#countCut(connection);
  }

  #countCut(connection: Connection): void {
    const { cut } = connection.frames;
    if (cut > connection.cutSoFar) this.#deps.metrics.cut.inc(cut - connection.cutSoFar);
    connection.cutSoFar = cut;
  }

  #endIdle({ socket, isPaused }: Connection): void {
    // It is we who do not read.
    if (isPaused) return;
    this.#deps.metrics.closed.inc({ reason: "idle" });
    socket.destroy();
  }
}
