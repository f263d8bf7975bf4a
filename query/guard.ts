import type { FileSource } from "./file-source.ts";
import { type QueryBudget, RESULT_MAX_ROWS } from "./limits.ts";
import { limit } from "./plan/build.ts";
import type { Relation } from "./plan/relation.ts";
import { TIME_MAX_NS, TIME_MIN_NS } from "./time-range.ts";

/** The largest value of the UInt32 that holds an organization. */
const ORGANIZATION_ID_MAX = 2 ** 32 - 1;

/** Nanoseconds since 1970; both ends belong to the range, and null leaves an end open. */
export interface TimeRange {
  readonly from: bigint | null;
  readonly to: bigint | null;
}

export const ALL_TIME: TimeRange = { from: null, to: null };

/** Whose rows a statement may touch, of which time, how many it may answer with and what it may cost. */
export interface QueryScope {
  readonly organizationId: number;
  readonly timeRange: TimeRange;
  /** At most `RESULT_MAX_ROWS`. */
  readonly maxRows: number;
  readonly budget: QueryBudget;
  /** Where the rows of `logs` are read instead of the table; every other bound stays. */
  readonly files?: FileSource;
}

/**
 * A plan bound to one organization, a time range, a number of rows and a budget. Only `guardPlan` makes one and the
 * emitter takes nothing else: it restricts every scan, wherever in the plan it stands, to the scope.
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
    this.relation = limit(relation, maxRows);
    this.scope = { ...scope, timeRange: { from: clampTime(timeRange.from), to: clampTime(timeRange.to) } };
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

function clampTime(time: bigint | null): bigint | null {
  if (time === null) return null;
  if (time < TIME_MIN_NS) return TIME_MIN_NS;
  return time > TIME_MAX_NS ? TIME_MAX_NS : time;
}
