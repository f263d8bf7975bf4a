import type { Sql, TransactionSql } from "postgres";
import { type Static, Type } from "typebox";
import { ApiError, validationFailed } from "../../errors.ts";
import { route } from "../../http/define-route.ts";
import { recordId } from "../../http/stored-values.ts";
import { readWindows, windowsOfMonitor } from "../../maintenance/windows.ts";
import { requireAskable } from "../../on-call/asked-range.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { defaultPolicyId, policyOfMonitor } from "./escalation-store.ts";
import { AHEAD_MAX_MS, simulatePolicy } from "./simulation.ts";

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
type Steps = Static<typeof Simulation>["steps"];

const Parameters = Type.Object({
  monitorId: Type.Optional(recordId()),
  policyId: Type.Optional(recordId({ description: "In place of a monitor." })),
  at: Type.Optional(Type.String({ format: "date-time", description: "The present when absent." })),
});

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
      requireAskable("/at", at);
      const steps = await askPostgres(() =>
        inOrganization(sql, organizationId, (tx) =>
          monitorId === undefined
            ? simulatePolicy(tx, organizationId, policyId ?? 0, { at })
            : simulateMonitor(tx, organizationId, monitorId, at),
        ),
      );
      return { status: 200, body: { steps } };
    },
  });
}

async function simulateMonitor(
  tx: TransactionSql,
  organizationId: number,
  monitorId: number,
  at: number,
): Promise<Steps> {
  const own = await policyOfMonitor(tx, organizationId, monitorId);
  if (own === undefined) throw new ApiError("NOT_FOUND", "No such monitor.");
  const policyId = own ?? (await defaultPolicyId(tx, organizationId));
  if (policyId === null) return [];
  const ahead = { fromMs: at, toMs: at + AHEAD_MAX_MS };
  const windows = windowsOfMonitor(await readWindows(tx, organizationId, [monitorId], ahead), monitorId);
  return simulatePolicy(tx, organizationId, policyId, { at, windows });
}
