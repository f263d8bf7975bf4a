import {
  aggregate,
  aggregateCall,
  allOf,
  DECORATION_BUDGET,
  type Expression,
  literal,
  scan,
} from "../../../query/index.ts";
import type { LogRanges } from "../../archive/reading/log-ranges.ts";
import type { Change } from "../../changes/change.ts";
import { ApiError, DependencyError, validationFailed } from "../../errors.ts";
import { compileEntryQuery } from "../../kql/issues.ts";
import { conditionsOf } from "../../kql/relation-conditions.ts";
import { PACKS } from "../../rules/packs/catalog.ts";
import type { Pack } from "../../rules/packs/pack.ts";
import { lockOrganization } from "../../storage/organization-transaction.ts";
import type { QueryCaller } from "../../storage/query-runner.ts";
import type { LogAlerts } from "./alerts.ts";
import { SEEN_MS } from "./limits.ts";
import type { Seeded } from "./types.ts";

const NANOS_PER_MILLI = 1_000_000n;

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
  const rows = await tx<{ catalogId: string }[]>`
    SELECT catalog_id AS "catalogId" FROM log_alerts
    WHERE organization_id = ${organizationId} AND catalog_id IS NOT NULL`;
  const known = new Set(rows.map(({ catalogId }) => catalogId));
  const rules = packs.flatMap(({ rules: of }) => of);
  const missing = rules.filter(({ id }) => !known.has(id));
  for (const {
    id,
    name,
    description,
    severity,
    attackTechnique,
    kql,
    threshold,
    windowSec,
    groupBy,
  } of missing)
    await alerts.create(
      change,
      {
        ...{ name, description, severity, kql, threshold, windowSec, groupBy: [...groupBy], enabled },
        ...(attackTechnique !== null && { attackTechnique }),
      },
      id,
    );
  const counts = { created: missing.length, existing: rules.length - missing.length };
  change.record({ resource: "log-alerts", after: { packs: packs.map(({ id }) => id), ...counts } });
  return counts;
}

/** Of each pack whether entries that it is about came within the last days; null where the log store does not say. */
export async function seenPacks(
  ranges: Pick<LogRanges, "read">,
  caller: QueryCaller,
  packs: readonly Pack[],
  nowMs: number,
): Promise<Seeded["packs"]> {
  const unknown = packs.map(({ id, expects }) => ({ id, sources: expects.sources, seen: null }));
  if (packs.length === 0) return [];
  const logs = scan("logs");
  const plan = aggregate(
    logs,
    [],
    packs.map(({ expects }, i) => aggregateCall(`n${i}`, "countif", conditionOf(expects.kql, nowMs))),
  );
  const timeRange = { from: BigInt(nowMs - SEEN_MS) * NANOS_PER_MILLI, to: null };
  try {
    const { value } = await ranges.read(caller, (reading) =>
      reading.runHot({ operation: "seen_packs", plan, timeRange, maxRows: 1, budget: DECORATION_BUDGET }),
    );
    const [counts = []] = value.rows;
    return unknown.map((pack, i) => ({ ...pack, seen: Number(counts[i] ?? 0) > 0 }));
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof DependencyError)) throw error;
    return unknown;
  }
}

function conditionOf(kql: string, nowMs: number): Expression {
  const conditions = conditionsOf(compileEntryQuery(kql, nowMs));
  if (conditions === null) throw new TypeError("a pack expects what are no entries");
  return conditions.length === 0 ? literal("bool", true) : allOf(conditions);
}
