import type { SecretBox } from "../../access/secret-box.ts";
import { type BelongingRouteDependencies, belongingRoutes } from "./belonging-routes.ts";
import { invitePageRoutes } from "./invite-page.ts";
import { type InviteRouteDependencies, inviteRoutes } from "./invite-routes.ts";
import { memberRoutes } from "./member-routes.ts";
import { webhookSecretRoutes } from "./webhook-secret-routes.ts";

interface OrganizationRouteDependencies extends BelongingRouteDependencies, InviteRouteDependencies {
  readonly box: SecretBox;
}

/** Members, invites, a person's several organisations, and the secret of an organisation's webhooks. */
export function organizationRoutes(deps: OrganizationRouteDependencies) {
  return [
    ...memberRoutes(deps),
    ...inviteRoutes(deps),
    ...invitePageRoutes(),
    ...belongingRoutes(deps),
    ...webhookSecretRoutes(deps),
  ];
}
