import type { SecretBox } from "../../access/secret-box.ts";
import type { ConfigKind } from "../../configuration/config-kind.ts";
import { settingKind } from "../../configuration/setting-kind.ts";
import { SEALED_CHANNELS } from "../../notify/alert-channels.ts";
import type { OutboundPolicy } from "../../outbound/outbound-policy.ts";
import { AlertDefaultsBody, openDefaults, putDefaults } from "./defaults.ts";

/** Whom an organisation tells where nothing else is said, as files describe it. */
export function alertChannelKind(deps: {
  readonly box: SecretBox;
  readonly policy: OutboundPolicy;
}): ConfigKind {
  return settingKind({
    kind: "alert-channels",
    action: "UPDATE_ALERT_CHANNELS",
    read: { role: "viewer", scope: "account:read" },
    write: { role: "admin", scope: "account:write" },
    body: AlertDefaultsBody,
    defaults: { templates: [] },
    secrets: [...SEALED_CHANNELS, "templates"],
    references: [{ at: ["escalationPolicyId"], to: "escalation-policies" }],
    find: (tx, organizationId) => openDefaults(tx, deps.box, organizationId),
    put: (change, body) => putDefaults(change, deps, body),
  });
}
