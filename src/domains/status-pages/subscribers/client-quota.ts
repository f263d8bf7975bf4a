import { addressKey } from "../../../http/client-address.ts";
import { CLIENTS_MAX, PER_CLIENT } from "./limits.ts";

/**
 * Keeps those from the database who have asked this instance alone for more than they have turns on all of them; whoever was not
 * heard of for longest is forgotten first.
 */
export class ClientQuota {
  readonly #now: () => number;
  /** When each did, oldest first. */
  readonly #taken = new Map<string, readonly number[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether this one still may; if so it has. */
  take(clientAddress: string): boolean {
    const key = addressKey(clientAddress);
    const sinceMs = this.#now() - PER_CLIENT.withinMs;
    const recent = (this.#taken.get(key) ?? []).filter((atMs) => atMs > sinceMs);
    const may = recent.length < PER_CLIENT.max;
    this.#taken.delete(key);
    this.#taken.set(key, may ? [...recent, this.#now()] : recent);
    for (const oldest of this.#taken.keys()) {
      if (this.#taken.size <= CLIENTS_MAX) break;
      this.#taken.delete(oldest);
    }
    return may;
  }
}
