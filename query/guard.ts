import { type QueryBudget, RESULT_MAX_ROWS } from "./limits.ts";
import { limit } from "./plan/build.ts";
import { mapExpressionParts, mapRelationParts, type PartsMapper } from "./plan/parts.ts";
import type { Relation, ScanScope } from "./plan/relation.ts";
import { TIME_MAX_NS, TIME_MIN_NS } from "./time-range.ts";

/** The largest value of the UInt32 that holds an organization. */
const ORGANIZATION_ID_MAX = 2 ** 32 - 1;

/** Whose rows a statement may touch, of which time, how many it may answer with and what it may cost. */
export interface QueryScope extends ScanScope {
  /** At most `RESULT_MAX_ROWS`. */
  readonly maxRows: number;
  readonly budget: QueryBudget;
}

/**
 * A plan bound to one organization, a time range, a number of rows and a budget. Only `guardPlan` makes one and the
 * emitter takes nothing else: every scan in it, subqueries included, is one of the scope's rows alone.
 */
export class GuardedPlan {
  readonly relation: Relation;
  readonly scope: QueryScope;
  /** Nominal: an object of the same shape is not a guarded plan, neither for the compiler nor at run time. */
  readonly #guarded = true;

  private constructor(relation: Relation, scope: QueryScope) {
    const { organizationId, maxRows, timeRange } = scope;
    if (!Number.isSafeInteger(organizationId) || organizationId < 1 || organizationId > ORGANIZATION_ID_MAX)
      throw new RangeError(`no organization: ${organizationId}`);
    if (!Number.isSafeInteger(maxRows) || maxRows < 1 || maxRows > RESULT_MAX_ROWS)
      throw new RangeError(`rows of an answer out of range: ${maxRows}`);
    this.scope = { ...scope, timeRange: { from: clampTime(timeRange.from), to: clampTime(timeRange.to) } };
    this.relation = limit(withGuardedScans(relation, this.scope), maxRows);
  }

  static guard(relation: Relation, scope: QueryScope): GuardedPlan {
    return new GuardedPlan(relation, scope);
  }

  /** Throws a TypeError for anything that did not come from `guard`. */
  static assertGuarded(plan: GuardedPlan): void {
    if (!(#guarded in plan && plan.#guarded)) throw new TypeError("the plan was not guarded");
  }
}

/**
 * The pass every plan goes through before it becomes SQL. A time outside what the store can hold counts as the
 * nearest one it can. Throws a RangeError when the scope names no organization or no sensible number of rows.
 */
export function guardPlan(relation: Relation, scope: QueryScope): GuardedPlan {
  return GuardedPlan.guard(relation, scope);
}

/** The plan over the rows of the scope. Throws a TypeError for one that has been guarded before: of which scope? */
function withGuardedScans(
  relation: Relation,
  { organizationId, timeRange, made, files, archived }: QueryScope,
): Relation {
  const bounds: ScanScope = { organizationId, timeRange };
  // Entries of logs alone leave their table.
  const ofLogs: ScanScope = {
    ...bounds,
    ...(made !== undefined && { made }),
    ...(files !== undefined && { files }),
    ...(archived !== undefined && { archived }),
  };
  const guard: PartsMapper = {
    relation: (part) => {
      if (part.kind === "guardedScan" || part.kind === "guardedKeptScan")
        throw new TypeError("the plan was guarded before");
      if (part.kind === "keptScan")
        return { kind: "guardedKeptScan", table: part.table, columns: part.columns, organizationId };
      if (part.kind !== "scan") return mapRelationParts(part, guard);
      const scope = part.table === "logs" ? ofLogs : bounds;
      return { kind: "guardedScan", table: part.table, columns: part.columns, scope };
    },
    expression: (part) => mapExpressionParts(part, guard),
  };
  return guard.relation(relation);
}

function clampTime(time: bigint | null): bigint | null {
  if (time === null) return null;
  if (time < TIME_MIN_NS) return TIME_MIN_NS;
  return time > TIME_MAX_NS ? TIME_MAX_NS : time;
}
