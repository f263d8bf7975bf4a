import type { Sql, TransactionSql } from "postgres";
import { type Static, Type } from "typebox";
import { ApiError, validationFailed } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import {
  endOfWork,
  type MaintenanceWindow,
  readWindows,
  windowsOfMonitor,
} from "../../maintenance/windows.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { defaultPolicyId, findPolicy, policyOfMonitor } from "./escalation-store.ts";
import { type PolicySnapshot, simulate } from "./next.ts";
import { reachOf } from "./reach.ts";

const Simulation = Type.Object(
  {
    steps: Type.Array(
      Type.Object({
        offsetSec: Type.Integer({ description: "Seconds after the incident opened.", examples: [600] }),
        userId: Type.Union([Type.Integer(), Type.Null()], {
          description:
            "Who is paged; null where nobody is on call, after which the next step of the first round follows at once.",
        }),
        step: Type.Integer({ description: "Of the policy, from 0." }),
        cycle: Type.Integer({ description: "How often all steps were taken before." }),
      }),
      { description: "Empty where no policy is set." },
    ),
  },
  { $id: "OnCallSimulation" },
);
type Simulation = Static<typeof Simulation>;

const Id = Type.Integer({ minimum: 1 });
const Parameters = Type.Object({
  monitorId: Type.Optional(Id),
  policyId: Type.Optional(Type.Integer({ minimum: 1, description: "In place of a monitor." })),
  at: Type.Optional(Type.String({ format: "date-time", description: "The present when absent." })),
});

/** The longest that a policy can take, all rounds together, is months; so far ahead turns are looked at. */
const AHEAD_MAX_MS = 400 * 24 * 60 * 60 * 1000;

/** Who would be paged, and when, if nobody answered. */
export function simulateRoute({ sql, now }: { sql: Sql; now: () => number }) {
  return route({
    method: "GET",
    path: "/api/v1/on-call/simulate",
    tag: "On-call",
    summary: "See who would be paged when, if an incident opened and nobody answered",
    access: { role: "viewer", scope: "on-call:read" },
    query: Parameters,
    responses: { 200: { description: "Every step, as the server would take it", schema: Simulation } },
    errors: ["NOT_FOUND"],
    handler: async ({ principal: { organizationId } }, { query }) => {
      const { monitorId, policyId } = query;
      if ((monitorId === undefined) === (policyId === undefined))
        throw validationFailed([
          { path: "/monitorId", code: "custom", message: "or `policyId` is needed, and not both" },
        ]);
      const at = query.at === undefined ? now() : Date.parse(query.at);
      const body = await askPostgres(() =>
        inOrganization(sql, organizationId, (tx) =>
          monitorId === undefined
            ? simulatePolicy(tx, organizationId, policyId ?? null, { at })
            : simulateMonitor(tx, organizationId, monitorId, at),
        ),
      );
      return { status: 200, body };
    },
  });
}

async function simulateMonitor(
  tx: TransactionSql,
  organizationId: number,
  monitorId: number,
  at: number,
): Promise<Simulation> {
  const own = await policyOfMonitor(tx, organizationId, monitorId);
  if (own === undefined) throw new ApiError("NOT_FOUND", "No such monitor.");
  const policyId = own ?? (await defaultPolicyId(tx, organizationId));
  if (policyId === null) return { steps: [] };
  const ahead = { fromMs: at, toMs: at + AHEAD_MAX_MS };
  const windows = windowsOfMonitor(await readWindows(tx, organizationId, [monitorId], ahead), monitorId);
  return simulatePolicy(tx, organizationId, policyId, { at, windows });
}

async function simulatePolicy(
  tx: TransactionSql,
  organizationId: number,
  policyId: number | null,
  { at, windows = [] }: { readonly at: number; readonly windows?: readonly MaintenanceWindow[] },
): Promise<Simulation> {
  const policy: PolicySnapshot | null =
    policyId === null ? null : await findPolicy(tx, organizationId, policyId);
  if (policy === null) throw new ApiError("NOT_FOUND", "No such escalation policy.");
  const { reach } = await reachOf(tx, organizationId, policy, { from: at, to: at + AHEAD_MAX_MS });
  const heldUntil = (moment: number) => endOfWork(windows, moment);
  // Within announced work nothing opens.
  let opensAt = at;
  for (let end = heldUntil(at); end !== null; end = heldUntil(end)) opensAt = end;
  return {
    steps: simulate(policy, opensAt, reach, heldUntil).map(({ step, cycle, userId, at: takenAt }) => ({
      ...{ step, cycle, userId },
      offsetSec: Math.round((takenAt - at) / 1000),
    })),
  };
}
