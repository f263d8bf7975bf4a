import type { Change } from "../../changes/change.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { PACKS } from "../../rules/packs/catalog.ts";
import type { Pack } from "../../rules/packs/pack.ts";
import { allOf } from "../../storage/all-of.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import type { LogAlerts } from "./alerts.ts";
import type { Seeded } from "./catalog-types.ts";
import { ALERTS_MAX, SEEDED_AT_ONCE } from "./limits.ts";
import type { CreateLogAlertBody } from "./types.ts";

/** The packs of these ids, or all. Throws VALIDATION_FAILED for an id that there is not. */
export function packsOf(ids: readonly string[] | undefined): readonly Pack[] {
  if (ids === undefined) return PACKS;
  const known = new Set(PACKS.map(({ id }) => id));
  const unknown = ids.findIndex((id) => !known.has(id));
  if (unknown !== -1)
    throw validationFailed([
      { path: `/packs/${unknown}`, code: "custom", message: "is no pack of the catalogue" },
    ]);
  return PACKS.filter(({ id }) => ids.includes(id));
}

/**
 * Makes a rule of each rule of the packs that the organisation has none of yet: what was made before stays as it is, however
 * it was changed. Throws CONFLICT where there would be too many.
 */
export async function seedPacks(
  alerts: LogAlerts,
  change: Change,
  packs: readonly Pack[],
  enabled: boolean,
): Promise<Pick<Seeded, "created" | "existing">> {
  const { tx, organizationId } = change;
  await lockOrganization(tx, organizationId);
  const rows = await tx<{ catalogId: string | null }[]>`
    SELECT catalog_id AS "catalogId" FROM log_alerts WHERE organization_id = ${organizationId}`;
  const known = new Set(rows.map(({ catalogId }) => catalogId));
  const rules = packs.flatMap(({ rules: of }) => of);
  const missing = rules.filter(({ id }) => !known.has(id));
  // Those of a slice are sent at once and do not see each other.
  if (rows.length + missing.length > ALERTS_MAX)
    throw new ApiError("CONFLICT", `${ALERTS_MAX} is the most of log alerts; delete some first.`);
  for (let made = 0; made < missing.length; made += SEEDED_AT_ONCE)
    await allOf(
      missing
        .slice(made, made + SEEDED_AT_ONCE)
        .map(({ id, ...rule }) => alerts.create(change, bodyOf(rule, enabled), id)),
    );
  const counts = { created: missing.length, existing: rules.length - missing.length };
  change.record({ resource: "log-alerts", after: { packs: packs.map(({ id }) => id), ...counts } });
  return counts;
}

function bodyOf(rule: Omit<Pack["rules"][number], "id">, enabled: boolean): CreateLogAlertBody {
  const { name, description, severity, attackTechnique, kql, threshold, windowSec, groupBy } = rule;
  return {
    ...{ name, description, severity, kql, threshold, windowSec, groupBy: [...groupBy], enabled },
    ...(attackTechnique !== null && { attackTechnique }),
  };
}
