import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { ConfigError, type Environment, loadConfig, publicUrlOf } from "../../src/config/config.ts";
import { renderConfigurationDocument } from "../../src/config/document.ts";
import { SETTINGS } from "../../src/config/settings.ts";

function messageOf(environment: Environment): string {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("the environment was accepted");
}

test("an empty environment gives the documented defaults", () => {
  expect(loadConfig({})).toEqual({
    port: 8080,
    host: "127.0.0.1",
    publicUrl: null,
    drainSeconds: 0,
    dataDirectory: resolve("./data"),
    clickhouseUrl: null,
    databaseUrl: null,
    redisUrl: null,
    secretKey: null,
    logLevel: "info",
    trustedProxies: null,
    rateLimitPerMinute: 600,
    rateLimitIngestPerMinute: 60_000,
    rateLimitAnonymousPerMinute: 60,
    walMaxBytes: 2 * 2 ** 30,
    ingestMaxInFlightBytes: 64 * 2 ** 20,
    dedupeWindowSeconds: 86_400,
    dedupeMaxEvents: 8_000_000,
    idempotencyHoldSeconds: 900,
    queryTimeoutMs: 15_000,
    queryMaxReadBytes: 64 * 2 ** 30,
    queryMaxMemoryBytes: 2 ** 30,
    queryMaxResultBytes: 128 * 2 ** 20,
    planName: "self-hosted",
    planMaxMonitors: null,
    planMonthlyChecks: null,
    planMonthlyLogBytes: null,
    logRetentionDays: 30,
    archiveRetentionDays: 0,
    archiveClockConfirmedMs: null,
    archiveDirectory: null,
    archiveS3Url: null,
    archiveS3AccessKeyId: null,
    archiveS3SecretAccessKey: null,
    smtpUrl: null,
    smtpFrom: null,
    requireEmailVerification: false,
    otlpProtobuf: false,
    gelfTcpPort: null,
    gelfUdpPort: null,
    gelfHost: "127.0.0.1",
    gelfToken: null,
    forwardPort: null,
    forwardHost: "127.0.0.1",
    forwardToken: null,
    forwardSharedKey: null,
    quarantineMaxRecords: 100_000,
    quarantineMaxBytes: 256 * 2 ** 20,
    outboundAllow: null,
    outboundAllowPrivate: false,
    syslogTcpPort: null,
    syslogUdpPort: null,
    syslogHost: "127.0.0.1",
    syslogToken: null,
    syslogTlsCert: null,
    syslogTlsKey: null,
    idpAIssuer: null,
    idpAClientId: null,
    idpAClientSecret: null,
    idpAName: "Identity provider A",
    idpBIssuer: null,
    idpBClientId: null,
    idpBClientSecret: null,
    idpBName: "Identity provider B",
  });
});

test("an empty variable counts as unset", () => {
  expect(loadConfig({ PORT: "", PUBLIC_URL: " ", REDIS_URL: "" })).toEqual(loadConfig({}));
});

