/** What came to a receiver. */
interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** How a receiver answers; `hang` never does. */
export type Answering = (received: Received, nth: number) => Response | "hang";

/** A real HTTP server that is told things. */
export class Receiver implements Disposable {
  readonly received: Received[] = [];
  readonly #server: ReturnType<typeof Bun.serve>;
  readonly #hanging: ((response: Response) => void)[] = [];

  constructor(answering: Answering = () => new Response(null, { status: 204 })) {
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      fetch: async (request) => {
        const received = {
          path: new URL(request.url).pathname,
          headers: request.headers,
          body: await request.text(),
        };
        this.received.push(received);
        const answer = answering(received, this.received.length);
        return answer === "hang" ? new Promise<Response>((resolve) => this.#hanging.push(resolve)) : answer;
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  /** The titles that were told, in the order in which they came. */
  get titles(): string[] {
    return this.received.map(({ body }) => {
      const { data }: { data: { title: string } } = JSON.parse(body);
      return data.title;
    });
  }

  /** Answers whoever waits. */
  release(): void {
    for (const resolve of this.#hanging.splice(0)) resolve(new Response(null, { status: 204 }));
  }

  [Symbol.dispose](): void {
    this.release();
    void this.#server.stop(true);
  }
}
