import {
  bytes,
  clickhouseUrl,
  directory,
  flag,
  hostName,
  httpOrigin,
  integer,
  mailSender,
  mailServerUrl,
  networks,
  oneOf,
  outboundTargets,
  plainName,
  secretKey,
  storeUrl,
} from "./config-values.ts";
import { IDENTITY_PROVIDER_SETTINGS } from "./identity-provider-settings.ts";
import { LOG_ARCHIVE_SETTINGS } from "./log-archive-settings.ts";
import { setting } from "./setting.ts";
import { SYSLOG_SETTINGS } from "./syslog-settings.ts";

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
const MILLION = 1_000_000;
const DAY_SECONDS = 86_400;
const BYTE_TEXT = "a number of bytes, with or without KiB, MiB, GiB or TiB";

/** Every setting of the server. The documentation and the configuration's type are made of this table. */
export const SETTINGS = {
  port: setting({
    name: "PORT",
    default: "8080",
    accepts: "0 to 65535",
    meaning: "Port of the HTTP server; 0 takes a free one.",
    read: integer(0, 65_535),
  }),
  host: setting({
    name: "HOST",
    default: "127.0.0.1",
    accepts: "an address or a host name",
    meaning: "Where the HTTP server listens; `0.0.0.0` is every interface.",
    read: hostName,
  }),
  publicUrl: setting({
    name: "PUBLIC_URL",
    default: null,
    defaultNote: "`http://HOST:PORT`",
    accepts: "an http or https address without a path",
    meaning: "The address people use; behind a proxy, the proxy's. With https, cookies are marked secure.",
    read: httpOrigin,
  }),
  drainSeconds: setting({
    name: "DRAIN_SECONDS",
    default: "0",
    accepts: "0 to 600",
    meaning:
      "How long requests are still answered after SIGTERM while the health paths say 503, so that a load balancer " +
      "sends them elsewhere; `docs/operations.md` says how to choose it.",
    read: integer(0, 600),
  }),
  dataDirectory: setting({
    name: "OBS_DATA_DIR",
    default: "./data",
    accepts: "a path",
    meaning: "Folder of the write-ahead log and the embedded stores; used by one server at a time.",
    read: directory,
  }),
  clickhouseUrl: setting({
    name: "CLICKHOUSE_URL",
    default: null,
    defaultNote: "embedded",
    accepts: "`http(s)://user:password@host:port/database`",
    meaning: "A ClickHouse server to use instead of the embedded one.",
    secret: true,
    read: clickhouseUrl,
  }),
  databaseUrl: setting({
    name: "DATABASE_URL",
    default: null,
    defaultNote: "embedded",
    accepts: "`postgres://user:password@host:port/database`",
    meaning: "A Postgres server to use instead of the embedded one.",
    secret: true,
    read: storeUrl(["postgres", "postgresql"]),
  }),
  redisUrl: setting({
    name: "REDIS_URL",
    default: null,
    defaultNote: "none",
    accepts: "`redis://` or `rediss://` with host and port",
    meaning: "A Redis server through which several instances share their counters.",
    secret: true,
    read: storeUrl(["redis", "rediss"]),
  }),
  secretKey: setting({
    name: "SECRET_KEY",
    default: null,
    defaultNote: "made at the first start, in `secret.key` of the data directory",
    accepts: "32 bytes in base64 or hexadecimal",
    meaning:
      "Encrypts secrets at rest. Instances that share a database share it; whoever loses it loses those secrets.",
    secret: true,
    read: secretKey,
  }),
  logLevel: setting({
    name: "LOG_LEVEL",
    default: "info",
    accepts: `one of ${LOG_LEVELS.join(", ")}`,
    meaning: "The least severe level of the server's own log.",
    read: oneOf(LOG_LEVELS),
  }),
  trustedProxies: setting({
    name: "TRUSTED_PROXIES",
    default: null,
    defaultNote: "none",
    accepts: "addresses and CIDRs, separated by commas",
    meaning: "Proxies whose `X-Forwarded-For` is believed.",
    read: networks,
  }),
  rateLimitPerMinute: setting({
    name: "RATE_LIMIT_PER_MINUTE",
    default: "600",
    accepts: "1 to 1000000000",
    meaning: "Calls per minute of one credential.",
    read: integer(1, 1_000 * MILLION),
  }),
  rateLimitIngestPerMinute: setting({
    name: "RATE_LIMIT_INGEST_PER_MINUTE",
    default: "60000",
    accepts: "1 to 1000000000",
    meaning: "Calls per minute of one credential to the endpoints that take logs: 1000 batches a second.",
    read: integer(1, 1_000 * MILLION),
  }),
  rateLimitAnonymousPerMinute: setting({
    name: "RATE_LIMIT_ANONYMOUS_PER_MINUTE",
    default: "60",
    accepts: "1 to 1000000000",
    meaning: "Calls per minute of one address without a credential.",
    read: integer(1, 1_000 * MILLION),
  }),
  walMaxBytes: setting({
    name: "WAL_MAX_BYTES",
    default: "2GiB",
    accepts: `${BYTE_TEXT}; at least 64MiB`,
    meaning:
      "Bound of the write-ahead log. When ClickHouse is away for so long that it is full, ingest answers 503.",
    read: bytes(64 * 2 ** 20),
  }),
  ingestMaxInFlightBytes: setting({
    name: "INGEST_MAX_IN_FLIGHT_BYTES",
    default: "64MiB",
    accepts: `${BYTE_TEXT}; at least 8MiB`,
    meaning:
      "Bound of accepted bodies that are not yet in the write-ahead log; beyond it ingest answers 503.",
    read: bytes(8 * 2 ** 20),
  }),
  dedupeWindowSeconds: setting({
    name: "DEDUPE_WINDOW_SECONDS",
    default: String(DAY_SECONDS),
    accepts: `1 to ${DAY_SECONDS}`,
    meaning:
      "A log with an `event_id` that this server took within this time is dropped, as far back as `DEDUPE_MAX_EVENTS` reaches.",
    read: integer(1, DAY_SECONDS),
  }),
  dedupeMaxEvents: setting({
    name: "DEDUPE_MAX_EVENTS",
    default: "8000000",
    accepts: "1000 to 1000000000",
    meaning:
      "Event ids remembered at the same time, 21 to 32 bytes of memory each, used only as they come: the default is 260 MB at " +
      "most. When more come within the window the oldest are forgotten, but none within ten minutes: then ingest answers " +
      "503, with the default at some 10 000 new ids a second.",
    read: integer(1_000, 1_000 * MILLION),
  }),
  idempotencyHoldSeconds: setting({
    name: "IDEMPOTENCY_HOLD_SECONDS",
    default: "900",
    accepts: `1 to ${DAY_SECONDS}`,
    meaning:
      "When an instance died before it answered a request with an `Idempotency-Key` that stores logs, the others answer its " +
      "repetitions with 503 for so long, or until it is back and says whether the logs are stored; then they store them.",
    read: integer(1, DAY_SECONDS),
  }),
  queryTimeoutMs: setting({
    name: "QUERY_TIMEOUT_MS",
    default: "15000",
    accepts: "100 to 600000",
    meaning: "Wall time of one query, in milliseconds.",
    read: integer(100, 600_000),
  }),
  queryMaxReadBytes: setting({
    name: "QUERY_MAX_READ_BYTES",
    default: "64GiB",
    accepts: BYTE_TEXT,
    meaning: "Uncompressed bytes one query may read.",
    read: bytes(1),
  }),
  queryMaxMemoryBytes: setting({
    name: "QUERY_MAX_MEMORY_BYTES",
    default: "1GiB",
    accepts: `${BYTE_TEXT}; at least 16MiB`,
    meaning: "Memory one query may use in ClickHouse.",
    read: bytes(16 * 2 ** 20),
  }),
  queryMaxResultBytes: setting({
    name: "QUERY_MAX_RESULT_BYTES",
    default: "128MiB",
    accepts: `${BYTE_TEXT}; at least 1MiB`,
    meaning: "Size of one query's answer; it is held in memory.",
    read: bytes(2 ** 20),
  }),
  planName: setting({
    name: "PLAN_NAME",
    default: "self-hosted",
    accepts: "1 to 64 characters",
    meaning: "How the plan of every organisation of this server is called.",
    read: plainName,
  }),
  planMaxMonitors: setting({
    name: "PLAN_MAX_MONITORS",
    default: null,
    defaultNote: "unlimited",
    accepts: "0 to 1000000000",
    meaning: "Monitors of one organisation.",
    read: integer(0, 1_000 * MILLION),
  }),
  planMonthlyChecks: setting({
    name: "PLAN_MONTHLY_CHECKS",
    default: null,
    defaultNote: "unlimited",
    accepts: "0 to 1000000000000",
    meaning: "Checks of the monitors of one organisation in a month of UTC.",
    read: integer(0, MILLION * MILLION),
  }),
  planMonthlyLogBytes: setting({
    name: "PLAN_MONTHLY_LOG_BYTES",
    default: null,
    defaultNote: "unlimited",
    accepts: BYTE_TEXT,
    meaning: "Unpacked bytes of logs one organisation may send in a month of UTC.",
    read: bytes(0),
  }),
  quarantineMaxRecords: setting({
    name: "QUARANTINE_MAX_RECORDS",
    default: "100000",
    accepts: "0 to 10000000",
    meaning: "Records of one organisation in the quarantine; what comes beyond is counted and not kept.",
    read: integer(0, 10 * MILLION),
  }),
  quarantineMaxBytes: setting({
    name: "QUARANTINE_MAX_BYTES",
    default: "256MiB",
    accepts: BYTE_TEXT,
    meaning: "Bytes of those records.",
    read: bytes(0),
  }),
  ...LOG_ARCHIVE_SETTINGS,
  outboundAllow: setting({
    name: "OUTBOUND_ALLOW",
    default: null,
    defaultNote: "none",
    accepts: "host names, addresses and CIDRs, separated by commas",
    meaning:
      "Where requests on behalf of organisations (single sign-on, webhooks, checks) may go besides the internet. " +
      "This machine, the link and metadata services are opened only by an entry that is no wider than they are.",
    read: outboundTargets,
  }),
  outboundAllowPrivate: setting({
    name: "OUTBOUND_ALLOW_PRIVATE",
    default: "0",
    accepts: "0 or 1",
    meaning: "Whether such requests may go to private networks (10.0.0.0/8 and the like).",
    read: flag,
  }),
  smtpUrl: setting({
    name: "SMTP_URL",
    default: null,
    defaultNote: "none: mails go to the log and to `outbox` in the data directory",
    accepts: "`smtp://` or `smtps://` with user, password, host and port",
    meaning: "The mail server that mails are sent through. A password goes to it through TLS only.",
    secret: true,
    read: mailServerUrl,
  }),
  smtpFrom: setting({
    name: "SMTP_FROM",
    default: null,
    defaultNote: "`obs <obs@HOST>` with the host of `PUBLIC_URL`",
    accepts: "`name@host` or `Name <name@host>`",
    meaning: "Whom mails come from.",
    read: mailSender,
  }),
  requireEmailVerification: setting({
    name: "REQUIRE_EMAIL_VERIFICATION",
    default: "0",
    accepts: "0 or 1",
    meaning: "Whether signing in with a password needs a confirmed address; only with `SMTP_URL`.",
    read: flag,
  }),
  ...SYSLOG_SETTINGS,
  ...IDENTITY_PROVIDER_SETTINGS,
} as const;
