import type { ClaimedDelivery } from "./delivery-claims.ts";

/** Deliveries of one organisation that have one place among those that are under way. */
interface Place {
  readonly organizationId: number;
  readonly deliveries: readonly ClaimedDelivery[];
}

/**
 * Gives what was claimed its places: up to `together` that are tried for the first time share one. What is tried again is
 * by itself, so that it takes nobody along if its server dies of it.
 */
export function placesOf(claimed: readonly ClaimedDelivery[], together: number): Place[] {
  const places: Place[] = [];
  const open = new Map<number, ClaimedDelivery[]>();
  for (const delivery of claimed) {
    const { organizationId, attempt } = delivery;
    const shared = attempt === 1 ? open.get(organizationId) : undefined;
    if (shared !== undefined && shared.length < together) {
      shared.push(delivery);
      continue;
    }
    const deliveries = [delivery];
    places.push({ organizationId, deliveries });
    if (attempt === 1) open.set(organizationId, deliveries);
  }
  return places;
}
