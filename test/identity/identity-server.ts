import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import { Changes } from "../../src/changes/changes.ts";
import { EventDelivery } from "../../src/changes/events/event-delivery.ts";
import type { App } from "../../src/http/app.ts";
import { PostgresLedger } from "../../src/http/ledger/request-ledger.ts";
import type { PipelineDeps } from "../../src/http/pipeline.ts";
import type { Route } from "../../src/http/route.ts";
import { Authenticator } from "../../src/identity/authenticator.ts";
import type { LoginThrottle } from "../../src/identity/login-throttle.ts";
import { LinkIssuer } from "../../src/identity/mailed-links/link-issuer.ts";
import { MemoryLoginThrottle } from "../../src/identity/memory-login-throttle.ts";
import { type PasswordAlgorithm, PasswordHasher } from "../../src/identity/password-hasher.ts";
import { identityRoutes } from "../../src/identity/routes.ts";
import type { SessionCookieOptions } from "../../src/identity/session-cookie.ts";
import { MintedToken } from "../../src/identity/types.ts";
import { createLogger } from "../../src/log.ts";
import { Account } from "../../src/membership/types.ts";
import type { MailMessage } from "../../src/notify/mail/message.ts";
import { type EnqueueMail, outbox } from "../../src/notify/mail/outbox.ts";
import { SUBSCRIPTIONS } from "../../src/server/events.ts";
import { type SendOptions, TEST_ORIGIN, testApp } from "../harness/http-app.ts";
import { TEST_BOX, testCaps } from "../harness/ledger.ts";
import type { TestStores } from "../harness/stores.ts";

export const PASSWORD = "correct horse battery";
export const START_MS = Date.parse("2026-03-01T12:00:00.000Z");

/** A person who has just registered. */
export interface Person {
  readonly email: string;
  readonly account: Account;
  /** `session=...`, as a browser sends it back. */
  readonly cookie: string;
}

/** One instance of the server as far as identity goes; several over the same stores are several instances. */
export interface IdentityServer {
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  readonly hashing: CountedAlgorithm;
  /** What was put into the outbox, in order. */
  readonly outgoing: MailMessage[];
  /** Does the requests for mailed links, which the server does in the background. */
  readonly issueLinks: () => Promise<void>;
  /** Tells subscribers of what has happened so far, which the server does in the background too. */
  readonly deliverEvents: () => Promise<void>;
  readonly logged: () => Record<string, unknown>[];
  readonly app: App;
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Response>;
  readonly logIn: (
    email: string,
    options?: { password?: string; from?: string; cookie?: string },
  ) => Promise<Response>;
  readonly register: (input?: { email?: string; organizationName?: string }) => Promise<Person>;
  /** Makes a token as the person of a cookie. */
  readonly mint: (cookie: string, body?: Record<string, unknown>) => Promise<MintedToken>;
}

export interface IdentityServerOptions {
  readonly clock?: Clock;
  readonly passwords?: PasswordHasher;
  readonly sql?: TestStores["postgres"];
  readonly secure?: boolean;
  readonly throttle?: LoginThrottle;
  readonly requireVerifiedEmail?: boolean;
  readonly pipeline?: Partial<PipelineDeps>;
  /** Routes of other areas beside those of identity. */
  readonly moreRoutes?: (parts: InstanceParts) => readonly Route[];
}

/** What an instance is made of and its other routes share. */
interface InstanceParts {
  readonly sql: TestStores["postgres"];
  readonly authenticator: Authenticator;
  readonly now: () => number;
  readonly cookie: SessionCookieOptions;
}

/** A clock that moves only when told to. */
export class Clock {
  nowMs = START_MS;
  readonly now = (): number => this.nowMs;
  advance(ms: number): void {
    this.nowMs += ms;
  }
}

/** Stands in for argon2id where a test is not about it, and counts its calls. */
class CountedAlgorithm implements PasswordAlgorithm {
  hashes = 0;
  verifies = 0;

  async hash(password: string): Promise<string> {
    this.hashes += 1;
    return `cheap:${password}`;
  }

  async verify(password: string, hash: string): Promise<boolean> {
    this.verifies += 1;
    return hash === `cheap:${password}`;
  }
}

export const ErrorAnswer = Type.Object(
  {
    error: Type.String(),
    code: Type.String(),
    requestId: Type.String(),
    fields: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), code: Type.String(), message: Type.String() })),
    ),
  },
  { additionalProperties: false },
);

