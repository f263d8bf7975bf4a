import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { gunzipSync } from "node:zlib";

/** What the peer does with a request to ingest. */
export type Fault =
  | { kind: "none" }
  /** An answer that stores nothing. */
  | { kind: "refuse"; status: number; headers?: Readonly<Record<string, string>> }
  /** The connection breaks before or after the entries are stored. */
  | { kind: "drop"; stored: boolean };

/** A small server of the ingest contract: idempotency keys, and whatever goes wrong on the way. */
export interface FlakyPeer extends AsyncDisposable {
  readonly url: string;
  /** Messages in the order in which they were stored. */
  readonly stored: readonly string[];
  /** Requests that arrived, answered or not. */
  readonly requests: number;
  /** Called for each of them with its number, from 1. */
  fault: (request: number) => Fault | Promise<Fault>;
}

export async function startFlakyPeer(
  fault: FlakyPeer["fault"] = () => ({ kind: "none" }),
): Promise<FlakyPeer> {
  const stored: string[] = [];
  const bodies = new Map<string, string>();
  let requests = 0;
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  const peer = {
    url: "",
    stored,
    fault,
    get requests() {
      return requests;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const fault = await peer.fault(++requests);
    if (fault.kind === "refuse") {
      response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
      const code = fault.status === 401 ? "UNAUTHENTICATED" : "TEST";
      response.end(JSON.stringify({ error: `refused with ${fault.status}`, code }));
      return;
    }
    if (fault.kind === "drop" && !fault.stored) {
      request.socket.destroy();
      return;
    }
    const body = Buffer.concat(chunks);
    const status = store(
      String(request.headers["idempotency-key"]),
      (request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString(),
    );
    if (fault.kind === "drop") {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(status === 202 ? { accepted: 1 } : { error: "the key has another body" }));
  }

  function store(key: string, body: string): number {
    const before = bodies.get(key);
    if (before !== undefined) return before === body ? 202 : 422;
    bodies.set(key, body);
    const entries: { message: string }[] = JSON.parse(body);
    for (const { message } of entries) stored.push(message);
    return 202;
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the peer listens on no port");
  peer.url = `http://127.0.0.1:${address.port}`;
  return peer;
}
