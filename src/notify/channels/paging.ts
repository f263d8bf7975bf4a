import type { Notification } from "./notification.ts";

/** By what a paging service knows an incident again; a message of none has its own. */
export function pagingKey({ incidentId }: Notification, deliveryId: string): string {
  return incidentId === null ? deliveryId : `obs-${incidentId}`;
}

/** Paging services escalate by themselves: they are told what begins, what is answered and what is over, not what is said. */
export function tellsPagers({ tone, type }: Notification): boolean {
  return tone !== "note" || type === "test";
}