test("every setting takes a value", () => {
  const config = loadConfig({
    PORT: "0",
    HOST: "::1",
    PUBLIC_URL: "https://logs.example.com/",
    OBS_DATA_DIR: "/var/lib/obs-data",
    CLICKHOUSE_URL: "http://user:p%40ss@ch:8123/logs",
    DATABASE_URL: "postgres://user:pw@db/obs?sslmode=require",
    REDIS_URL: "rediss://cache:6380",
    LOG_LEVEL: "warn",
    TRUSTED_PROXIES: "10.0.0.0/8, ::1",
    WAL_MAX_BYTES: "512 MiB",
    QUERY_MAX_MEMORY_BYTES: "20000000",
    OUTBOUND_ALLOW: "localhost, 10.1.0.0/16, ::1",
    OUTBOUND_ALLOW_PRIVATE: "1",
    IDP_A_ISSUER: "https://id.example.com/realms/main",
    IDP_A_CLIENT_ID: "obs",
    IDP_A_CLIENT_SECRET: "hunter2",
    IDP_A_NAME: "Example",
  });
  expect(config.port).toBe(0);
  expect(config.publicUrl).toBe("https://logs.example.com");
  expect(config.dataDirectory).toBe("/var/lib/obs-data");
  expect(config.clickhouseUrl).toBe("http://user:p%40ss@ch:8123/logs");
  expect(config.databaseUrl).toBe("postgres://user:pw@db/obs?sslmode=require");
  expect(config.redisUrl).toBe("rediss://cache:6380");
  expect(config.trustedProxies).toEqual(["10.0.0.0/8", "::1"]);
  expect(config.walMaxBytes).toBe(512 * 2 ** 20);
  expect(config.queryMaxMemoryBytes).toBe(20_000_000);
  expect(config.outboundAllow).toEqual(["localhost", "10.1.0.0/16", "::1"]);
  expect(config.outboundAllowPrivate).toBe(true);
  expect(config.idpAIssuer).toBe("https://id.example.com/realms/main");
});

describe("an unacceptable value is refused with one line that names the variable, the problem and what is accepted", () => {
  const cases: [string, string, string][] = [
    ["PORT", "http", 'PORT: "http" is not a whole number; accepted: 0 to 65535.'],
    ["PORT", "65536", 'PORT: "65536" is out of range; accepted: 0 to 65535.'],
    ["PORT", "80.5", 'PORT: "80.5" is not a whole number; accepted: 0 to 65535.'],
    [
      "HOST",
      "a b",
      'HOST: "a b" is neither an address nor a host name; accepted: an address or a host name.',
    ],
    [
      "LOG_LEVEL",
      "loud",
      'LOG_LEVEL: "loud" is not a known value; accepted: one of fatal, error, warn, info, debug, trace, silent.',
    ],
    ["WAL_MAX_BYTES", "2GB", 'WAL_MAX_BYTES: "2GB" is not a number of bytes; accepted: '],
    ["WAL_MAX_BYTES", "1", 'WAL_MAX_BYTES: "1" is out of range; accepted: '],
    ["PUBLIC_URL", "example.com", 'PUBLIC_URL: "example.com" is not a URL; accepted: '],
    [
      "PUBLIC_URL",
      "https://example.com/obs",
      'PUBLIC_URL: "https://example.com/obs" has a path or a query; accepted: ',
    ],
    [
      "TRUSTED_PROXIES",
      "10.0.0.0/33",
      'TRUSTED_PROXIES: "10.0.0.0/33" has an entry that is neither an address nor a CIDR: "10.0.0.0/33"; accepted: ',
    ],
    [
      "CLICKHOUSE_URL",
      "tcp://u:hunter2@h:9000",
      "CLICKHOUSE_URL: the value (not shown, it may hold a password) has another scheme; accepted: ",
    ],
    [
      "DATABASE_URL",
      "mysql://u:hunter2@h",
      "DATABASE_URL: the value (not shown, it may hold a password) has another scheme; accepted: ",
    ],
    [
      "SMTP_URL",
      "http://u:hunter2@h",
      "SMTP_URL: the value (not shown, it may hold a password) has another scheme; accepted: ",
    ],
    [
      "SMTP_URL",
      "smtp://u:100%@h",
      "SMTP_URL: the value (not shown, it may hold a password) has a percent sign that encodes nothing; accepted: ",
    ],
    ["SMTP_FROM", "a@b.example, c@d.example", "SMTP_FROM: "],
    ["SMTP_FROM", "Acme\nBcc: <a@b.example>", "SMTP_FROM: "],
    [
      "REQUIRE_EMAIL_VERIFICATION",
      "yes",
      'REQUIRE_EMAIL_VERIFICATION: "yes" is neither 0 nor 1; accepted: 0 or 1.',
    ],
    [
      "REDIS_URL",
      "hunter2",
      "REDIS_URL: the value (not shown, it may hold a password) is not a URL; accepted: ",
    ],
    [
      "OUTBOUND_ALLOW",
      "localhost,10.0.0.0/33",
      'OUTBOUND_ALLOW: "localhost,10.0.0.0/33" has an entry that is neither a host name nor an address nor a CIDR: "10.0.0.0/33"; accepted: ',
    ],
    ["OUTBOUND_ALLOW_PRIVATE", "yes", 'OUTBOUND_ALLOW_PRIVATE: "yes" is neither 0 nor 1; accepted: 0 or 1.'],
    [
      "IDP_A_ISSUER",
      "https://u:pw@id.example",
      'IDP_A_ISSUER: "https://u:pw@id.example" has credentials; accepted: ',
    ],
    [
      "IDP_B_CLIENT_SECRET",
      "hunter2",
      "IDP_B_ISSUER: the value is missing; IDP_B_ISSUER, IDP_B_CLIENT_ID, IDP_B_CLIENT_SECRET are of use only together.",
    ],
  ];
  for (const [name, value, message] of cases) {
    test(`${name}=${value}`, () => {
      const text = messageOf({ [name]: value });
      expect(text).toStartWith(message);
      expect(text).not.toContain("hunter2");
      expect(text).not.toContain("\n");
    });
  }
});

