import { route } from "../../../../http/define-route.ts";
import { type DeploymentDrainSettings, DrainSettings, PutDrainSettingsBody } from "./drain-settings.ts";

const PATH = "/api/v1/logs/ingest/platform-a/settings";
const write = { role: "admin", scope: "account:write" } as const;

/** How an organisation makes sure that logs come from its deployment platform. */
export function drainSettingsRoutes(settings: DeploymentDrainSettings) {
  return [
    route({
      method: "GET",
      path: PATH,
      tag: "Logs",
      summary: "Show what requests of the deployment platform's drain are held to",
      access: { role: "admin", scope: "account:read" },
      responses: { 200: { description: "The settings; the secret is not shown", schema: DrainSettings } },
      errors: ["NOT_FOUND"],
      handler: async ({ principal }) => ({
        status: 200,
        body: await settings.describe(principal.organizationId),
      }),
    }),
    route({
      method: "PUT",
      path: PATH,
      tag: "Logs",
      summary: "Set the secret and the verification code of the deployment platform's drain",
      access: write,
      audit: "SET_DEPLOYMENT_DRAIN_SETTINGS",
      body: { kind: "json", schema: PutDrainSettingsBody },
      responses: { 200: { description: "The settings as they are now", schema: DrainSettings } },
      handler: ({ change }, { body }) =>
        change(async (made) => ({ status: 200, body: await settings.put(made, body) })),
    }),
    route({
      method: "DELETE",
      path: PATH,
      tag: "Logs",
      summary: "Forget the secret and the verification code: unsigned requests are accepted",
      access: write,
      audit: "DELETE_DEPLOYMENT_DRAIN_SETTINGS",
      responses: { 204: { description: "Forgotten" } },
      errors: ["NOT_FOUND"],
      handler: ({ change }) =>
        change(async (made) => {
          await settings.remove(made);
          return { status: 204 };
        }),
    }),
  ];
}
