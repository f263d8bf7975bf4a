import type { SecretBox } from "../../access/secret-box.ts";
import { route } from "../../http/define-route.ts";
import { WebhookSecret } from "../../notify/types.ts";
import { readWebhookSecret, rotateWebhookSecret } from "../../notify/webhook-secrets.ts";

const PATH = "/api/v1/me/webhook-secret";

/** What receivers of the organisation's webhooks check their signatures with. */
export function webhookSecretRoutes({ box }: { box: SecretBox }) {
  return [
    route({
      method: "GET",
      path: PATH,
      tag: "Organisation",
      summary: "Show the secret that outgoing webhooks are signed with; every look is audited",
      access: { role: "admin", scope: "secrets:read" },
      audit: "READ_WEBHOOK_SECRET",
      responses: { 200: { description: "The present secret", schema: WebhookSecret } },
      handler: ({ change }) =>
        change(async (made) => ({ status: 200, body: await readWebhookSecret(made, box) })),
    }),
    route({
      method: "POST",
      path: `${PATH}/rotate`,
      tag: "Organisation",
      summary: "Replace the webhook secret; for a day webhooks are signed with the old one too",
      access: { role: "admin", scope: "account:write" },
      audit: "ROTATE_WEBHOOK_SECRET",
      responses: { 200: { description: "The new secret", schema: WebhookSecret } },
      errors: ["CONFLICT"],
      handler: ({ change }) =>
        change(async (made) => ({
          status: 200,
          body: await rotateWebhookSecret(made, box),
        })),
    }),
  ];
}
