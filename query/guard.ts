import { callOverload } from "./call.ts";
import { overload } from "./functions/definition.ts";
import { type QueryBudget, RESULT_MAX_ROWS } from "./limits.ts";
import { aggregate, limit } from "./plan/build.ts";
import { mapExpressionParts, mapRelationParts, type PartsMapper } from "./plan/parts.ts";
import {
  type Aggregate,
  EACH_ORGANIZATION,
  type MadeEntries,
  type Relation,
  type ScanScope,
} from "./plan/relation.ts";
import { TABLES } from "./schema.ts";
import { TIME_MAX_NS, TIME_MIN_NS } from "./time-range.ts";

/** The largest value of the UInt32 that holds an organization. */
const ORGANIZATION_ID_MAX = 2 ** 32 - 1;

/** Whose rows a statement may touch, of which time, how many it may answer with and what it may cost. */
export interface QueryScope extends ScanScope {
  readonly organizationId: number;
  /** At most `RESULT_MAX_ROWS`. */
  readonly maxRows: number;
  readonly budget: QueryBudget;
}

/** Which entries of everybody are looked at, and what that may cost. */
export interface EachScope extends Pick<QueryScope, "timeRange" | "maxRows" | "budget"> {
  readonly made: MadeEntries;
}

type PlanScope = ScanScope & Pick<QueryScope, "maxRows" | "budget">;

/** Whose the rows of a group are. No query can name it. */
const ORGANIZATION_KEY = "organization";
const ORGANIZATION = overload([], "long", "never", () => `toInt64(${TABLES.logs.organizationColumn})`);

/**
 * A plan bound to one organization, a time range, a number of rows and a budget. Only `guardPlan` makes one and the
 * emitter takes nothing else: every scan in it, subqueries included, is one of the scope's rows alone.
 */
export class GuardedPlan {
  readonly relation: Relation;
  readonly scope: PlanScope;
  /** Nominal: an object of the same shape is not a guarded plan, neither for the compiler nor at run time. */
  readonly #guarded = true;

  private constructor(relation: Relation, scope: PlanScope) {
    const { organizationId, maxRows, timeRange } = scope;
    if (organizationId !== EACH_ORGANIZATION && !isOrganization(organizationId))
      throw new RangeError(`no organization: ${organizationId}`);
    if (!Number.isSafeInteger(maxRows) || maxRows < 1 || maxRows > RESULT_MAX_ROWS)
      throw new RangeError(`rows of an answer out of range: ${maxRows}`);
    this.scope = { ...scope, timeRange: { from: clampTime(timeRange.from), to: clampTime(timeRange.to) } };
    this.relation = limit(withGuardedScans(relation, this.scope), maxRows);
  }

  static guard(relation: Relation, scope: QueryScope): GuardedPlan {
    return new GuardedPlan(relation, scope);
  }

  static guardOfEach({ input, keys, aggregates }: Aggregate, scope: EachScope): GuardedPlan {
    const rows = input.kind === "filter" ? input.input : input;
    if (rows.kind !== "scan" || rows.table !== "logs")
      throw new TypeError("only rows of the logs themselves are those of each organization");
    const organization = {
      name: ORGANIZATION_KEY,
      expression: callOverload(ORGANIZATION_KEY, ORGANIZATION, []),
    };
    const relation = aggregate(input, [organization, ...keys], aggregates);
    return new GuardedPlan(relation, { ...scope, organizationId: EACH_ORGANIZATION });
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

/**
 * The same for what the server looks for in everybody's entries at once: groups of rows of the logs, which never hold rows of two
 * organizations, since whose they are is their first column.
 */
export function guardPlanOfEach(relation: Aggregate, scope: EachScope): GuardedPlan {
  return GuardedPlan.guardOfEach(relation, scope);
}

function isOrganization(id: number): boolean {
  return Number.isSafeInteger(id) && id >= 1 && id <= ORGANIZATION_ID_MAX;
}

/** The plan over the rows of the scope. Throws a TypeError for one that has been guarded before: of which scope? */
function withGuardedScans(
  relation: Relation,
  { organizationId, timeRange, made, files, archived, attributeColumns, hasWordIndex }: PlanScope,
): Relation {
  const bounds: ScanScope = { organizationId, timeRange };
  // Entries of logs alone leave their table.
  const ofLogs: ScanScope = {
    ...bounds,
    ...(made !== undefined && { made }),
    ...(files !== undefined && { files }),
    ...(archived !== undefined && { archived }),
    ...(attributeColumns !== undefined && { attributeColumns }),
    ...(hasWordIndex !== undefined && { hasWordIndex }),
  };
  let scans = 0;
  const guard: PartsMapper = {
    relation: (part) => {
      if (part.kind === "guardedScan" || part.kind === "guardedKeptScan")
        throw new TypeError("the plan was guarded before");
      if (part.kind !== "scan" && part.kind !== "keptScan") return mapRelationParts(part, guard);
      const { columns } = part;
      if (organizationId === EACH_ORGANIZATION && (part.kind === "keptScan" || scans++ > 0))
        throw new TypeError("only the rows that are grouped are those of each organization");
      if (part.kind === "keptScan" && organizationId !== EACH_ORGANIZATION)
        return { kind: "guardedKeptScan", table: part.table, columns, organizationId };
      if (part.kind !== "scan") throw new TypeError(`no rows of ${part.kind}`);
      const scope = part.table === "logs" ? ofLogs : bounds;
      return { kind: "guardedScan", table: part.table, columns, scope };
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
