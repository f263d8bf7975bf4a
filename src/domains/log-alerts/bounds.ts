import { type KeptNames, NOTHING_KEPT } from "../../../query/index.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError } from "../../errors.ts";
import { namesWithin } from "../../kql/kept/kept-directory.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import { type AlertTerms, isExpensive } from "./definition.ts";
import { EXPENSIVE_MAX, SCHEDULED_MAX } from "./limits.ts";
import type { StoredLogAlert } from "./types.ts";

/** The names that a query may use; conditions use none. */
export async function namesFor(
  { tx, organizationId }: Change,
  kind: StoredLogAlert["kind"],
): Promise<KeptNames> {
  return kind === "scheduled" ? namesWithin(tx, organizationId) : NOTHING_KEPT;
}

/** Throws CONFLICT where an organisation would ask too many queries. */
export async function requireFewScheduled(
  { tx, organizationId }: Change,
  kind: StoredLogAlert["kind"],
  id: number | null,
): Promise<void> {
  if (kind !== "scheduled") return;
  await lockOrganization(tx, organizationId);
  const [row] = await tx<{ n: number }[]>`
    SELECT count(*)::integer AS n FROM log_alerts
    WHERE organization_id = ${organizationId} AND kind = 'scheduled' AND id <> ${id ?? 0}`;
  if ((row?.n ?? 0) >= SCHEDULED_MAX)
    throw new ApiError("CONFLICT", `An organisation has at most ${SCHEDULED_MAX} rules of kind scheduled.`);
}

/** Whether the rule is expensive. Throws CONFLICT where an organisation would have too many of those that are enabled. */
export async function requireFewExpensive(
  { tx, organizationId }: Change,
  rule: AlertTerms & Pick<StoredLogAlert, "enabled">,
  id: number | null,
): Promise<boolean> {
  if (!isExpensive(rule)) return false;
  if (!rule.enabled) return true;
  await lockOrganization(tx, organizationId);
  const [row] = await tx<{ n: number }[]>`
    SELECT count(*)::integer AS n FROM log_alerts
    WHERE organization_id = ${organizationId} AND expensive AND enabled AND id <> ${id ?? 0}`;
  if ((row?.n ?? 0) >= EXPENSIVE_MAX)
    throw new ApiError(
      "CONFLICT",
      `An organisation has at most ${EXPENSIVE_MAX} enabled rules for which every entry is looked at; with a word, a service, a level or the value of an attribute this is none of them.`,
    );
  return true;
}
