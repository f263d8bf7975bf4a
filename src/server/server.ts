import { type Config, publicUrlOf } from "../config/config.ts";
import { type Listener, listen } from "../http/server.ts";
import type { Logger } from "../log.ts";
import { openStores } from "../storage/open.ts";
import { createApp } from "./app.ts";
import { openDomains } from "./domains.ts";
import { Housekeeping } from "./housekeeping.ts";
import type { Metrics } from "./metrics.ts";
import { type Part, startParts, stopParts } from "./part.ts";
import type { StoppableServer } from "./server-stop.ts";
import { openServices } from "./services.ts";
import { openStandIn } from "./stand-in.ts";

/** For the moment in which not even the address of the server is known to what answers. */
const UNOPENED = {
  handle: async () => new Response(null, { status: 503, headers: { "retry-after": "1" } }),
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
  const standIn = await openStandIn({ config, publicUrl, metrics, log });
  listener.use(standIn.app);
  const stores = await openStores(config, log, standIn.answered);
  try {
    const services = await openServices({ config, stores, metrics, log, publicUrl });
    const domains: readonly Part[] = openDomains(services);
    const tasks = domains.flatMap((part) => part.housekeeping ?? []);
    const housekeeping = new Housekeeping({
      sql: stores.postgres,
      now: () => services.clock.read(),
      tasks,
      log,
    });
    const parts = [...domains, housekeeping];
    let isDraining = false;
    const app = createApp(services, parts, () => isDraining);
    await startParts(parts);
    listener.use(app);
    return {
      url: publicUrl,
      drain: () => {
        isDraining = true;
      },
      stop: async () => {
        await stopParts(parts, () => stopListening(listener));
        await stores.close();
      },
    };
  } catch (error) {
    await stores.close();
    throw error;
  }
}

/** Lets the requests that are being answered end, and cuts those that take too long. */
async function stopListening(listener: Listener): Promise<void> {
  const timer = setTimeout(() => void listener.abort(), STOP_REQUESTS_MS);
  await listener.stop();
  clearTimeout(timer);
}
