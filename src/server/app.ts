import { availableParallelism } from "node:os";
import type { Ingest } from "../../ingest/index.ts";
import manifest from "../../package.json" with { type: "json" };
import type { QueryBudget } from "../../query/index.ts";
import type { SecretBox } from "../access/secret-box.ts";
import type { ArchiveFiles } from "../archive/files/archive-files.ts";
import { Admission } from "../concurrency/admission.ts";
import type { Config } from "../config/config.ts";
import { auditRoutes } from "../domains/audit/routes.ts";
import { exportRoutes } from "../domains/export/routes.ts";
import { sourceReceiveRoutes } from "../domains/ingest-sources/receive-routes.ts";
import { ingestSourceRoutes } from "../domains/ingest-sources/routes.ts";
import { SourceService } from "../domains/ingest-sources/service.ts";
import type { SourceActivity } from "../domains/ingest-sources/source-activity.ts";
import { SourceDirectory } from "../domains/ingest-sources/source-directory.ts";
import { kqlRoutes } from "../domains/kql/routes.ts";
import { logArchiveRoutes } from "../domains/logs/archive/routes.ts";
import { logIngestRoutes } from "../domains/logs/ingest-routes.ts";
import {
  QUERIES_MAX_RUNNING,
  QUERIES_MAX_RUNNING_OF_ONE,
  QUERIES_MAX_RUNNING_OF_PERSON,
  QUERIES_MAX_WAITING,
  QUERIES_MAX_WAITING_OF_ONE,
} from "../domains/logs/limits.ts";
import { logPatternRoutes } from "../domains/logs/patterns/routes.ts";
import { logReadRoutes } from "../domains/logs/read-routes.ts";
import { elasticsearchRoutes } from "../domains/logs/receive/elasticsearch/routes.ts";
import { gelfRoutes } from "../domains/logs/receive/gelf/routes.ts";
import { journalRoutes } from "../domains/logs/receive/journal/routes.ts";
import { lokiRoutes } from "../domains/logs/receive/loki/routes.ts";
import { otlpRoutes } from "../domains/logs/receive/otlp/routes.ts";
import { platformRoutes } from "../domains/logs/receive/platforms/routes.ts";
import { splunkRoutes } from "../domains/logs/receive/splunk/routes.ts";
import { logRetentionRoutes } from "../domains/logs/retention/routes.ts";
import { tailRoutes } from "../domains/logs/tail/routes.ts";
import type { TailService } from "../domains/logs/tail/tail-service.ts";
import type { TailSessions } from "../domains/logs/tail/tail-sessions.ts";
import { opsRoutes } from "../domains/operations/routes.ts";
import { inviteMailer } from "../domains/organizations/invite-mail.ts";
import { organizationRoutes } from "../domains/organizations/routes.ts";
import { overviewRoutes } from "../domains/overview/routes.ts";
import { drainDecoders } from "../domains/quarantine/replay/drain-decoders.ts";
import { replayDecoders } from "../domains/quarantine/replay/replay-decoders.ts";
import { Replayer } from "../domains/quarantine/replay/replayer.ts";
import { quarantineRoutes } from "../domains/quarantine/routes.ts";
import { savedSearchRoutes } from "../domains/saved-searches/routes.ts";
import { type App, buildApp } from "../http/app.ts";
import { PostgresLedger } from "../http/ledger/request-ledger.ts";
import type { StoredRequests } from "../http/ledger/stored-requests.ts";
import { MemoryRateLimiter } from "../http/rate-limit/memory-limiter.ts";
import type { RateLimiter } from "../http/rate-limit/rate-limiter.ts";
import { RedisRateLimiter } from "../http/rate-limit/redis-limiter.ts";
import type { Authenticator } from "../identity/authenticator.ts";
import type { LoginThrottle } from "../identity/login-throttle.ts";
import type { LinkIssuer } from "../identity/mailed-links/link-issuer.ts";
import { MemoryLoginThrottle } from "../identity/memory-login-throttle.ts";
import { PasswordHasher } from "../identity/password-hasher.ts";
import { providerRoutes } from "../identity/providers/provider-routes.ts";
import { createTxtResolver } from "../identity/providers/sso/txt-resolver.ts";
import { RedisLoginThrottle } from "../identity/redis-login-throttle.ts";
import { identityRoutes } from "../identity/routes.ts";
import type { Logger } from "../log.ts";
import { OutboundPolicy } from "../outbound/outbound-policy.ts";
import { LogReceiver } from "../receive/receive-records.ts";
import type { Stores } from "../storage/open.ts";
import { QueryRunner } from "../storage/query-runner.ts";
import { storeVersions } from "../storage/versions.ts";
import { DailyCaps } from "../usage/daily-caps.ts";
import { type Plan, PlanCaps } from "../usage/plan.ts";
import type { ServerMail } from "./mail.ts";
import type { Metrics } from "./metrics.ts";
import { serverProviders } from "./providers.ts";
import type { ServerQuarantine } from "./quarantine.ts";
import type { ServerReadiness } from "./readiness.ts";

