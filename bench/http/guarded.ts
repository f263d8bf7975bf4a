/**
 * The same route in the pipeline of the server: authentication by a token in Postgres, rate limit, role and scope,
 * headers, metrics and a line of log per request, which goes to standard output as the server's does.
 * Usage: bun bench/http/guarded.ts POSTGRES_URL LOG_LEVEL PORT
 */
import { Type } from "typebox";
import { SecretBox } from "../../src/access/secret-box.ts";
import { Changes } from "../../src/changes/changes.ts";
import { buildApp } from "../../src/http/app.ts";
import { route } from "../../src/http/define-route.ts";
import { PostgresLedger } from "../../src/http/ledger/request-ledger.ts";
import { MemoryRateLimiter } from "../../src/http/rate-limit/memory-limiter.ts";
import { listen } from "../../src/http/server.ts";
import { Authenticator } from "../../src/identity/authenticator.ts";
import { createLogger, type LogLevel } from "../../src/log.ts";
import { createMetrics } from "../../src/server/metrics.ts";
import { createPostgres } from "../../src/storage/postgres.ts";
import { ANSWER } from "./answer.ts";

const UNLIMITED = 1_000_000_000;
const [postgresUrl = "", logLevel = "info", port = "0"] = process.argv.slice(2);

function levelOf(text: string): LogLevel {
  if (text === "info" || text === "warn") return text;
  throw new Error(`${text} is not measured`);
}

const sql = createPostgres(postgresUrl);
const now = Date.now;
const log = createLogger(levelOf(logLevel));
const app = buildApp(
  [
    route({
      method: "GET",
      path: "/api/v1/things",
      tag: "Things",
      summary: "A thing",
      access: { role: "viewer", scope: "logs:read" },
      responses: { 200: { description: "A thing", schema: Type.Object({}) } },
      handler: () => ({ status: 200, body: ANSWER }),
    }),
  ],
  {
    authenticator: new Authenticator({ sql, now, log }),
    ledger: new PostgresLedger({
      sql,
      box: new SecretBox(new Uint8Array(32)),
      changes: new Changes({ sql, now }),
    }),
    rateLimiter: new MemoryRateLimiter(),
    rateLimits: { perMinute: UNLIMITED, ingestPerMinute: UNLIMITED, anonymousPerMinute: UNLIMITED },
    trustedProxies: [],
    publicUrl: "http://127.0.0.1",
    isDraining: () => false,
    metrics: createMetrics(),
    log,
  },
);
listen(app, { hostname: "127.0.0.1", port: Number(port) });
