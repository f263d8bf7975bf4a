import type { Principal } from "../../access/principal.ts";
import type { JsonObject } from "../../audit/canonical-json.ts";
import type { ConfigKind } from "../../configuration/config-kind.ts";
import { isJsonObject } from "../../configuration/json.ts";
import { validationFailed } from "../../errors.ts";
import { mayCall, requireAccess } from "../../http/access.ts";
import { type DesiredRecord, readDesired } from "./desired.ts";
import { addressOf, orderByNeed } from "./order.ts";
import { makePlan, type Plan, type PlanOptions, planIdOf, type Step } from "./plan.ts";
import { bindingsOf, type Reading, readPeople, readPresent } from "./present.ts";

/** What somebody wants, as they sent it. */
export interface Wish extends PlanOptions {
  readonly resources: unknown;
}

/** A plan that can be made true. */
export interface Planned {
  readonly planId: string;
  readonly steps: readonly Step[];
  /** What files want, with secrets in the clear, by address. */
  readonly clear: ReadonlyMap<string, DesiredRecord>;
  /** What records are, with secrets in the clear, by kind and id. */
  readonly liveClear: ReadonlyMap<string, JsonObject>;
  readonly emails: ReadonlyMap<string, number>;
  readonly bindings: Parameters<typeof readPresent>[1];
  readonly compared: readonly ConfigKind[];
}

interface PlanningOptions {
  readonly kinds: ReadonlyMap<string, ConfigKind>;
  readonly principal: Principal;
  /** Called with the kinds that are compared before their records are read. */
  readonly onCompared?: (kinds: readonly ConfigKind[]) => Promise<void>;
}

/**
 * Finds out what it takes to make files true. Throws VALIDATION_FAILED with every place that is wrong, and
 * PAT_SCOPE_INSUFFICIENT for kinds that the caller may not read.
 */
export async function planWish(
  reading: Reading,
  wish: Wish,
  { kinds, principal, onCompared }: PlanningOptions,
): Promise<Planned> {
  const named = isJsonObject(wish.resources) ? Object.keys(wish.resources) : [];
  for (const name of named) {
    const kind = kinds.get(name);
    if (kind !== undefined) requireAccess(kind.read, principal);
  }
  const people = await readPeople(reading);
  const { desired, issues } = readDesired(wish.resources, kinds, people.emails, reading.nowMs);
  if (issues.length > 0) throw validationFailed(issues);
  const order = orderByNeed(desired);
  if (order.issues.length > 0) throw validationFailed(order.issues);

  const bindings = await bindingsOf(reading, kinds);
  const bound = new Set(bindings.map(({ kind }) => kind));
  // What nothing describes and the caller may not read is left alone: it cannot be an orphan of theirs.
  const compared = [...kinds.values()].filter(
    (kind) => named.includes(kind.kind) || (bound.has(kind.kind) && mayCall(kind.read, principal)),
  );
  await onCompared?.(compared);
  const present = await readPresent(reading, bindings, compared, people);
  const { fingerprints, organizationId } = reading;
  const wanted = order.ordered.map((record) => ({
    ...record,
    fields: fingerprints.sealed(record.kind, organizationId, record.fields),
  }));
  const plan: Plan = makePlan(wanted, present, wish);
  if (plan.issues.length > 0) throw validationFailed(plan.issues);
  return {
    planId: planIdOf(plan.steps),
    steps: plan.steps,
    clear: new Map(order.ordered.map((record) => [addressOf(record), record])),
    liveClear: present.clear,
    emails: people.emails,
    ...{ bindings, compared },
  };
}
