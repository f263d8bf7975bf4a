import { connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";

/** A proxy on loopback in front of Postgres that can stop a client right before a statement. */
export interface StatementGate {
  readonly port: number;
  /** Lets nothing through any more, on any connection, from the first statement on that holds this text. */
  stopAt(text: string): void;
  /** Resolves when it has come. */
  readonly stopped: Promise<void>;
  close(): Promise<void>;
}

export async function openStatementGate(target: { host: string; port: number }): Promise<StatementGate> {
  const sockets = new Set<Socket>();
  const stopped = Promise.withResolvers<void>();
  let stopText: string | null = null;
  let isStopped = false;
  const gate = (): Transform =>
    new Transform({
      transform: (chunk: Buffer, _encoding, pass) => {
        // Statements are prepared by their text once on each connection, before their first use there.
        if (stopText !== null && chunk.includes(stopText)) {
          isStopped = true;
          stopped.resolve();
        }
        if (!isStopped) pass(null, chunk);
      },
    });
  const server = createServer((incoming) => {
    const outgoing = connect(target.port, target.host);
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
    incoming.on("close", () => outgoing.destroy());
    outgoing.on("close", () => incoming.destroy());
    incoming.pipe(gate()).pipe(outgoing);
    outgoing.pipe(incoming);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the gate has no port");
  return {
    port: address.port,
    stopAt: (text) => {
      stopText = text;
    },
    stopped: stopped.promise,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
