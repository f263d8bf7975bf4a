import { createServer, type Server, type Socket } from "node:net";
import type { Connector } from "../../outbound/connector.ts";
import { OutboundError } from "../../outbound/outbound-error.ts";
import { OutboundScope } from "../../outbound/outbound-scope.ts";
import { BROWSER_CONNECTIONS_MAX, BROWSER_DIAL_MAX_MS } from "../limits.ts";
import {
  greetingBytes,
  readSocksRequest,
  SOCKS_COMMAND_UNKNOWN,
  SOCKS_GRANTED,
  SOCKS_HOST_UNREACHABLE,
  SOCKS_MESSAGE_MAX_BYTES,
  SOCKS_METHOD_ACCEPTED,
  SOCKS_NOT_ALLOWED,
  socksReply,
} from "./socks-messages.ts";

/** Hosts of which it is known why they could not be reached. */
const FAILURES_MAX = 1000;

/**
 * The only way out of a browser: a SOCKS proxy on this machine's loopback that judges every address before it connects, so that a page
 * cannot reach what no monitor may watch. Names are resolved here and never by the browser.
 */
export class JudgingProxy {
  readonly #server: Server;
  readonly #connector: Connector;
  readonly #clients = new Set<Socket>();
  readonly #failures = new Map<string, OutboundError>();

  private constructor(connector: Connector) {
    this.#connector = connector;
    this.#server = createServer((client) => this.#take(client));
    this.#server.maxConnections = BROWSER_CONNECTIONS_MAX;
  }

  static async start(connector: Connector): Promise<JudgingProxy> {
    const proxy = new JudgingProxy(connector);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once("error", reject);
      proxy.#server.listen(0, "127.0.0.1", resolve);
    });
    return proxy;
  }

  /** As browsers take it. */
  get address(): string {
    const found = this.#server.address();
    if (found === null || typeof found !== "object") throw new Error("the proxy does not listen");
    return `socks5://127.0.0.1:${found.port}`;
  }

  /** Why the host of a URL was not reached when it was last tried; null when it was. */
  failureOf(url: URL): OutboundError | null {
    const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
    return this.#failures.get(targetKey(url.hostname, port)) ?? null;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const client of this.#clients) client.destroy();
    await closed;
  }

  #take(client: Socket): void {
    const scope = new OutboundScope(performance.now() + BROWSER_DIAL_MAX_MS);
    this.#clients.add(client);
    client.on("error", () => client.destroy());
    client.on("close", () => {
      this.#clients.delete(client);
      scope.end();
    });
    // A connection that asks for nothing is not kept.
    client.setTimeout(BROWSER_DIAL_MAX_MS, () => client.destroy());
    let received: Uint8Array = new Uint8Array();
    let isGreeted = false;
    const read = (chunk: Uint8Array): void => {
      received = Buffer.concat([received, chunk]);
      if (received.length > SOCKS_MESSAGE_MAX_BYTES) return void client.destroy();
      try {
        if (!isGreeted) {
          const greeting = greetingBytes(received);
          if (greeting === null) return;
          received = received.subarray(greeting);
          isGreeted = true;
          client.write(SOCKS_METHOD_ACCEPTED);
        }
        const request = readSocksRequest(received);
        if (request === null) return;
        client.off("data", read);
        client.pause();
        if (!request.isConnect) return void client.end(socksReply(SOCKS_COMMAND_UNKNOWN));
        void this.#connect(client, request.host, request.port, scope);
      } catch {
        client.destroy();
      }
    };
    client.on("data", read);
  }

  async #connect(client: Socket, host: string, port: number, scope: OutboundScope): Promise<void> {
    try {
      const { socket } = await this.#connector.dial(host, port, scope);
      this.#failures.delete(targetKey(host, port));
      client.setTimeout(0);
      socket.on("close", () => client.destroy());
      client.write(socksReply(SOCKS_GRANTED));
      client.pipe(socket).pipe(client);
    } catch (error) {
      const failure =
        error instanceof OutboundError ? error : new OutboundError("unreachable", { cause: error });
      if (this.#failures.size >= FAILURES_MAX) this.#failures.clear();
      this.#failures.set(targetKey(host, port), failure);
      client.end(socksReply(failure.failure === "blocked" ? SOCKS_NOT_ALLOWED : SOCKS_HOST_UNREACHABLE));
    }
  }
}

/** One spelling of a host, whether a browser or a URL wrote it. */
function targetKey(host: string, port: number): string {
  const written = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return `${URL.parse(`http://${written}/`)?.hostname ?? written} ${port}`;
}
