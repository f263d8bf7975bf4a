import type { Static } from "typebox";
import { Value } from "typebox/value";
import { requireAccess } from "../../http/access.ts";
import { callerOf } from "../../http/query-caller.ts";
import type { AuthenticatedContext } from "../../http/route.ts";
import { readEntry } from "./entry.ts";
import { encodeEntry } from "./entry-json.ts";
import type { RangeDependencies } from "./read-logs.ts";
import { entryOf } from "./search-routes.ts";
import { Entry } from "./types.ts";

/** One entry for another part of an answer, as `/logs/{id}` shows it. Throws PAT_SCOPE_INSUFFICIENT, NOT_FOUND and what reading throws. */
export async function readEntryRecord(
  { ranges, budget }: Pick<RangeDependencies, "ranges" | "budget">,
  context: AuthenticatedContext,
  id: string,
): Promise<Static<typeof Entry>> {
  requireAccess({ role: "viewer", scope: "logs:read" }, context.principal);
  const found = await ranges.read(callerOf(context), (logs) => readEntry(logs, budget, BigInt(id)));
  return Value.Parse(Entry, JSON.parse(encodeEntry(entryOf(found))));
}
