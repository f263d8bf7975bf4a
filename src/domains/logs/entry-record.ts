import type { Static } from "typebox";
import { ApiError } from "../../errors.ts";
import { requireAccess } from "../../http/access.ts";
import { callerOf } from "../../http/query-caller.ts";
import type { AuthenticatedContext } from "../../http/route.ts";
import { readLogEntry } from "./entry.ts";
import type { RangeDependencies } from "./read-logs.ts";
import type { Entry } from "./types.ts";

/** One entry for another part of an answer, for who may read logs. Throws PAT_SCOPE_INSUFFICIENT, NOT_FOUND and what reading throws. */
export async function readEntryRecord(
  services: Pick<RangeDependencies, "ranges" | "budget">,
  context: AuthenticatedContext,
  id: string,
): Promise<Static<typeof Entry>> {
  requireAccess({ role: "viewer", scope: "logs:read" }, context.principal);
  const entry = await readLogEntry(services, callerOf(context), BigInt(id));
  if (entry === null) throw new ApiError("NOT_FOUND", "No such log entry.");
  return entry;
}
