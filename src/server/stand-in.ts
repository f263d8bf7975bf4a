import type { Config } from "../config/config.ts";
import { healthRoutes } from "../domains/operations/health-routes.ts";
import { openKeptPages } from "../domains/status-pages/kept-pages.ts";
import type { DependencyStatus, Readiness } from "../health/readiness.ts";
import { type App, buildApp } from "../http/app.ts";
import type { RequestLedger } from "../http/ledger/request-ledger.ts";
import { planUnopened } from "../http/plans.ts";
import { MemoryRateLimiter } from "../http/rate-limit/memory-limiter.ts";
import type { Logger } from "../log.ts";
import { openSecretBoxAlone } from "../storage/load-secret-key.ts";
import { rateLimitsOf } from "./app.ts";
import type { Metrics } from "./metrics.ts";
import { withPageHosts } from "./page-hosts.ts";

interface StandInOptions {
  readonly config: Config;
  readonly publicUrl: string;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** The stores that have answered; grows while the others are waited for. */
  readonly answered: ReadonlySet<string>;
}

/** What a server cannot be without, in the order in which it is listed elsewhere, too. */
const STORES = ["clickhouse", "postgres"];

/**
 * The application of a server whose stores are still being opened, or are away: status pages by their copies on disk, what
 * is missing by the health paths, and everything else 503, so that whoever sends something keeps it and comes again. Throws
 * an Error for the operator when there is a key and it cannot be read.
 */
export async function openStandIn({
  config,
  publicUrl,
  metrics,
  log,
  answered,
}: StandInOptions): Promise<App> {
  const readiness: Readiness = { check: async () => [STARTING, ...STORES.map((name) => stateOf(name))] };
  const stateOf = (name: string): DependencyStatus =>
    answered.has(name) ? { name, state: "up" } : { name, state: "down", detail: "Does not answer." };
  const box = openSecretBoxAlone(config.secretKey, config.dataDirectory);
  const { dataDirectory } = config;
  const kept = box === null ? null : await openKeptPages({ dataDirectory, box, publicUrl, log });
  const health = healthRoutes({ readiness, ingestReadiness: readiness, isDraining: () => false });
  const app = buildApp(
    [...health, ...(kept?.routes ?? [])],
    {
      authenticator: { authenticate: () => null },
      rateLimiter: new MemoryRateLimiter(),
      rateLimits: rateLimitsOf(config),
      trustedProxies: config.trustedProxies ?? [],
      publicUrl,
      ledger: NO_LEDGER,
      isDraining: () => false,
      // Its slots are counted by the application that comes after it.
      metrics: { ...metrics, onCollect: () => undefined },
      log,
    },
    planUnopened,
  );
  return kept === null ? app : withPageHosts(app, kept.pages);
}

const STARTING: DependencyStatus = {
  name: "server",
  state: "down",
  detail: "Starting: it waits for its stores.",
};

const refuse = () => Promise.reject(new Error("a server that stands in changes nothing"));
/** None of its routes changes anything. */
const NO_LEDGER: RequestLedger = {
  now: Date.now,
  takeMutation: refuse,
  begin: refuse,
  change: refuse,
  changeAnonymously: refuse,
};
