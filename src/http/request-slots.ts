import type { Counter } from "prom-client";
import type { Principal } from "../access/principal.ts";
import { FairShare, type ShareKey } from "../concurrency/fair-share.ts";
import { ApiError } from "../errors.ts";
import { addressKey } from "./client-address.ts";
import { MAX_IN_FLIGHT_PROBES, MAX_IN_FLIGHT_REQUESTS, SLOT_RETRY_SEC } from "./limits.ts";

/** All that come without a credential are one organisation, or they could crowd out those that have one. */
const STRANGERS = "strangers";

/**
 * Under which a caller shares with others: the person in the organisation, for a person has as many tokens as they like,
 * and without a credential the address.
 */
export function callerPath(principal: Principal | null, clientAddress: string): readonly ShareKey[] {
  return principal === null
    ? [STRANGERS, addressKey(clientAddress)]
    : [principal.organizationId, principal.userId];
}

/** How many requests are answered at a time, in fair shares, and beside them the probes. */
export class RequestSlots {
  readonly #shared = new FairShare(MAX_IN_FLIGHT_REQUESTS);
  readonly #probes = new FairShare(MAX_IN_FLIGHT_PROBES);
  readonly #rejections: Counter<"bound">;

  constructor(rejections: Counter<"bound">) {
    this.#rejections = rejections;
  }

  get used(): number {
    return this.#shared.used + this.#probes.used;
  }

  /** Throws UNAVAILABLE when all slots are taken, RATE_LIMITED when the caller has its share of them. */
  take(isProbe: boolean, caller: readonly ShareKey[]): void {
    const taking = (isProbe ? this.#probes : this.#shared).take(caller);
    if (taking === "taken") return;
    const retryAfterSeconds = SLOT_RETRY_SEC;
    if (taking === "all_used_up") {
      this.#rejections.inc({ bound: "all" });
      throw new ApiError("UNAVAILABLE", "Too many requests at once.", { retryAfterSeconds });
    }
    this.#rejections.inc({ bound: "share" });
    throw new ApiError("RATE_LIMITED", "Too many requests of yours at once.", { retryAfterSeconds });
  }

  giveBack(isProbe: boolean, caller: readonly ShareKey[]): void {
    (isProbe ? this.#probes : this.#shared).giveBack(caller);
  }
}
