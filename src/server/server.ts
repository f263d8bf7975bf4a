import type { Config } from "../config/config.ts";
import { type Listener, listen, requireListenable } from "../http/server.ts";
import type { Logger } from "../log.ts";
import { openStores } from "../storage/open.ts";
import { createApp } from "./app.ts";
import { openDomains } from "./domains.ts";
import { Housekeeping } from "./housekeeping.ts";
import type { Metrics } from "./metrics.ts";
import { type Part, startParts, stopParts } from "./part.ts";
import type { StoppableServer } from "./server-stop.ts";
import { openServices } from "./services.ts";

/** How long requests that are being answered may take when the server stops. */
const STOP_REQUESTS_MS = 2_000;

interface Server extends StoppableServer {
  readonly url: string;
}

/** Opens the stores, what stands on them and every domain, starts it all and listens. Throws when something cannot be opened. */
export async function startServer(config: Config, metrics: Metrics, log: Logger): Promise<Server> {
  // Before anything is opened or changed for a server that could not be reached.
  if (config.port !== 0) await requireListenable({ hostname: config.host, port: config.port });
  const stores = await openStores(config, log);
  try {
    const services = await openServices({ config, stores, metrics, log });
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
    const listener = listen(app, { hostname: config.host, port: services.port });
    return {
      url: services.publicUrl,
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
