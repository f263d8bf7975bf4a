import type { Changes } from "../../changes/changes.ts";
import type { Logger } from "../../log.ts";
import { createGuardedFetch } from "../../outbound/guarded-fetch.ts";
import type { OutboundPolicy } from "../../outbound/outbound-policy.ts";
import { FeedFetching } from "./feed-fetching.ts";
import { feedRoutes } from "./feed-routes.ts";
import { importRoute } from "./import-route.ts";
import { allowListRoutes, type IocRouteDependencies, iocRoutes } from "./routes.ts";

interface IocDependencies extends IocRouteDependencies {
  readonly changes: Changes;
  /** Where feeds may lie. */
  readonly policy: OutboundPolicy;
  readonly log: Logger;
}

/** Indicators, what is let pass, and the lists that others keep. */
export function iocDomain(deps: IocDependencies) {
  const feeds = new FeedFetching({ ...deps, fetch: createGuardedFetch(deps.policy) });
  return {
    feeds,
    routes: [
      ...iocRoutes(deps),
      importRoute(deps),
      ...feedRoutes({ ...deps, onFeed: () => feeds.wake() }),
      ...allowListRoutes(deps),
    ],
    start: () => feeds.start(),
    stop: () => feeds.stop(),
  };
}
