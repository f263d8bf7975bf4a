import type { App } from "./app.ts";
import { IDLE_TIMEOUT_SEC, MAX_LISTENER_BODY_BYTES } from "./limits.ts";

export interface ListenOptions {
  readonly hostname: string;
  /** 0 takes a free one. */
  readonly port: number;
}

export interface Listener {
  readonly port: number;
  /** Where the server is reached on this machine. */
  readonly url: string;
  /** Accepts nothing more and resolves when the requests that are being answered have been. */
  stop(): Promise<void>;
  /** Cuts the connections that are left, such as live tails. */
  abort(): Promise<void>;
}

/**
 * Listens for HTTP and passes requests to the app. Bounds of the listener answer without our envelope, so they lie far
 * beyond those of the app. Throws when the address cannot be listened on.
 */
export function listen(app: App, options: ListenOptions): Listener {
  const server = Bun.serve({
    hostname: options.hostname,
    port: options.port,
    development: false,
    idleTimeout: IDLE_TIMEOUT_SEC,
    maxRequestBodySize: MAX_LISTENER_BODY_BYTES,
    fetch: (request, listener) =>
      app.handle(withAbsoluteUrl(request), {
        peerAddress: listener.requestIP(request)?.address,
        setIdleTimeout: (seconds) => listener.timeout(request, seconds),
      }),
    error: () => new Response(null, { status: 500 }),
  });
  const port = server.port ?? options.port;
  return {
    port,
    url: `http://${server.hostname ?? options.hostname}:${port}`,
    stop: () => server.stop(false),
    abort: () => server.stop(true),
  };
}

/** Requests without a usable Host (HTTP/1.0 health checks among them) come with nothing but a path for a URL. */
function withAbsoluteUrl(request: Request): Request {
  return request.url.startsWith("/") ? new Request(`http://localhost${request.url}`, request) : request;
}
