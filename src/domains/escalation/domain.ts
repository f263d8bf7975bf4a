import type { Sql } from "postgres";
import { memberAddresses } from "../../on-call/rotation-store.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import { type AcknowledgeDependencies, acknowledgeRoutes } from "./acknowledge-routes.ts";
import { policyOfIncident } from "./escalation-store.ts";
import type { Escalations } from "./escalations.ts";
import { reachOf } from "./reach.ts";
import { escalationRoutes } from "./routes.ts";
import { simulateRoute } from "./simulate-route.ts";

interface EscalationDomainDependencies extends AcknowledgeDependencies {
  readonly sql: Sql;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly escalations: Escalations;
}

/** Whom incidents reach until somebody answers. */
export function escalationDomain(deps: EscalationDomainDependencies) {
  const { escalations } = deps;
  return {
    routes: [...escalationRoutes(deps), simulateRoute(deps), ...acknowledgeRoutes(deps)],
    start: () => escalations.start(),
    stop: () => escalations.stop(),
  };
}

/** Who is on call for an incident now: whom the first step of its policy reaches. */
export function readOnCall(
  { sql, now }: { sql: Sql; now: () => number },
  organizationId: number,
  incidentId: number,
): Promise<{ userId: number; email: string } | null> {
  return askPostgres(() =>
    inOrganization(sql, organizationId, async (tx) => {
      const policy = await policyOfIncident(tx, organizationId, incidentId);
      const [first] = policy?.steps ?? [];
      if (policy === null || first === undefined) return null;
      const { reach } = await reachOf(tx, organizationId, policy, { from: now(), to: now() });
      const userId = reach(first, now());
      const email = userId === null ? undefined : (await memberAddresses(tx, organizationId)).get(userId);
      return userId === null || email === undefined ? null : { userId, email };
    }),
  );
}
