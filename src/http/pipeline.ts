import type { Principal } from "../access/principal.ts";
import { FairShare, type ShareKey } from "../concurrency/fair-share.ts";
import { ApiError, DependencyError } from "../errors.ts";
import type { Logger } from "../log.ts";
import { type OriginGuard, originGuard, requireAccess } from "./access.ts";
import type { Authenticator } from "./authenticator.ts";
import { type ClientAddressResolver, clientAddressResolver } from "./client-address.ts";
import { toApiError } from "./envelope.ts";
import { AuthenticatedExchange, Exchange } from "./exchange.ts";
import type { HttpMetrics, RateLimitMetrics } from "./http-metrics.ts";
import { executeOnce } from "./ledger/execute-once.ts";
import { idempotencyKeyOf } from "./ledger/idempotency.ts";
import type { RequestLedger } from "./ledger/request-ledger.ts";
import { MAX_ANSWER_MEMORY_BYTES, MAX_BODY_MEMORY_BYTES } from "./limits.ts";
import { type RateGate, type RateLimits, rateGate } from "./rate-limit/rate-gate.ts";
import type { RateDecision, RateLimiter } from "./rate-limit/rate-limiter.ts";
import { requestIdOf } from "./request-id.ts";
import { type AnsweredRequest, requestLog } from "./request-line.ts";
import { callerPath, RequestSlots } from "./request-slots.ts";
import { type Finished, respond, respondError } from "./respond.ts";
import type { ResponseHead } from "./response-headers.ts";
import type {
  Access,
  CredentialReader,
  Effect,
  HandlerResult,
  RateLimitClass,
  RefusalBody,
  RefusalMembers,
  Reply,
} from "./route.ts";

export interface PipelineDeps {
  readonly authenticator: Authenticator;
  readonly rateLimiter: RateLimiter;
  readonly rateLimits: RateLimits;
  /** Addresses and CIDRs whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Under which the server is reached; pages of its origin may use the session cookie. */
  readonly publicUrl: string;
  /** Keeps caps, idempotency keys and changes. */
  readonly ledger: RequestLedger;
  /** True from when the server is about to stop: answers then close their connections, so that clients go elsewhere. */
  readonly isDraining: () => boolean;
  /** What answers may hold; its own bounds unless told. */
  readonly answers?: FairShare;
  /** The same of bodies. */
  readonly bodies?: FairShare;
  readonly metrics: {
    readonly http: HttpMetrics;
    readonly rateLimit: RateLimitMetrics;
    readonly onCollect: (update: () => void) => void;
  };
  readonly log: Logger;
}

/** What the listener knows about the connection of a request. */
export interface Connection {
  readonly peerAddress?: string | undefined;
  /** Sets for how many seconds the connection may stay silent from now on. */
  readonly setIdleTimeout?: ((seconds: number) => void) | undefined;
  /** The door through which the server itself makes the request for a caller; the audit log names it. */
  readonly via?: string | undefined;
}

/** What is done with the requests of one method and path. */
export interface Plan {
  readonly method: string;
  /** How logs and metrics call it. */
  readonly label: string;
  readonly access: Access;
  /** Whether the credential of a request is looked at. */
  readonly identifies: boolean;
  readonly credential: CredentialReader | undefined;
  readonly rateLimit: RateLimitClass;
  readonly isProbe: boolean;
  readonly effect: Effect;
  readonly auditAction: string | undefined;
  readonly isHead: boolean;
  readonly refusalMembers: RefusalMembers | undefined;
  readonly refusalBody: RefusalBody | undefined;
  readonly idleTimeoutSec: number | undefined;
  /** Validates and handles. */
  readonly run: (exchange: Exchange) => HandlerResult;
}

/**
 * The one way every request takes: request id, authentication, rate limit, access, daily caps, idempotency, then the
 * plan, which validates and handles. Whatever is thrown on the way becomes an envelope; the answer is counted and logged once.
 */
export class Pipeline {
  readonly #deps: PipelineDeps;
  readonly #rateGate: RateGate;
  readonly #originGuard: OriginGuard;
  readonly #clientAddress: ClientAddressResolver;
  readonly #logRequest: (answered: AnsweredRequest) => void;
  readonly #isHttps: boolean;
  readonly #slots: RequestSlots;
  readonly #bodyMemory: FairShare;
  readonly #answers: FairShare;

