import type { Sql } from "postgres";
import type { Principal } from "../../access/principal.ts";
import { CHANGE_TIMEOUT_MS } from "../../changes/limits.ts";
import { Admission } from "../../concurrency/admission.ts";
import type { ConfigKind } from "../../configuration/config-kind.ts";
import { ApiError, validationFailed } from "../../errors.ts";
import { mayCall, requireAccess } from "../../http/access.ts";
import { route } from "../../http/define-route.ts";
import type { AuthenticatedContext } from "../../http/route.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization, lockOrganization } from "../../storage/organization-transaction.ts";
import { applyPlan } from "./apply.ts";
import { findDrift } from "./drift.ts";
import { exportRecords } from "./export.ts";
import type { Fingerprints } from "./fields.ts";
import {
  BODY_MAX_BYTES,
  CHANGED_MAX,
  READINGS_MAX_RUNNING,
  READINGS_MAX_RUNNING_OF_ONE,
  READINGS_MAX_WAITING,
  READINGS_MAX_WAITING_OF_ONE,
} from "./limits.ts";
import { isChange, type Step } from "./plan.ts";
import { type Planned, planWish, type Wish } from "./planning.ts";
import type { Reading } from "./present.ts";
import { rehearse } from "./rehearse.ts";
import {
  AppliedConfiguration,
  ApplyBody,
  Configuration,
  ConfigurationDrift,
  ConfigurationPlan,
  KindParameters,
  PlanBody,
  type RecordChange,
  type Summary,
} from "./types.ts";