export function identityServer(stores: TestStores, options: IdentityServerOptions = {}): IdentityServer {
  const clock = options.clock ?? new Clock();
  const hashing = new CountedAlgorithm();
  const sql = options.sql ?? stores.postgres;
  const authenticator = new Authenticator({ sql, now: clock.now, log: createLogger("silent") });
  const cookie = { secure: options.secure ?? false };
  const more = options.moreRoutes?.({ sql, authenticator, now: clock.now, cookie }) ?? [];
  const outgoing: MailMessage[] = [];
  const enqueue = outbox({ box: TEST_BOX, now: clock.now });
  const enqueueMail: EnqueueMail = async (tx, message, expiresAtMs) => {
    await enqueue(tx, message, expiresAtMs);
    outgoing.push(message);
  };
  const publicUrl = options.pipeline?.publicUrl ?? TEST_ORIGIN;
  const changes = new Changes({ sql, now: clock.now, subscriptions: SUBSCRIPTIONS });
  const links = new LinkIssuer({
    sql,
    changes,
    enqueueMail,
    onMail: () => undefined,
    publicUrl,
    log: createLogger("silent"),
    now: clock.now,
  });
  const routes = identityRoutes({
    sql,
    passwords: options.passwords ?? new PasswordHasher({ concurrency: 4, algorithm: hashing }),
    throttle: options.throttle ?? new MemoryLoginThrottle({ now: clock.now }),
    authenticator,
    plans: testCaps(sql, clock.now).plan,
    now: clock.now,
    cookie,
    box: TEST_BOX,
    enqueueMail,
    publicUrl,
    links,
    requireVerifiedEmail: options.requireVerifiedEmail ?? false,
  });
  const { app, send, logged, metrics } = testApp([...routes, ...more], {
    authenticator,
    ledger: new PostgresLedger({ sql, box: TEST_BOX, changes }),
    ...options.pipeline,
  });
  const delivery = new EventDelivery({
    sql,
    changes,
    subscriptions: SUBSCRIPTIONS,
    metrics: metrics.events,
    log: createLogger("silent"),
  });
  return {
    authenticator,
    clock,
    hashing,
    outgoing,
    deliverEvents: async () => {
      while (await delivery.deliverDue(new AbortController().signal)) await delivery.settled();
    },
    issueLinks: async () => {
      await links.issueRequested(new AbortController().signal);
    },
    app,
    logged,
    send,
    logIn: (email, { password = PASSWORD, from, cookie } = {}) =>
      send("POST", "/api/v1/auth/login", {
        json: { email, password },
        headers: cookie === undefined ? {} : withCookie(cookie),
        ...(from !== undefined && { peerAddress: from }),
      }),
    register: async ({ email = freshEmail(), organizationName } = {}) => {
      const json = { email, password: PASSWORD, ...(organizationName !== undefined && { organizationName }) };
      const response = await send("POST", "/api/v1/auth/register", { json });
      return { email, account: await bodyOf(response, Account), cookie: cookieOf(response) };
    },
    mint: async (cookie, body = {}) => {
      const headers = withCookie(cookie);
      const response = await send("POST", "/api/v1/me/tokens", {
        headers,
        json: { name: "laptop", ...body },
      });
      return bodyOf(response, MintedToken);
    },
  };
}

export function freshEmail(): string {
  return `${crypto.randomUUID()}@example.com`;
}

/** What a page of our own sends. */
export function withCookie(cookie: string): Record<string, string> {
  return { cookie, origin: TEST_ORIGIN };
}

/** The `session=...` of an answer that sets it. */
export function cookieOf(response: Response): string {
  const pair = response.headers.get("set-cookie")?.split(";")[0] ?? "";
  if (!/^session=[A-Za-z0-9_-]{43}$/.test(pair)) throw new Error(`no session in ${response.status} ${pair}`);
  return pair;
}

/** The body of an answer, checked against its schema. */
export async function bodyOf<S extends TSchema>(response: Response, schema: S): Promise<Static<S>> {
  const body: unknown = await response.json();
  if (Value.Check(schema, body)) return body;
  throw new Error(`${response.status} ${JSON.stringify(body)}`);
}

/** Status and code of a refusal, for example `401 UNAUTHENTICATED`; the body must be the error envelope. */
export async function refusalOf(response: Response): Promise<string> {
  return `${response.status} ${(await bodyOf(response, ErrorAnswer)).code}`;
}
