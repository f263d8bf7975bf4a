import type { Change } from "../../changes/change.ts";
import { ApiError } from "../../errors.ts";
import { lockSchedule } from "./store.ts";

/** Locks a schedule, so that its turns are made one after the other, and answers its zone. Throws NOT_FOUND. */
export async function requireSchedule(
  { tx, organizationId }: Change,
  id: number,
): Promise<{ timezone: string }> {
  const schedule = await lockSchedule(tx, organizationId, id);
  if (schedule === null) throw new ApiError("NOT_FOUND", "No such schedule.");
  return schedule;
}
