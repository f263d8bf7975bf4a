import { CHECK_SETTINGS } from "./check-settings.ts";
import { hostNames } from "./host-values.ts";
import { IDENTITY_PROVIDER_SETTINGS } from "./identity-provider-settings.ts";
import { INGEST_SETTINGS } from "./ingest-settings.ts";
import { LISTENER_SETTINGS } from "./listener-settings.ts";
import { LOG_ARCHIVE_SETTINGS } from "./log-archive-settings.ts";
import { NOTIFICATION_SETTINGS } from "./notification-settings.ts";
import { PAGE_SETTINGS } from "./page-settings.ts";
import { PROBE_SETTINGS } from "./probe-settings.ts";
import { setting } from "./setting.ts";
import {
  bytes,
  clickhouseUrl,
  flag,
  hostName,
  httpOrigin,
  integer,
  MIB,
  mailSender,
  mailServerUrl,
  networks,
  oneOf,
  outboundTargets,
  path,
  plainName,
  secretKey,
  storeUrl,
} from "./values.ts";

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
const MILLION = 1_000_000;

/** Every setting of the server: the configuration, its type and the documentation are made of this table and nothing else. */
export const SETTINGS = {
  port: setting({
    name: "PORT",
    default: "8080",
    meaning: "Port of the HTTP server; 0 takes a free one.",
    type: integer(0, 65_535),
  }),
  host: setting({
    name: "HOST",
    default: "127.0.0.1",
    meaning: "Where the HTTP server listens; `0.0.0.0` is every interface.",
    type: hostName,
  }),
  publicUrl: setting({
    name: "PUBLIC_URL",
    defaultText: "`http://HOST:PORT`",
    meaning: "The address people use; behind a proxy, the proxy's. With https, cookies are marked secure.",
    type: httpOrigin,
  }),
  drainSeconds: setting({
    name: "DRAIN_SECONDS",
    defaultText: "`5` with `DATABASE_URL`, else `0`",
    meaning:
      "How long requests are still answered after SIGTERM while the health paths say 503, so that a load balancer " +
      "sends them elsewhere; `docs/operations.md` says how to choose it.",
    type: integer(0, 600),
  }),
  dataDirectory: setting({
    name: "OBS_DATA_DIR",
    default: "./data",
    meaning: "Folder of the write-ahead log and the embedded stores; used by one server at a time.",
    type: path,
  }),
  clickhouseUrl: setting({
    name: "CLICKHOUSE_URL",
    defaultText: "embedded",
    meaning: "A ClickHouse server to use instead of the embedded one.",
    secret: true,
    type: clickhouseUrl,
  }),
  databaseUrl: setting({
    name: "DATABASE_URL",
    defaultText: "embedded",
    meaning: "A Postgres server to use instead of the embedded one.",
    secret: true,
    type: storeUrl(["postgres", "postgresql"], "`postgres://user:password@host:port/database`"),
  }),
  redisUrl: setting({
    name: "REDIS_URL",
    meaning: "A Redis server through which several instances share their counters.",
    secret: true,
    type: storeUrl(["redis", "rediss"], "`redis://` or `rediss://` with host and port"),
  }),
  secretKey: setting({
    name: "SECRET_KEY",
    defaultText: "made at the first start, in `secret.key` of the data directory",
    meaning:
      "Encrypts secrets at rest. Instances that share a database share it; whoever loses it loses those secrets.",
    secret: true,
    type: secretKey,
  }),
  timeoutFactor: setting({
    name: "TIMEOUT_FACTOR",
    default: "1",
    meaning:
      "How many times longer than usual the server waits for what takes milliseconds on an ordinary machine (Postgres, Redis, " +
      "identity providers, name servers, numbers beside an answer) before it answers 503 or does without: for a machine that is slow or " +
      "has much else to do. Leases, the limits of queries and what clients are given stay as they are.",
    type: integer(1, 20),
  }),
  logLevel: setting({
    name: "LOG_LEVEL",
    default: "info",
    meaning: "The least severe level of the server's own log.",
    type: oneOf(LOG_LEVELS),
  }),
  trustedProxies: setting({
    name: "TRUSTED_PROXIES",
    meaning: "Proxies whose `X-Forwarded-For` is believed.",
    type: networks,
  }),
  rateLimitPerMinute: setting({
    name: "RATE_LIMIT_PER_MINUTE",
    default: "600",
    meaning: "Calls per minute of one credential.",
    type: integer(1, 1_000 * MILLION),
  }),
  rateLimitIngestPerMinute: setting({
    name: "RATE_LIMIT_INGEST_PER_MINUTE",
    default: "60000",
    meaning: "Calls per minute of one credential to the endpoints that take logs: 1000 batches a second.",
    type: integer(1, 1_000 * MILLION),
  }),
  rateLimitAnonymousPerMinute: setting({
    name: "RATE_LIMIT_ANONYMOUS_PER_MINUTE",
    default: "60",
    meaning: "Calls per minute of one address without a credential.",
    type: integer(1, 1_000 * MILLION),
  }),
  ...INGEST_SETTINGS,
  queryTimeoutMs: setting({
    name: "QUERY_TIMEOUT_MS",
    default: "15000",
    meaning: "Wall time of one query, in milliseconds.",
    type: integer(100, 600_000),
  }),
  queryMaxReadBytes: setting({
    name: "QUERY_MAX_READ_BYTES",
    default: "64GiB",
    meaning: "Uncompressed bytes one query may read.",
    type: bytes(1),
  }),
  queryMaxMemoryBytes: setting({
    name: "QUERY_MAX_MEMORY_BYTES",
    default: "1GiB",
    meaning: "Memory one query may use in ClickHouse.",
    type: bytes(16 * MIB),
  }),
  queryMaxResultBytes: setting({
    name: "QUERY_MAX_RESULT_BYTES",
    default: "128MiB",
    meaning: "Size of one query's answer; it is held in memory.",
    type: bytes(MIB),
  }),
  planName: setting({
    name: "PLAN_NAME",
    default: "self-hosted",
    meaning: "How the plan of every organisation of this server is called.",
    type: plainName,
  }),
  planMaxMonitors: setting({
    name: "PLAN_MAX_MONITORS",
    defaultText: "unlimited",
    meaning: "Monitors of one organisation.",
    type: integer(0, 1_000 * MILLION),
  }),
  planMonthlyChecks: setting({
    name: "PLAN_MONTHLY_CHECKS",
    defaultText: "unlimited",
    meaning: "Checks of the monitors of one organisation in a month of UTC.",
    type: integer(0, MILLION * MILLION),
  }),
  planMonthlyLogBytes: setting({
    name: "PLAN_MONTHLY_LOG_BYTES",
    defaultText: "unlimited",
    meaning: "Unpacked bytes of logs one organisation may send in a month of UTC.",
    type: bytes(0),
  }),
  quarantineMaxRecords: setting({
    name: "QUARANTINE_MAX_RECORDS",
    default: "100000",
    meaning: "Records of one organisation in the quarantine; what comes beyond is counted and not kept.",
    type: integer(0, 10 * MILLION),
  }),
  quarantineMaxBytes: setting({
    name: "QUARANTINE_MAX_BYTES",
    default: "256MiB",
    meaning: "Bytes of those records.",
    type: bytes(0),
  }),
  ...LOG_ARCHIVE_SETTINGS,
  outboundAllow: setting({
    name: "OUTBOUND_ALLOW",
    meaning:
      "Where requests on behalf of organisations (single sign-on, webhooks, checks) may go besides the internet. " +
      "This machine, the link and metadata services are opened only by an entry that is no wider than they are.",
    type: outboundTargets,
  }),
  outboundAllowPrivate: setting({
    name: "OUTBOUND_ALLOW_PRIVATE",
    default: "0",
    meaning: "Whether such requests may go to private networks (10.0.0.0/8 and the like).",
    type: flag,
  }),
  externaldataHosts: setting({
    name: "EXTERNALDATA_HOSTS",
    defaultText: "none: `externaldata` is refused",
    meaning:
      "Hosts whose files queries may read with `externaldata`; `*` is every host of the internet. What `OUTBOUND_ALLOW` " +
      "does not open stays closed.",
    type: hostNames,
  }),
  geoDatabase: setting({
    name: "GEO_DATABASE",
    defaultText: "none: `geo_info_from_ip_address()` is refused",
    meaning:
      "A file in the format of MaxMind (`.mmdb`) with the places of addresses, for queries and for addresses in the graph.",
    type: path,
  }),
  ...PROBE_SETTINGS,
  ...PAGE_SETTINGS,
  ...CHECK_SETTINGS,
  smtpUrl: setting({
    name: "SMTP_URL",
    defaultText: "none: mails go to the log and to `outbox` in the data directory",
    meaning: "The mail server that mails are sent through. A password goes to it through TLS only.",
    secret: true,
    type: mailServerUrl,
  }),
  smtpFrom: setting({
    name: "SMTP_FROM",
    defaultText: "`obs <obs@HOST>` with the host of `PUBLIC_URL`",
    meaning: "Whom mails come from.",
    type: mailSender,
  }),
  ...NOTIFICATION_SETTINGS,
  requireEmailVerification: setting({
    name: "REQUIRE_EMAIL_VERIFICATION",
    default: "0",
    meaning: "Whether signing in with a password needs a confirmed address; only with `SMTP_URL`.",
    type: flag,
  }),
  otlpProtobuf: setting({
    name: "OTLP_PROTOBUF",
    default: "0",
    meaning: "Whether OTLP is taken in the protobuf encoding, too; the JSON encoding always is.",
    type: flag,
  }),
  ...LISTENER_SETTINGS,
  ...IDENTITY_PROVIDER_SETTINGS,
} as const;
