import type { Sql } from "postgres";
import type { SecretBox } from "../../access/secret-box.ts";
import { route } from "../../http/define-route.ts";
import type { OutboundPolicy } from "../../outbound/outbound-policy.ts";
import { AlertDefaults, AlertDefaultsBody, putDefaults, readDefaults } from "./defaults.ts";

interface NotificationRouteDependencies {
  readonly sql: Sql;
  readonly box: SecretBox;
  readonly policy: OutboundPolicy;
}

const PATH = "/api/v1/me/alert-channels";
const TAG = "Notifications";

/** Whom an organisation tells where nothing else is said. */
export function alertDefaultRoutes(deps: NotificationRouteDependencies) {
  return [
    route({
      method: "GET",
      path: PATH,
      tag: TAG,
      summary: "Read whom alerts reach that name nobody themselves",
      access: { role: "viewer", scope: "account:read" },
      responses: { 200: { description: "Without their secrets", schema: AlertDefaults } },
      handler: async ({ principal }) => ({
        status: 200,
        body: await readDefaults(deps.sql, principal.organizationId),
      }),
    }),
    route({
      method: "PUT",
      path: PATH,
      tag: TAG,
      summary: "Say whom alerts reach that name nobody themselves; replaces what was said before",
      access: { role: "admin", scope: "account:write" },
      audit: "UPDATE_ALERT_CHANNELS",
      body: { kind: "json", schema: AlertDefaultsBody },
      responses: { 200: { description: "As it is now", schema: AlertDefaults } },
      errors: ["ALERT_URL_BLOCKED"],
      handler: ({ change }, { body }) =>
        change(async (made) => ({ status: 200, body: await putDefaults(made, deps, body) })),
    }),
  ];
}
