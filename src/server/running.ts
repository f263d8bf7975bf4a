import { FairShare } from "../concurrency/fair-share.ts";
import type { App } from "../http/app.ts";
import { MAX_BODY_MEMORY_BYTES } from "../http/limits.ts";
import { createApp } from "./app.ts";
import { openDomains } from "./domains.ts";
import { Housekeeping } from "./housekeeping.ts";
import { IdleCollection, processUse } from "./idle-collection.ts";
import { type Part, startParts, stopParts } from "./part.ts";
import { type Foundation, openServices } from "./services.ts";

export { openStandIn } from "./stand-in.ts";

/** What works on opened stores. */
interface Running {
  readonly app: App;
  /** Says to balancers that the server is about to stop. */
  readonly drain: () => void;
  /** Stops everything but the stores; `stopListening` ends the requests that are left. */
  readonly stop: (stopListening: () => Promise<void>) => Promise<void>;
}

/** Opens what stands on the stores and every domain, and starts it all. Throws when something cannot be opened. */
export async function openRunning(foundation: Foundation): Promise<Running> {
  const services = await openServices(foundation);
  const domains: readonly Part[] = openDomains(services);
  const tasks = domains.flatMap((part) => part.housekeeping ?? []);
  const housekeeping = new Housekeeping({
    sql: foundation.stores.postgres,
    now: () => services.clock.read(),
    tasks,
    log: foundation.log,
  });
  const bodies = new FairShare(MAX_BODY_MEMORY_BYTES);
  const collection = new IdleCollection({
    read: () => processUse(bodies),
    collect: () => Bun.gc(true),
    shrink: () => Bun.shrink(),
  });
  const parts: readonly Part[] = [...domains, housekeeping, collection];
  let isDraining = false;
  const app = createApp(services, parts, { isDraining: () => isDraining, bodies });
  await startParts(parts);
  return {
    app,
    drain: () => {
      isDraining = true;
    },
    stop: (stopListening) => stopParts(parts, stopListening),
  };
}
