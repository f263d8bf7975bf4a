import { connect, type Socket } from "node:net";

/** How often the balancer asks each server. */
const HEALTH_INTERVAL_MS = 100;

/**
 * A small load balancer: asks a health path of each server again and again, and opens connections only to those that
 * answered 200 last. Connections that are open stay with their server, as they do behind a balancer of TCP.
 */
export class Balancer {
  readonly #path: string;
  readonly #healthy = new Set<string>();
  readonly #timers: ReturnType<typeof setInterval>[];
  #turn = 0;

  constructor(urls: readonly string[], healthPath: string) {
    this.#path = healthPath;
    this.#timers = urls.map((url) => setInterval(() => void this.#ask(url), HEALTH_INTERVAL_MS));
  }

  get healthy(): ReadonlySet<string> {
    return this.#healthy;
  }

  /** Opens a connection to the next healthy server. */
  connect(): Promise<HttpConnection> {
    const url = [...this.#healthy][this.#turn++ % Math.max(1, this.#healthy.size)];
    if (url === undefined) throw new Error("no server is healthy");
    return HttpConnection.open(url);
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }

  async #ask(url: string): Promise<void> {
    const isHealthy = await fetch(`${url}${this.#path}`, { headers: { connection: "close" } }).then(
      (response) => response.ok,
      () => false,
    );
    if (isHealthy) this.#healthy.add(url);
    else this.#healthy.delete(url);
  }
}

/** One connection of HTTP/1.1 that hides nothing: a request that is not answered on it rejects. */
export class HttpConnection {
  readonly #socket: Socket;
  #received = "";
  #ended = false;
  #wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const note = (): void => this.#wake();
    socket.on("data", (chunk) => {
      this.#received += chunk.toString("latin1");
      note();
    });
    for (const event of ["end", "close", "error"])
      socket.on(event, () => {
        this.#ended = true;
        note();
      });
  }

  static open(url: string): Promise<HttpConnection> {
    const { hostname, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      socket.once("error", reject);
      socket.once("connect", () => resolve(new HttpConnection(socket)));
    });
  }

  /** Whether the server may be asked again on it. */
  get isOpen(): boolean {
    return !this.#ended;
  }

  /** Sends a request and answers the status; the server's wish to close the connection is followed. */
  async send(head: readonly string[], body: string): Promise<number> {
    this.#received = "";
    const length = `Content-Length: ${Buffer.byteLength(body)}`;
    this.#socket.write(`${[...head, "Host: localhost", length].join("\r\n")}\r\n\r\n${body}`);
    while (!this.#isAnswered()) {
      if (this.#ended) throw new Error(`no answer, but the end of the connection, after: ${this.#received}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const status = Number(this.#received.split(" ")[1]);
    if (/^connection: close\r$/im.test(this.#received)) this.close();
    return status;
  }

  close(): void {
    this.#ended = true;
    this.#socket.destroy();
  }

  #isAnswered(): boolean {
    const end = this.#received.indexOf("\r\n\r\n");
    const bytes = Number(/^content-length: (\d+)\r$/im.exec(this.#received)?.[1]);
    return end >= 0 && this.#received.length >= end + 4 + bytes;
  }
}