test("an unknown OBS_ variable is refused, those of the command line are not", () => {
  expect(messageOf({ OBS_DATADIR: "/x" })).toBe(
    "OBS_DATADIR: there is no such setting; docs/configuration.md lists them.",
  );
  expect(loadConfig({ OBS_URL: "http://x", OBS_TOKEN: "t" })).toEqual(loadConfig({}));
});

test("any text in any variable gives a configuration or a ConfigError of one line", () => {
  const names = Object.values(SETTINGS).map((row) => row.name);
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.string({ unit: "binary" }), (name, value) => {
      try {
        loadConfig({ [name]: value });
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        expect(error.message).not.toMatch(/[\n\r]/);
      }
    }),
    { numRuns: 500, examples: [["TRUSTED_PROXIES", "\u0000\n\u0000"]] },
  );
});

test("the public address follows the listener unless it is set", () => {
  expect(publicUrlOf(loadConfig({}), 8080)).toBe("http://127.0.0.1:8080");
  expect(publicUrlOf(loadConfig({ HOST: "0.0.0.0" }), 80)).toBe("http://localhost");
  expect(publicUrlOf(loadConfig({ HOST: "::1" }), 9000)).toBe("http://[::1]:9000");
  expect(publicUrlOf(loadConfig({ PUBLIC_URL: "https://x.example" }), 9000)).toBe("https://x.example");
});

test("docs/configuration.md says what the table of settings says", () => {
  const document = readFileSync(join(import.meta.dir, "../../docs/configuration.md"), "utf8");
  expect(document).toBe(renderConfigurationDocument());
});

test("a listener for syslog needs a token, and a certificate its key", () => {
  const token = `obs_${"a".repeat(43)}`;
  expect(messageOf({ SYSLOG_TCP_PORT: "6514" })).toBe(
    "SYSLOG_TOKEN: the value is missing; SYSLOG_TCP_PORT needs it.",
  );
  expect(messageOf({ SYSLOG_UDP_PORT: "5514" })).toContain("SYSLOG_UDP_PORT needs it");
  expect(messageOf({ SYSLOG_TOKEN: "secret-text" })).not.toContain("secret-text");
  expect(messageOf({ SYSLOG_TLS_CERT: "cert.pem" })).toContain("SYSLOG_TLS_KEY");
  const config = loadConfig({ SYSLOG_TCP_PORT: "6514", SYSLOG_UDP_PORT: "5514", SYSLOG_TOKEN: token });
  expect([config.syslogTcpPort, config.syslogUdpPort, config.syslogHost, config.syslogToken]).toEqual([
    6514,
    5514,
    "127.0.0.1",
    token,
  ]);
});