interface AppDeps {
  readonly config: Config;
  readonly publicUrl: string;
  readonly stores: Stores;
  readonly ingest: Pick<Ingest, "ingest">;
  readonly storedRequests: StoredRequests;
  readonly tailSessions: TailSessions;
  readonly tails: TailService;
  readonly authenticator: Authenticator;
  readonly readiness: ServerReadiness;
  /** True from when the server is about to stop. */
  readonly isDraining: () => boolean;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Encrypts secrets at rest. */
  readonly box: SecretBox;
  readonly mail: Pick<ServerMail, "enqueue">;
  readonly links: LinkIssuer;
  readonly quarantine: ServerQuarantine;
  /** Counts what configured sources receive. */
  readonly sourceActivity: SourceActivity;
  /** Where archived entries lie; null when no archive is configured. */
  readonly archiveFiles: ArchiveFiles | null;
  /** Signs the cursors of searches. */
  readonly cursorKey: Uint8Array;
  /** Told when an audit log has grown. */
  readonly onAudited: () => void;
}

/** The whole application: every route of every domain behind the one pipeline. */
export function createApp(deps: AppDeps): App {
  const { config, publicUrl, stores, box, authenticator, metrics, log } = deps;
  const now = Date.now;
  const sql = stores.postgres;
  const plans = new PlanCaps({ plan: planOf(config), sql, now });
  const runner = createQueryRunner(stores, metrics);
  const budget = queryBudgetOf(config);
  const caps = { token: new DailyCaps({ sql, now }), plan: plans };
  const cookie = { secure: publicUrl.startsWith("https:") };
  const mailInvite = inviteMailer({ enqueue: deps.mail.enqueue, publicUrl });
  const receiver = new LogReceiver({ ingest: deps.ingest, caps, quarantine: deps.quarantine.sink });
  const sources = new SourceDirectory({ sql, now });
  const replayer = new Replayer({
    sql,
    ingest: deps.ingest,
    claims: deps.quarantine.claims,
    decoders: replayDecoders(sources, drainDecoders()),
    metrics: metrics.quarantine,
    log,
  });
  const routes = [
    ...identityRoutes({
      sql,
      passwords: new PasswordHasher({ concurrency: availableParallelism() }),
      throttle: createLoginThrottle(stores, log),
      authenticator,
      plans,
      now,
      cookie,
      box,
      publicUrl,
      enqueueMail: deps.mail.enqueue,
      links: deps.links,
      requireVerifiedEmail: config.requireEmailVerification && config.smtpUrl !== null,
    }),
    ...logIngestRoutes({ ingest: deps.ingest, caps }),
    ...otlpRoutes(receiver, { protobuf: config.otlpProtobuf }),
    ...elasticsearchRoutes(receiver),
    ...gelfRoutes(receiver),
    ...journalRoutes(receiver),
    ...lokiRoutes(receiver),
    ...splunkRoutes(receiver),
    ...platformRoutes({ receiver, sql, box, now }),
    ...logReadRoutes({ runner, budget, cursorKey: deps.cursorKey, now }),
    ...logPatternRoutes({ runner, budget, now }),
    ...logArchiveRoutes({ sql, files: deps.archiveFiles, runner, budget, cursorKey: deps.cursorKey, now }),
    ...logRetentionRoutes({ sql, defaultDays: config.logRetentionDays }),
    ...quarantineRoutes({
      sql,
      replayer,
      bounds: deps.quarantine.bounds,
      metrics: metrics.quarantine,
      cursorKey: deps.cursorKey,
    }),
    ...ingestSourceRoutes(new SourceService({ sql, sources, now })),
    ...sourceReceiveRoutes({ receiver, sources, activity: deps.sourceActivity }),
    ...savedSearchRoutes({ sql }),
    ...auditRoutes({ sql, clickhouse: stores.clickhouse, cursorKey: deps.cursorKey }),
    ...organizationRoutes({ sql, authenticator, box, now, cookie, mailInvite }),
    ...overviewRoutes({ sql, runner, now }),
    ...exportRoutes({ sql, now }),
    ...providerRoutes({
      sql,
      box,
      authenticator,
      now,
      publicUrl,
      cookie,
      providers: serverProviders(config),
      outbound: new OutboundPolicy({
        allow: config.outboundAllow ?? [],
        allowPrivate: config.outboundAllowPrivate,
      }),
      resolveTxt: createTxtResolver(),
    }),
    ...kqlRoutes(),
    ...tailRoutes(deps.tailSessions, deps.tails),
  ];
  const operations = opsRoutes(
    {
      readiness: deps.readiness.all,
      ingestReadiness: deps.readiness.ingest,
      isDraining: deps.isDraining,
      metrics,
      publicUrl,
      build: { name: manifest.name, version: manifest.version, commit: null },
      storeVersions: () => storeVersions(stores),
    },
    routes,
  );
  return buildApp([...routes, ...operations], {
    authenticator,
    ledger: new PostgresLedger({
      sql,
      box,
      now,
      storedRequests: deps.storedRequests,
      onAudited: deps.onAudited,
    }),
    rateLimiter: createRateLimiter(stores, metrics, log),
    rateLimits: {
      perMinute: config.rateLimitPerMinute,
      ingestPerMinute: config.rateLimitIngestPerMinute,
      anonymousPerMinute: config.rateLimitAnonymousPerMinute,
    },
    trustedProxies: config.trustedProxies ?? [],
    publicUrl,
    isDraining: deps.isDraining,
    metrics,
    log,
  });
}