  constructor(deps: PipelineDeps) {
    this.#deps = deps;
    this.#bodyMemory = deps.bodies ?? new FairShare(MAX_BODY_MEMORY_BYTES);
    this.#answers = deps.answers ?? new FairShare(MAX_ANSWER_MEMORY_BYTES);
    this.#rateGate = rateGate(deps.rateLimiter, deps.rateLimits);
    this.#originGuard = originGuard(deps.publicUrl);
    this.#clientAddress = clientAddressResolver(deps.trustedProxies);
    this.#logRequest = requestLog(deps.log);
    this.#isHttps = deps.publicUrl.startsWith("https:");
    this.#slots = new RequestSlots(deps.metrics.http.capacityRejections);
    deps.metrics.onCollect(() => deps.metrics.http.inFlight.set(this.#slots.used));
  }

  /** Answers a request; never rejects. */
  async handle(plan: Plan, request: Request, connection: Connection): Promise<Response> {
    const startedMs = performance.now();
    const requestId = requestIdOf(request);
    const clientAddress = this.#clientAddress(connection.peerAddress, request);
    let principal: Principal | null = null;
    let refusal: unknown;
    if (plan.identifies) {
      try {
        const found = this.#deps.authenticator.authenticate(request, plan.credential);
        principal = found instanceof Promise ? await found : found;
      } catch (error) {
        refusal = error;
      }
    }
    // Also a refused credential costs a call, of the address: it limits guessing and puts the headers on the answer.
    const taken = this.#rateGate({ rateClass: plan.rateLimit, principal, clientAddress, url: request.url });
    const rate = taken instanceof Promise ? await taken : taken;
    const caller = callerPath(principal, clientAddress);
    const from = { clientAddress, via: connection.via };
    const exchange = this.#exchangeOf(plan, request, requestId, from, principal, caller);

    let finished: Finished;
    let failure: ApiError | undefined;
    let hasSlot = false;
    try {
      this.#requireCalls(plan, rate);
      this.#slots.take(plan.isProbe, caller);
      hasSlot = true;
      if (refusal !== undefined && plan.access !== "public") throw refusal;
      requireAccess(plan.access, principal);
      this.#originGuard(request, principal);
      if (plan.idleTimeoutSec !== undefined) connection.setIdleTimeout?.(plan.idleTimeoutSec);
      const result = this.#execute(plan, exchange);
      const reply = result instanceof Promise ? await result : result;
      finished = respond(reply, this.#headOf(requestId, rate), plan.isHead, exchange);
    } catch (thrown) {
      failure = this.#explain(thrown, exchange, plan);
      const encoded = plan.refusalBody?.(request, failure) ?? null;
      const members = plan.refusalMembers?.(request, failure);
      finished = respondError(failure, this.#headOf(requestId, rate), plan.isHead, { members, encoded });
    }
    if (hasSlot) this.#slots.giveBack(plan.isProbe, caller);
    exchange.release();
    this.#record(plan, exchange, principal, finished, failure, performance.now() - startedMs);
    return finished.response;
  }

  #exchangeOf(
    { auditAction }: Plan,
    request: Request,
    requestId: string,
    from: { readonly clientAddress: string; readonly via: string | undefined },
    principal: Principal | null,
    caller: readonly ShareKey[],
  ): Exchange {
    const { log, ledger } = this.#deps;
    const bodyMemory = {
      share: this.#bodyMemory,
      holder: principal === null ? caller : [principal.organizationId],
    };
    const held = { bodyMemory, answers: { share: this.#answers, holder: caller } };
    const parts = { requestId, request, ...from, log, ...held, ledger, auditAction };
    return principal === null ? new Exchange(parts) : new AuthenticatedExchange(parts, principal);
  }

  /** Asked when the answer is there: it may have begun before the draining. */
  #headOf(requestId: string, rate: RateDecision): ResponseHead {
    return { requestId, rate, isHttps: this.#isHttps, closes: this.#deps.isDraining() };
  }

  /** Counts and runs; where nothing is to be counted or remembered, as for every read, it only runs. */
  #execute(plan: Plan, exchange: Exchange): HandlerResult {
    const key = plan.method === "GET" || plan.isHead ? null : idempotencyKeyOf(exchange.request);
    if (!(exchange instanceof AuthenticatedExchange)) return plan.run(exchange);
    if (key === null && plan.effect !== "change") return plan.run(exchange);
    return this.#executeChange(plan, exchange, key);
  }

  async #executeChange(
    plan: Plan,
    exchange: AuthenticatedExchange,
    key: string | null,
  ): Promise<Reply | Response> {
    const { ledger } = this.#deps;
    if (plan.effect === "change" && plan.method !== "GET") await ledger.takeMutation(exchange.principal);
    const run = async (): Promise<Reply | Response> => {
      const result = await plan.run(exchange);
      if (plan.effect === "change" && !exchange.hasChanged)
        throw new Error(`${plan.method} ${plan.label} declares a change and recorded none`);
      return result;
    };
    return key === null
      ? run()
      : executeOnce(ledger, exchange, { key, isIngest: plan.effect === "ingest" }, run);
  }

  #record(
    plan: Plan,
    exchange: Exchange,
    principal: Principal | null,
    finished: Finished,
    failure: ApiError | undefined,
    durationMs: number,
  ): void {
    const { method, label: route } = plan;
    const { status } = finished.response;
    this.#deps.metrics.http.requests.inc({ method, route, status });
    this.#deps.metrics.http.durationSec.observe({ method, route }, durationMs / 1000);
    const { requestId, clientAddress } = exchange;
    const bytesIn = contentLength(exchange.request);
    const isProbe = plan.rateLimit === "probe";
    const code = failure?.code;
    this.#logRequest({
      requestId,
      method,
      route,
      status,
      code,
      durationMs,
      bytesIn,
      bytesOut: finished.bytes,
      clientAddress,
      principal,
      isProbe,
    });
  }

  #requireCalls(plan: Plan, rate: RateDecision): void {
    if (rate.allowed) return;
    this.#deps.metrics.rateLimit.rejections.inc({ class: plan.rateLimit });
    throw new ApiError("RATE_LIMITED", "Too many requests.", { retryAfterSeconds: rate.retryAfterSec });
  }

  /** Faults of the server and its dependencies are logged with their cause; what callers do wrong is in the request's line. */
  #explain(thrown: unknown, exchange: Exchange, plan: Plan): ApiError {
    const error = toApiError(thrown);
    if (error.code === "INTERNAL")
      exchange.log.error({ err: error.cause ?? error, route: plan.label }, "request failed");
    else if (error.cause instanceof DependencyError) {
      exchange.log.warn({ err: error.cause, route: plan.label }, "a dependency failed");
    }
    return error;
  }
}

function contentLength(request: Request): number | null {
  const header = request.headers.get("content-length");
  return header === null ? null : Number(header);
}
