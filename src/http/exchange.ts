import type { Principal } from "../access/principal.ts";
import type { AuditOrigin } from "../audit/audit-entry.ts";
import type { AnonymousChange, ChangeOptions } from "../changes/change.ts";
import type { FairShare, ShareKey, Taking } from "../concurrency/fair-share.ts";
import { MemoryShare } from "../concurrency/memory-share.ts";
import { ApiError } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { ExecutionOfKey } from "./ledger/idempotency.ts";
import type { RequestLedger } from "./ledger/request-ledger.ts";
import type { RequestName } from "./ledger/request-name.ts";
import { SLOT_RETRY_SEC } from "./limits.ts";
import { withReadBody } from "./read-body.ts";
import type { AuthenticatedContext, ChangeWork, Reply, RequestContext } from "./route.ts";
import { UnpackTurn } from "./unpack-turns.ts";

/** What an exchange is made from. */
interface ExchangeParts {
  readonly requestId: string;
  readonly request: Request;
  readonly clientAddress: string;
  /** The door through which the server makes the request for its caller. */
  readonly via: string | undefined;
  readonly log: Logger;
  /** What all requests may hold of bodies, and whose part of it this one draws from. */
  readonly bodyMemory: { readonly share: FairShare; readonly holder: readonly ShareKey[] };
  /** What all answers may hold, and under which the caller of this one shares it. */
  readonly answers: { readonly share: FairShare; readonly holder: readonly ShareKey[] };
  readonly ledger: RequestLedger;
  /** The action the route declares, if it changes anything. */
  readonly auditAction: string | undefined;
}

/** A request on its way through the plumbing, as handlers see it. */
export class Exchange implements RequestContext {
  readonly requestId: string;
  readonly clientAddress: string;
  readonly #parts: ExchangeParts;
  #request: Request;
  #log: Logger | undefined;
  #reservedBytes = 0;
  #unpackTurn: UnpackTurn | undefined;
  #answerMemory: MemoryShare | undefined;

  constructor(parts: ExchangeParts) {
    this.requestId = parts.requestId;
    this.#request = parts.request;
    this.clientAddress = parts.clientAddress;
    this.#parts = parts;
  }

  get request(): Request {
    return this.#request;
  }

  /** Names the request in every line; made when first used, because most requests log nothing of their own. */
  get log(): Logger {
    this.#log ??= this.#parts.log.child({ requestId: this.requestId });
    return this.#log;
  }

  /** Opened when first used, because most answers are small. */
  get answerMemory(): MemoryShare {
    const { share, holder } = this.#parts.answers;
    this.#answerMemory ??= new MemoryShare(share, holder);
    return this.#answerMemory;
  }

  get unpackTurn(): UnpackTurn {
    const [owner = ""] = this.#parts.bodyMemory.holder;
    this.#unpackTurn ??= new UnpackTurn(owner, this.#request.signal);
    return this.#unpackTurn;
  }

  readonly reserveMemory = (bytes: number): void => {
    const { share, holder } = this.#parts.bodyMemory;
    const taking = share.take(holder, bytes);
    if (taking !== "taken") throw noBodyMemory(taking);
    this.#reservedBytes += bytes;
  };

  readonly changeAnonymously = <T>(work: (change: AnonymousChange) => Promise<T>): Promise<T> => {
    const { ledger, auditAction: action = null } = this.#parts;
    return ledger.changeAnonymously({ action, origin: this.origin }, work);
  };

  /** Lets the body, which has been read, be read once more. */
  restoreBody(body: Uint8Array): void {
    this.#request = withReadBody(this.#request, body);
  }

  /**
   * Gives back what was reserved, but for an answer that is still to be read; called once, when the request is
   * answered.
   */
  release(): void {
    if (this.#answerMemory?.isHandedOver === false) this.#answerMemory.close();
    const { share, holder } = this.#parts.bodyMemory;
    if (this.#reservedBytes > 0) share.giveBack(holder, this.#reservedBytes);
    this.#reservedBytes = 0;
    this.#unpackTurn?.release();
  }

  protected get ledger(): RequestLedger {
    return this.#parts.ledger;
  }

  protected get auditAction(): string {
    if (this.#parts.auditAction === undefined)
      throw new Error("a route that declares no action changed something");
    return this.#parts.auditAction;
  }

  protected get origin(): AuditOrigin {
    const { via } = this.#parts;
    const userAgent = this.#request.headers.get("user-agent");
    return { ip: this.clientAddress, userAgent, ...(via !== undefined && { via }) };
  }
}

/** An exchange whose caller is known. */
export class AuthenticatedExchange extends Exchange implements AuthenticatedContext {
  readonly principal: Principal;
  /** The execution of the request's Idempotency-Key, once it has begun. */
  execution: ExecutionOfKey | null = null;
  /** Whether a change was made and kept. */
  hasChanged = false;

  constructor(parts: ExchangeParts, principal: Principal) {
    super(parts);
    this.principal = principal;
  }

  get requestName(): RequestName | null {
    return this.execution?.name ?? null;
  }

  readonly change = async (work: ChangeWork, options: ChangeOptions = {}): Promise<Reply> => {
    const { principal, auditAction: action, origin, execution } = this;
    const reply = await this.ledger.change(
      { principal, action, origin, execution, signal: this.request.signal },
      work,
      options,
    );
    this.hasChanged = true;
    return reply;
  };
}

function noBodyMemory(taking: Exclude<Taking, "taken">): ApiError {
  const retryAfterSeconds = SLOT_RETRY_SEC;
  return taking === "share_used_up"
    ? new ApiError("RATE_LIMITED", "Too many of your bodies are being received.", { retryAfterSeconds })
    : new ApiError("UNAVAILABLE", "Too many bodies are being received.", { retryAfterSeconds });
}
