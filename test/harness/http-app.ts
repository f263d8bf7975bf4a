import { NO_DAILY_CAPS, type Principal } from "../../src/access/principal.ts";
import { ApiError } from "../../src/errors.ts";
import { type App, buildApp } from "../../src/http/app.ts";
import type { Authenticator } from "../../src/http/authenticator.ts";
import type { RequestLedger } from "../../src/http/ledger/request-ledger.ts";
import { openApiDocument } from "../../src/http/openapi/document.ts";
import type { PipelineDeps } from "../../src/http/pipeline.ts";
import { MemoryRateLimiter } from "../../src/http/rate-limit/memory-limiter.ts";
import type { Route } from "../../src/http/route.ts";
import { createLogger } from "../../src/log.ts";
import { createMetrics, type Metrics } from "../../src/server/metrics.ts";

import { DeclaredAnswers } from "./declared-answers.ts";

/** The app of a suite, what it logged, and its metrics. */
export interface TestApp {
  readonly app: App;
  /** The same, for suites that look at how an answer is read: nobody reads it to compare it with its declaration. */
  readonly unchecked: App;
  readonly metrics: Metrics;
  /** Every line logged so far, parsed. */
  readonly logged: () => Record<string, unknown>[];
  /** Sends a request as the caller `as` names; see `principalNamed`. */
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Response>;
}

export interface SendOptions {
  /**
   * Credential: a role, `role/scope,scope`, or with the ids of person and organisation `role/scope,scope/5/9`; `session`
   * rides on a cookie; absent sends none.
   */
  as?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream;
  /** Sent as JSON. */
  json?: unknown;
  peerAddress?: string;
}

export const TEST_ORIGIN = "http://localhost:8080";

/** Builds an app whose credentials spell out the principal: `Bearer member/logs:read` or the cookie `session=owner`. */
export function testApp(routes: readonly Route[], overrides: Partial<PipelineDeps> = {}): TestApp {
  const lines: string[] = [];
  const metrics = createMetrics();
  const built = buildApp(routes, {
    authenticator: spelledOut,
    rateLimiter: new MemoryRateLimiter(),
    rateLimits: { perMinute: 100_000, ingestPerMinute: 100_000, anonymousPerMinute: 100_000 },
    trustedProxies: [],
    publicUrl: TEST_ORIGIN,
    ledger: noLedger,
    isDraining: () => false,
    metrics,
    log: createLogger("debug", { write: (line) => lines.push(line) }),
    ...overrides,
  });
  const app = checked(built, routes);
  return {
    app,
    unchecked: built,
    metrics,
    logged: () => lines.map((line): Record<string, unknown> => JSON.parse(line)),
    send: (method, path, options = {}) =>
      app.handle(requestOf(method, path, options), { peerAddress: options.peerAddress ?? "192.0.2.1" }),
  };
}

/** The app, which rejects where it answers otherwise than its routes declare. */
function checked(app: App, routes: readonly Route[]): App {
  let declared: DeclaredAnswers | undefined;
  return {
    router: app.router,
    handle: async (request, connection) => {
      const response = await app.handle(request, connection);
      // Packed, as only this document itself is.
      if (response.headers.has("content-encoding")) return response;
      declared ??= new DeclaredAnswers(openApiDocument(routes, HEAD));
      const problem = await declared.problem(request.method, new URL(request.url).pathname, response);
      if (problem === null) return response;
      // Behind a listener nobody hears of what is thrown here but as a 500.
      process.stderr.write(`an answer is not as declared: ${problem}\n`);
      throw new Error(`an answer is not as declared: ${problem}`);
    },
  };
}

const HEAD = { serverUrl: TEST_ORIGIN, description: "", license: { name: "", identifier: "" }, tags: {} };

function requestOf(method: string, path: string, options: SendOptions): Request {
  const headers = new Headers(options.headers);
  if (options.as === "session") headers.set("cookie", "theme=dark; session=owner");
  else if (options.as !== undefined) headers.set("authorization", `Bearer ${options.as}`);
  const body = options.json === undefined ? options.body : JSON.stringify(options.json);
  if (options.json !== undefined) headers.set("content-type", "application/json");
  return new Request(`${TEST_ORIGIN}${path}`, { method, headers, ...(body !== undefined && { body }) });
}

/** For suites without stores, whose routes keep nothing. */
const noLedger: RequestLedger = {
  now: Date.now,
  takeMutation: () => Promise.reject(new Error("this suite keeps no caps")),
  begin: () => Promise.reject(new Error("this suite keeps no Idempotency-Keys")),
  change: () => Promise.reject(new Error("this suite keeps no changes")),
  changeAnonymously: () => Promise.reject(new Error("this suite keeps no changes")),
};

/** Makes principals from credentials that name them, so that a test says who calls where it calls. */
const spelledOut: Authenticator = {
  authenticate: (request) => {
    const bearer = request.headers.get("authorization")?.replace(/^Bearer /, "");
    const cookie = /session=([a-z]+)/.exec(request.headers.get("cookie") ?? "")?.[1];
    const [role = "", scopes = "*", person = "1", organization = "7"] = (bearer ?? cookie ?? "").split("/");
    if (role === "") return null;
    if (role !== "viewer" && role !== "member" && role !== "admin" && role !== "owner") {
      throw new ApiError("UNAUTHENTICATED", "The credential is not valid.");
    }
    const ids = { userId: Number(person), organizationId: Number(organization) };
    return principalOf(bearer === undefined ? "session" : "token", role, scopes.split(","), ids);
  },
};

function principalOf(
  kind: Principal["kind"],
  role: Principal["role"],
  scopes: readonly string[],
  ids: Pick<Principal, "userId" | "organizationId">,
): Principal {
  return {
    ...ids,
    kind,
    email: "ana@example.com",
    role,
    scopes,
    caps: NO_DAILY_CAPS,
    tokenId: kind === "token" ? 3 : null,
    credentialKey: `${kind}:${role}`,
  };
}
