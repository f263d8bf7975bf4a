import type { Logger } from "../log.ts";
import type { MemoryBudget } from "./memory-budget.ts";
import type { Principal } from "./principal.ts";
import type { AuthenticatedContext, RequestContext } from "./route.ts";

/** What an exchange is made from. */
export interface ExchangeParts {
  readonly requestId: string;
  readonly request: Request;
  readonly clientAddress: string;
  readonly log: Logger;
  readonly memory: MemoryBudget;
}

/** A request on its way through the plumbing, as handlers see it. */
export class Exchange implements RequestContext {
  readonly requestId: string;
  readonly request: Request;
  readonly clientAddress: string;
  readonly #parts: ExchangeParts;
  #log: Logger | undefined;
  #reservedBytes = 0;

  constructor(parts: ExchangeParts) {
    this.requestId = parts.requestId;
    this.request = parts.request;
    this.clientAddress = parts.clientAddress;
    this.#parts = parts;
  }

  /** Names the request in every line; made when first used, because most requests log nothing of their own. */
  get log(): Logger {
    this.#log ??= this.#parts.log.child({ requestId: this.requestId });
    return this.#log;
  }

  readonly reserveMemory = (bytes: number): void => {
    this.#parts.memory.take(bytes);
    this.#reservedBytes += bytes;
  };

  /** Gives back what was reserved; called once, when the request is answered. */
  release(): void {
    if (this.#reservedBytes > 0) this.#parts.memory.giveBack(this.#reservedBytes);
    this.#reservedBytes = 0;
  }
}

/** An exchange whose caller is known. */
export class AuthenticatedExchange extends Exchange implements AuthenticatedContext {
  readonly principal: Principal;

  constructor(parts: ExchangeParts, principal: Principal) {
    super(parts);
    this.principal = principal;
  }
}
