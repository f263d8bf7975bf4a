import type { Sql } from "postgres";
import { deliveriesOfIncident, type ShownDelivery } from "../../notify/deliveries/delivery-list.ts";
import { askPostgres } from "../../storage/ask-postgres.ts";
import { inOrganization } from "../../storage/organization-transaction.ts";
import type { ContactDependencies } from "./contact-methods.ts";
import { contactRoutes } from "./contact-routes.ts";
import { alertDefaultRoutes } from "./routes.ts";

/** Who is told of what. */
export function notificationDomain(deps: ContactDependencies) {
  return { routes: [...alertDefaultRoutes(deps), ...contactRoutes(deps)] };
}

/** Whom an incident was told to, oldest first. */
export function readDeliveries(
  { sql }: { sql: Sql },
  organizationId: number,
  incidentId: number,
): Promise<ShownDelivery[]> {
  return askPostgres(() =>
    inOrganization(sql, organizationId, (tx) => deliveriesOfIncident(tx, organizationId, incidentId)),
  );
}
