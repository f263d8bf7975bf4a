import { listedRules } from "./listed-rules.ts";
import { EACH, type Pack, type SampleEntry } from "./pack.ts";

const event = (eventType: string, attrs: Readonly<Record<string, unknown>> = {}): SampleEntry => ({
  ...{ message: eventType, service: "okta" },
  attrs: {
    ...{ eventType, actor: { alternateId: "ana@example.com" }, client: { ipAddress: "203.0.113.7" } },
    ...attrs,
  },
});

export const OKTA: Pack = {
  id: "okta",
  name: "Okta: threats and configuration",
  description: "What Okta itself takes for an attack, and changes of providers and applications.",
  expects: {
    sources: "the system log of Okta, by a source with the preset okta-system-log",
    kql: "isnotempty(eventType) and isnotempty(actor.alternateId)",
  },
  rules: [
    ...listedRules(
      {
        ...{ field: "eventType", operator: "in", also: "", groupBy: ["userName"] },
        ...{ sample: event, ordinary: "user.authentication.sso" },
      },
      [
        {
          id: "okta-provider-changed",
          name: "An identity provider was added or changed",
          description: "Whoever owns it signs in as anybody. See whose it is.",
          ...{ severity: "high", attackTechnique: "T1484.002" },
          values: [
            "system.idp.lifecycle.create",
            "system.idp.lifecycle.update",
            "system.idp.lifecycle.activate",
          ],
        },
        {
          id: "okta-signed-in-by-provider",
          name: "Somebody signed in by another identity provider",
          description: "Expected only where such a provider is in use. See which it was.",
          ...{ severity: "medium", attackTechnique: "T1199" },
          values: ["user.authentication.auth_via_IDP"],
        },
        {
          id: "okta-threat-seen",
          name: "Okta sees an attack on sign-ins",
          description: "Passwords are sprayed or stuffed. See whether one of the addresses signed in.",
          ...{ severity: "high", attackTechnique: "T1110.003", groupBy: ["sourceAddress"] },
          values: ["security.threat.detected"],
        },
        {
          id: "okta-factor-suspended",
          name: "A second factor was suspended",
          description: "The owner cannot use it, and may have to prove less. Ask by another way.",
          ...{ severity: "medium", attackTechnique: "T1556.006" },
          values: ["user.mfa.factor.suspend"],
        },
        {
          id: "okta-user-reports-activity",
          name: "A user reports something that they did not do",
          description: "They know best. End the sessions, and reset password and factors.",
          ...{ severity: "high", attackTechnique: "T1078.004" },
          values: ["user.account.report_suspicious_activity_by_enduser"],
        },
        {
          id: "okta-token-made",
          name: "A token for Okta's own interface was made",
          description: "It acts with the rights of whoever made it. See what it is for.",
          ...{ severity: "medium", attackTechnique: "T1098.001" },
          values: ["system.api_token.create"],
        },
        {
          id: "okta-zone-changed",
          name: "A network zone was changed",
          description: "More addresses may be trusted, or fewer refused. Compare the zone.",
          ...{ severity: "medium", attackTechnique: "T1562.007" },
          values: ["zone.update", "zone.deactivate", "zone.delete"],
        },
        {
          id: "okta-acted-as-user",
          name: "Support acts with the rights of an administrator",
          description: "Access was granted to Okta's support. See whether you asked for it, and end it.",
          ...{ severity: "medium", attackTechnique: "T1199" },
          values: ["user.session.impersonation.initiate", "user.session.impersonation.grant"],
        },
      ],
    ),
    {
      id: "okta-sign-in-by-proxy",
      name: "A sign-in came by an anonymising proxy",
      description: "The real address is hidden. Ask the owner, and end the session.",
      ...{ severity: "medium", attackTechnique: "T1090.003", ...EACH, groupBy: ["userName"] },
      kql: 'eventType == "user.session.start" and tobool(securityContext.isProxy) == true',
      counts: event("user.session.start", { securityContext: { isProxy: true } }),
      leaves: event("user.session.start", { securityContext: { isProxy: false } }),
    },
    {
      id: "okta-console-from-new-device",
      name: "The administrators' console was opened by a new device and address",
      description: "An administrator's session may be stolen. Ask the administrator at once.",
      ...{ severity: "high", attackTechnique: "T1078.004", ...EACH, groupBy: ["userName"] },
      kql: String.raw`eventType == "policy.evaluate_sign_on" and tostring(target) contains "Okta Admin Console" and ((tostring(debugContext.debugData.behaviors) contains "New Device=POSITIVE" and tostring(debugContext.debugData.behaviors) contains "New IP=POSITIVE") or (debugContext.debugData.logOnlySecurityData.behaviors.["New Device"] == "POSITIVE" and debugContext.debugData.logOnlySecurityData.behaviors.["New IP"] == "POSITIVE") or (tostring(debugContext.debugData.logOnlySecurityData) contains "\"New Device\":\"POSITIVE\"" and tostring(debugContext.debugData.logOnlySecurityData) contains "\"New IP\":\"POSITIVE\""))`,
      counts: event("policy.evaluate_sign_on", {
        target: [{ displayName: "Okta Admin Console" }],
        debugContext: { debugData: { behaviors: "{New Device=POSITIVE, New IP=POSITIVE}" } },
      }),
      leaves: event("policy.evaluate_sign_on", {
        target: [{ displayName: "Okta Admin Console" }],
        debugContext: { debugData: { behaviors: "{New Device=NEGATIVE, New IP=POSITIVE}" } },
      }),
    },
    {
      id: "okta-other-organisation-connected",
      name: "Another Okta organisation was connected",
      description: "Its users may come in here. See whose organisation it is.",
      ...{ severity: "high", attackTechnique: "T1484.002", ...EACH, groupBy: ["userName"] },
      kql: 'eventType in ("application.lifecycle.create", "application.lifecycle.update", "application.lifecycle.activate") and tostring(target) contains "Org2Org"',
      counts: event("application.lifecycle.create", { target: [{ displayName: "Okta Org2Org" }] }),
      leaves: event("application.lifecycle.create", { target: [{ displayName: "Wiki" }] }),
    },
    {
      id: "okta-passwords-pushed",
      name: "An application was set to receive passwords",
      description: "Passwords of users go there in the clear. See whose application it is.",
      ...{ severity: "high", attackTechnique: "T1556", ...EACH, groupBy: ["userName"] },
      kql: 'eventType == "application.lifecycle.update" and outcome.reason contains "pushing user passwords"',
      counts: event("application.lifecycle.update", { outcome: { reason: "Pushing user passwords" } }),
      leaves: event("application.lifecycle.update", { outcome: { reason: "Pushing profiles" } }),
    },
    {
      id: "okta-password-reset-by-system",
      name: "Okta's own account reset a password",
      description: "Support did it, or somebody who speaks for them. Ask the owner.",
      ...{ severity: "medium", attackTechnique: "T1098", ...EACH, groupBy: [] },
      kql: 'eventType in ("user.account.reset_password", "user.mfa.factor.update", "system.mfa.factor.deactivate") and actor.alternateId == "system@okta.com"',
      counts: event("user.account.reset_password", { actor: { alternateId: "system@okta.com" } }),
      leaves: event("user.account.reset_password"),
    },
  ],
};