interface ConfigurationDependencies {
  readonly sql: Sql;
  /** Every kind that files can describe, each behind those that it may refer to. */
  readonly kinds: readonly ConfigKind[];
  readonly fingerprints: Fingerprints;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const PATH = "/api/v1/config";
const TAG = "Configuration";
const read = { role: "admin", scope: "account:read" } as const;
const write = { role: "admin", scope: "account:write" } as const;
/** Ends a transaction whose work is to be undone. */
class Undone extends Error {}
/** What verbs refuse besides. */
const REFUSALS = ["KQL_INVALID", "ALERT_URL_BLOCKED", "TARGET_BLOCKED", "PLAN_LIMIT_MONITORS"] as const;

/** What an organisation has set up, as files describe it, and how it becomes what they say. */
export function configurationRoutes(deps: ConfigurationDependencies) {
  const kinds = new Map(deps.kinds.map((kind) => [kind.kind, kind]));
  const admission = new Admission({
    what: "a comparison of configuration",
    dependency: "postgres",
    maxRunning: READINGS_MAX_RUNNING,
    maxWaiting: READINGS_MAX_WAITING,
    maxRunningOfOne: READINGS_MAX_RUNNING_OF_ONE,
    maxWaitingOfOne: READINGS_MAX_WAITING_OF_ONE,
  });
  const reading = <T>(
    { principal, request }: AuthenticatedContext,
    work: (reading: Reading) => Promise<T>,
  ): Promise<T> =>
    admission.run({ organizationId: principal.organizationId }, request.signal, () =>
      askPostgres(
        () =>
          inOrganization(deps.sql, principal.organizationId, (tx) => work(readingIn(deps, principal, tx))),
        CHANGE_TIMEOUT_MS,
      ),
    );
  return [
    route({
      method: "GET",
      path: PATH,
      tag: TAG,
      summary: "Describe everything that is set up as files do",
      access: read,
      query: KindParameters,
      responses: { 200: { description: "By kind and key; secrets are not in it", schema: Configuration } },
      errors: ["CONFLICT"],
      handler: async (context, { query }) => {
        const { readable, leftOut } = readableKinds(kinds, query.kinds, context.principal);
        const resources = await reading(context, (at) => exportRecords(at, kinds, readable));
        return { status: 200, body: { resources, leftOut } };
      },
    }),
    route({
      method: "GET",
      path: `${PATH}/drift`,
      tag: TAG,
      summary: "Find what was changed by other means since files were last applied",
      access: read,
      responses: { 200: { description: "Record by record", schema: ConfigurationDrift } },
      errors: ["CONFLICT"],
      handler: async (context) => {
        const { readable, leftOut } = readableKinds(kinds, undefined, context.principal);
        const drift = await reading(context, (at) => findDrift(at, kinds, readable));
        return { status: 200, body: { ...drift, leftOut } };
      },
    }),
    route({
      method: "POST",
      path: `${PATH}/plan`,
      tag: TAG,
      summary: "Find out what files would change",
      effect: "read",
      access: write,
      body: { kind: "json", schema: PlanBody, maxBytes: BODY_MAX_BYTES },
      responses: { 200: { description: "Nothing is done yet", schema: ConfigurationPlan } },
      errors: ["CONFLICT", ...REFUSALS],
      handler: async (context, { body }) => ({
        status: 200,
        body: answerOf(
          await undoing((undo: (planned: Planned) => never) =>
            reading(context, async (at) => {
              const { principal } = context;
              const planned = await planWish(at, wishOf(body), { kinds, principal });
              // Only what may be applied at once can be tried at once.
              if (planned.steps.filter(isChange).length <= CHANGED_MAX)
                await rehearse(at, planned, principal);
              return undo(planned);
            }),
          ),
        ),
      }),
    }),
    route({
      method: "POST",
      path: `${PATH}/apply`,
      tag: TAG,
      summary: "Make the organisation what files say, all of it or nothing",
      access: write,
      audit: "APPLY_CONFIGURATION",
      body: { kind: "json", schema: ApplyBody, maxBytes: BODY_MAX_BYTES },
      responses: { 200: { description: "What was done", schema: AppliedConfiguration } },
      errors: ["CONFLICT", "PLAN_STALE", ...REFUSALS],
      handler: ({ principal, change }, { body }) =>
        change(async (made) => {
          const at = { ...readingIn(deps, principal, made.tx), nowMs: made.nowMs };
          await lockOrganization(made.tx, made.organizationId);
          const planned = await planWish(at, wishOf(body), {
            ...{ kinds, principal },
            onCompared: (compared) => lockRecords(at, compared),
          });
          requirePlan(planned, body.planId);
          for (const { kind } of planned.steps.filter(isChange)) requireAccess(kind.write, principal);
          const applyId = crypto.randomUUID();
          await applyPlan(made, planned, at, applyId);
          const answer = answerOf(planned);
          made.record({ resource: "configuration", facts: { applyId, ...answer.summary } });
          return { status: 200, body: { applyId, ...answer } };
        }),
    }),
  ];
}

/** What `undo` is called with, once the transaction in which that was is undone. */
async function undoing<T>(work: (undo: (result: T) => never) => Promise<never>): Promise<T> {
  const results: T[] = [];
  try {
    return await work((result) => {
      results.push(result);
      throw new Undone("undone on purpose");
    });
  } catch (error) {
    const [result] = results;
    if (error instanceof Undone && result !== undefined) return result;
    throw error;
  }
}

function readingIn(
  { fingerprints, now }: ConfigurationDependencies,
  { organizationId }: Principal,
  tx: Reading["tx"],
): Reading {
  return { tx, organizationId, nowMs: now(), fingerprints };
}

/** Until the change ends nobody else changes the records of these kinds. */
async function lockRecords({ tx, organizationId }: Reading, kinds: readonly ConfigKind[]): Promise<void> {
  for (const { table } of kinds)
    if (table !== null)
      await tx`
        SELECT 1 FROM ${tx(table)} WHERE organization_id = ${organizationId} ORDER BY id FOR NO KEY UPDATE`;
}

/** Throws PLAN_STALE where what was looked at is not what would be done, and CONFLICT where that is too much. */
function requirePlan({ planId, steps }: Planned, looked: string | undefined): void {
  if (looked !== undefined && looked !== planId)
    throw new ApiError("PLAN_STALE", "Something has changed since this plan was made; make another one.");
  const changed = steps.filter(isChange).length;
  if (changed > CHANGED_MAX)
    throw new ApiError(
      "CONFLICT",
      `${changed} records would change, and ${CHANGED_MAX} are the most at once; apply the files in parts.`,
    );
}

function wishOf({ resources, adopt = false, prune = false }: PlanBody): Wish {
  return { resources, adopt, prune };
}

/** The kinds asked for that the caller may read, and the others. Throws VALIDATION_FAILED for what is no kind. */
function readableKinds(
  kinds: ReadonlyMap<string, ConfigKind>,
  asked: readonly string[] | undefined,
  principal: Principal,
): { readable: ConfigKind[]; leftOut: string[] } {
  const unknown = asked?.find((name) => !kinds.has(name));
  if (unknown !== undefined)
    throw validationFailed([
      { path: "/kinds", code: "invalid_literal", message: `must be of ${[...kinds.keys()].join(", ")}` },
    ]);
  const wanted = [...kinds.values()].filter(({ kind }) => asked === undefined || asked.includes(kind));
  const readable = wanted.filter((kind) => mayCall(kind.read, principal));
  return { readable, leftOut: wanted.filter((kind) => !readable.includes(kind)).map(({ kind }) => kind) };
}

function answerOf({ planId, steps }: Planned): ConfigurationPlan {
  const count = (action: Step["action"]): number => steps.filter((step) => step.action === action).length;
  const summary: Summary = {
    ...{ create: count("create"), update: count("update"), drift: count("drift"), replace: count("replace") },
    ...{ delete: count("delete"), orphan: count("orphan"), unchanged: count("unchanged") },
    adopt: steps.filter(({ isAdopted }) => isAdopted).length,
    move: steps.filter(({ movedFrom }) => movedFrom !== null).length,
  };
  const changes = steps
    .filter((step) => isChange(step) || step.action === "orphan")
    .map(
      ({ kind, key, action, isAdopted, movedFrom, fields }): RecordChange => ({
        ...{ kind: kind.kind, key, action, isAdopted, movedFrom },
        fields: [...fields],
      }),
    );
  return { planId, hasChanges: steps.some(isChange), summary, changes };
}
