import manifest from "../../package.json" with { type: "json" };
import type { Config } from "../config/config.ts";
import { renderKqlReference } from "../domains/kql/reference.ts";
import { mcpRoutes } from "../domains/mcp/routes.ts";
import { opsRoutes } from "../domains/operations/routes.ts";
import { type App, buildApp } from "../http/app.ts";
import { PostgresLedger } from "../http/ledger/request-ledger.ts";
import type { PipelineDeps } from "../http/pipeline.ts";
import { MemoryRateLimiter } from "../http/rate-limit/memory-limiter.ts";
import type { RateLimits } from "../http/rate-limit/rate-gate.ts";
import type { RateLimiter } from "../http/rate-limit/rate-limiter.ts";
import { RedisRateLimiter } from "../http/rate-limit/redis-limiter.ts";
import { storeVersions } from "../storage/versions.ts";
import { toolsOf } from "../tools/tool-definition.ts";
import { withPageHosts } from "./page-hosts.ts";
import type { Part } from "./part.ts";
import { serverReadiness } from "./readiness.ts";
import type { Services } from "./services.ts";

/** The whole application: the routes of every part, and those that say how the server is, behind the one pipeline. */
export function createApp(
  services: Services,
  parts: readonly Part[],
  { isDraining, bodies }: Pick<PipelineDeps, "isDraining" | "bodies">,
): App {
  const { config, stores, metrics, publicUrl } = services;
  const build = { name: manifest.name, version: manifest.version, commit: null };
  const domainRoutes = parts.flatMap((part) => part.routes ?? []);
  const tools = toolsOf(domainRoutes);
  const mcp = mcpRoutes({
    // What a tool does goes the way of every request.
    ...{ tools, handle: (request, connection) => app.handle(request, connection) },
    ...{ publicUrl, build, kqlReference: renderKqlReference },
  });
  const routes = [...domainRoutes, ...mcp];
  const readiness = serverReadiness({
    stores,
    ingestChecks: services.serverIngest.checks,
    checks: parts.flatMap((part) => part.checks ?? []),
  });
  const operations = opsRoutes(
    {
      readiness: readiness.all,
      ingestReadiness: readiness.ingest,
      isDraining,
      metrics,
      publicUrl,
      build,
      tools,
      storeVersions: () => storeVersions(stores),
    },
    routes,
  );
  const app: App = buildApp([...routes, ...operations], {
    ...services,
    ledger: new PostgresLedger(services),
    rateLimiter: createRateLimiter(services),
    rateLimits: rateLimitsOf(config),
    trustedProxies: config.trustedProxies ?? [],
    isDraining,
    ...(bodies !== undefined && { bodies }),
  });
  return withPageHosts(app, services.statusPages);
}

export function rateLimitsOf(config: Config): RateLimits {
  return {
    perMinute: config.rateLimitPerMinute,
    ingestPerMinute: config.rateLimitIngestPerMinute,
    anonymousPerMinute: config.rateLimitAnonymousPerMinute,
  };
}

function createRateLimiter({ stores: { redis }, metrics, log }: Services): RateLimiter {
  const local = new MemoryRateLimiter();
  if (redis === null) return local;
  const onLocalDecision = () => metrics.rateLimit.localDecisions.inc();
  return new RedisRateLimiter({ redis, local, log, onLocalDecision });
}