/** Every domain that reads logs for a person who waits shares it, and so its bound on statements at a time. */
function createQueryRunner(stores: Stores, metrics: Metrics): QueryRunner {
  return new QueryRunner({
    endpoint: stores.clickhouseEndpoint,
    admission: new Admission({
      what: "a query",
      dependency: "clickhouse",
      maxRunning: QUERIES_MAX_RUNNING,
      maxWaiting: QUERIES_MAX_WAITING,
      maxRunningOfOne: QUERIES_MAX_RUNNING_OF_ONE,
      maxWaitingOfOne: QUERIES_MAX_WAITING_OF_ONE,
      maxRunningOfPerson: QUERIES_MAX_RUNNING_OF_PERSON,
    }),
    metrics,
    monotonicMs: () => performance.now(),
  });
}

/** What every organisation may have. */
export function planOf(config: Config): Plan {
  return {
    name: config.planName,
    maxMonitors: config.planMaxMonitors,
    monthlyChecks: config.planMonthlyChecks,
    monthlyLogBytes: config.planMonthlyLogBytes,
  };
}

/** What one statement may cost. */
function queryBudgetOf(config: Config): QueryBudget {
  return {
    maxExecutionMs: config.queryTimeoutMs,
    maxReadBytes: config.queryMaxReadBytes,
    maxMemoryBytes: config.queryMaxMemoryBytes,
    maxResultBytes: config.queryMaxResultBytes,
  };
}

function createLoginThrottle(stores: Stores, log: Logger): LoginThrottle {
  const local = new MemoryLoginThrottle({ now: Date.now });
  return stores.redis === null
    ? local
    : new RedisLoginThrottle({ redis: stores.redis, local, now: Date.now, log });
}

function createRateLimiter(stores: Stores, metrics: Metrics, log: Logger): RateLimiter {
  const local = new MemoryRateLimiter();
  if (stores.redis === null) return local;
  return new RedisRateLimiter({
    redis: stores.redis,
    local,
    log,
    onLocalDecision: () => metrics.rateLimit.localDecisions.inc(),
  });
}
