import { setPatience } from "../concurrency/patience.ts";
import { type Config, publicUrlOf } from "../config/config.ts";
import { type Listener, listen } from "../http/server.ts";
import type { Logger } from "../log.ts";
import { openStores } from "../storage/open.ts";
import type { Metrics } from "./metrics.ts";
import type { StoppableServer } from "./server-stop.ts";

/** For the moment in which not even the address of the server is known to what answers. */
const UNOPENED = {
  handle: async () => {
    const requestId = crypto.randomUUID();
    return Response.json(
      { error: "The server is starting.", code: "UNAVAILABLE", requestId },
      { status: 503, headers: { "retry-after": "1", "x-request-id": requestId } },
    );
  },
};

/** How long requests that are being answered may take when the server stops. */
const STOP_REQUESTS_MS = 2_000;

interface Server extends StoppableServer {
  readonly url: string;
}

/**
 * Listens, opens the stores, what stands on them and every domain, and starts it all; until then the listener is answered by
 * what needs no store. Throws when something cannot be opened.
 */
export async function startServer(config: Config, metrics: Metrics, log: Logger): Promise<Server> {
  setPatience(config.timeoutFactor);
  // Before anything is opened or changed for a server that could not be reached.
  const listener = listen(UNOPENED, { hostname: config.host, port: config.port });
  try {
    return await openServer(listener, config, metrics, log);
  } catch (error) {
    await listener.abort();
    throw error;
  }
}

async function openServer(
  listener: Listener,
  config: Config,
  metrics: Metrics,
  log: Logger,
): Promise<Server> {
  const publicUrl = publicUrlOf(config, listener.port);
  const answered = new Set<string>();
  const opening = openStores(config, log, (store) => answered.add(store));
  // Heard where it is awaited, which may be after it has failed.
  opening.catch(() => undefined);
  try {
    // The larger part of the program, read while the embedded stores start in processes of their own.
    const { openStandIn, openRunning } = await import("./running.ts");
    const standIn = await openStandIn({ config, publicUrl, metrics, log, answered });
    listener.use(standIn);
    const running = await openRunning({ config, stores: await opening, metrics, log, publicUrl });
    listener.use(running.app);
    return {
      url: publicUrl,
      drain: running.drain,
      stop: async () => {
        await running.stop(() => stopListening(listener));
        await (await opening).close();
      },
    };
  } catch (error) {
    await opening.then(
      (stores) => stores.close(),
      () => undefined,
    );
    throw error;
  }
}

/** Lets the requests that are being answered end, and cuts those that take too long. */
async function stopListening(listener: Listener): Promise<void> {
  const timer = setTimeout(() => void listener.abort(), STOP_REQUESTS_MS);
  await listener.stop();
  clearTimeout(timer);
}
