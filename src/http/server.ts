import type { App } from "./app.ts";
import { IDLE_TIMEOUT_SEC, MAX_LISTENER_BODY_BYTES } from "./limits.ts";
import { findPortHolder } from "./port-holder.ts";
import { boundReceiving } from "./receive-bound.ts";

interface ListenOptions {
  readonly hostname: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/** Answers requests; never rejects. */
type Answering = Pick<App, "handle">;

export interface Listener {
  readonly port: number;
  /** Passes every further request to another app; those that are being answered stay where they are. */
  use(app: Answering): void;
  /** Where the server is reached on this machine. */
  readonly url: string;
  /** Accepts nothing more and resolves when the requests that are being answered have been. */
  stop(): Promise<void>;
  /** Cuts the connections that are left, such as live tails. */
  abort(): Promise<void>;
}

/** Somebody else listens there; the message is for the person who starts the server. */
class PortTakenError extends Error {
  constructor({ hostname, port }: ListenOptions, cause: unknown) {
    const holder = findPortHolder(port);
    const by = holder === null ? "another program" : `process ${holder.pid} (${holder.name})`;
    super(`port ${port} of ${hostname} is in use by ${by}: stop that one, or set PORT to another port.`, {
      cause,
    });
    this.name = "PortTakenError";
  }
}

/**
 * Listens for HTTP and passes requests to the app, until it is told of another one: nobody who connects meanwhile is refused.
 * Bounds of the listener answer without our envelope, so they lie far
 * beyond those of the app. Throws when the address cannot be listened on, `PortTakenError` when somebody else does.
 */
export function listen(app: Answering, options: ListenOptions): Listener {
  let current = app;
  const server = serve(options, (request, listener) =>
    current.handle(withAbsoluteUrl(request), {
      peerAddress: listener.requestIP(request)?.address,
      setIdleTimeout: (seconds) => listener.timeout(request, seconds),
    }),
  );
  const port = server.port ?? options.port;
  boundReceiving(port);
  return {
    port,
    use: (next) => {
      current = next;
    },
    url: `http://${server.hostname ?? options.hostname}:${port}`,
    stop: () => server.stop(false),
    abort: () => server.stop(true),
  };
}

type Fetch = (request: Request, listener: Bun.Server<undefined>) => Response | Promise<Response>;

function serve(options: ListenOptions, fetch: Fetch): Bun.Server<undefined> {
  try {
    return Bun.serve({
      ...options,
      development: false,
      // Outside development Bun would share a port, and the kernel split the requests between two servers.
      reusePort: false,
      idleTimeout: IDLE_TIMEOUT_SEC,
      maxRequestBodySize: MAX_LISTENER_BODY_BYTES,
      fetch,
      error: () => new Response(null, { status: 500 }),
    });
  } catch (error) {
    const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    throw isTaken ? new PortTakenError(options, error) : error;
  }
}

/** Requests without a usable Host (HTTP/1.0 health checks among them) come with nothing but a path for a URL. */
function withAbsoluteUrl(request: Request): Request {
  return request.url.startsWith("/") ? new Request(`http://localhost${request.url}`, request) : request;
}
