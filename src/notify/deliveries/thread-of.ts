import { createHash } from "node:crypto";
import type { Notification } from "../channels/notification.ts";

/**
 * By what a receiver knows that messages are about one incident; null for one that is about none. The hash is that of the
 * receiver, which no other server makes: incidents of several servers with the same number are never taken for one.
 */
export function threadOf(targetHash: Uint8Array, { incidentId }: Notification): string | null {
  if (incidentId === null) return null;
  const hash = createHash("sha256").update(targetHash).update(`incident:${incidentId}`).digest("hex");
  return `incident_${hash.slice(0, 24)}`;
}
