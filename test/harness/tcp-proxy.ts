import { connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";

/** A proxy on loopback in front of a store, to cut it off and to let it back. */
export interface TcpProxy {
  readonly port: number;
  /** Refuses new connections and drops those there are. */
  cut(): void;
  restore(): void;
  /** Holds back whatever passes from now on, in both directions. */
  delay(ms: number): void;
  close(): Promise<void>;
}

export async function openTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let delayMs = 0;
  const slowdown = (): Transform =>
    new Transform({
      transform: (chunk: Buffer, _encoding, pass) => {
        if (delayMs === 0) pass(null, chunk);
        else setTimeout(() => pass(null, chunk), delayMs);
      },
    });
  const server = createServer((incoming) => {
    if (isCut) {
      incoming.destroy();
      return;
    }
    const outgoing = connect(target.port, target.host);
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      from.pipe(slowdown()).pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address.port,
    cut: () => {
      isCut = true;
      drop();
    },
    restore: () => {
      isCut = false;
    },
    delay: (ms) => {
      delayMs = ms;
    },
    close: async () => {
      drop();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
