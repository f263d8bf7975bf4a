import type { Pack, SampleEntry } from "./pack.ts";

const okta = ({
  eventType,
  ...attrs
}: {
  readonly eventType: string;
  readonly [name: string]: unknown;
}): SampleEntry => ({
  message: eventType,
  attrs: {
    actor: { alternateId: "ana@example.com" },
    client: { ipAddress: "203.0.113.7" },
    eventType,
    ...attrs,
  },
});

export const IDENTITY: Pack = {
  id: "idp",
  name: "Identity provider",
  description: "Sign-ins, second factors and rights at the identity provider.",
  expects: {
    sources: "the system log of Okta, by a source with its preset",
    kql: "isnotempty(eventType) and isnotempty(outcome.result)",
  },
  rules: [
    {
      id: "idp-sign-in-failures",
      name: "Sign-ins of one account fail",
      description: "Somebody guesses the password of an account. See whether one sign-in worked.",
      ...{ severity: "medium", attackTechnique: "T1110" },
      kql: 'eventType == "user.session.start" and outcome.result == "FAILURE"',
      ...{ threshold: 10, windowSec: 600, groupBy: ["userName"] },
      counts: okta({ eventType: "user.session.start", outcome: { result: "FAILURE" } }),
      leaves: okta({ eventType: "user.session.start", outcome: { result: "SUCCESS" } }),
    },
    {
      id: "idp-account-locked",
      name: "An account was locked",
      description: "It failed to sign in too often. Ask its owner before it is opened again.",
      ...{ severity: "low", attackTechnique: "T1110" },
      kql: 'eventType == "user.account.lock"',
      ...{ threshold: 1, windowSec: 60, groupBy: ["userName"] },
      counts: okta({ eventType: "user.account.lock" }),
      leaves: okta({ eventType: "user.account.unlock" }),
    },
    {
      id: "idp-factor-removed",
      name: "A second factor was removed",
      description: "A password alone opens the account from now on. Ask its owner by another way.",
      ...{ severity: "high", attackTechnique: "T1556.006" },
      kql: 'eventType in ("user.mfa.factor.deactivate", "user.mfa.factor.reset_all")',
      ...{ threshold: 1, windowSec: 60, groupBy: ["userName"] },
      counts: okta({ eventType: "user.mfa.factor.reset_all" }),
      leaves: okta({ eventType: "user.mfa.factor.activate" }),
    },
    {
      id: "idp-push-refused",
      name: "Somebody refuses pushes again and again",
      description:
        "Whoever has the password hopes that one push is confirmed by mistake. Change the password.",
      ...{ severity: "high", attackTechnique: "T1621" },
      kql: 'eventType == "user.mfa.okta_verify.deny_push"',
      ...{ threshold: 3, windowSec: 600, groupBy: ["userName"] },
      counts: okta({ eventType: "user.mfa.okta_verify.deny_push" }),
      leaves: okta({ eventType: "user.authentication.auth_via_mfa" }),
    },
    {
      id: "idp-administrator-made",
      name: "Rights of an administrator were given",
      description: "Somebody may manage the accounts of all. See who it is and who gave them.",
      ...{ severity: "high", attackTechnique: "T1098.003" },
      kql: 'eventType in ("user.account.privilege.grant", "group.privilege.grant")',
      ...{ threshold: 1, windowSec: 60, groupBy: ["userName"] },
      counts: okta({ eventType: "user.account.privilege.grant" }),
      leaves: okta({ eventType: "user.account.privilege.revoke" }),
    },
    {
      id: "idp-policy-weakened",
      name: "A policy of sign-ins was switched off",
      description: "Signing in may ask for less than before. See which policy, and switch it on again.",
      ...{ severity: "high", attackTechnique: "T1556" },
      kql: 'eventType in ("policy.lifecycle.deactivate", "policy.rule.deactivate", "policy.lifecycle.delete")',
      ...{ threshold: 1, windowSec: 60, groupBy: ["userName"] },
      counts: okta({ eventType: "policy.rule.deactivate" }),
      leaves: okta({ eventType: "policy.rule.add" }),
    },
  ],
};

const cef = (
  message: string,
  attrs: Record<string, unknown>,
  level: SampleEntry["level"] = "info",
): SampleEntry => ({
  ...{ message, level },
  attrs: { deviceVendor: "Example", src: "203.0.113.7", ...attrs },
});

export const FIREWALL: Pack = {
  id: "firewall",
  name: "Firewalls",
  description: "Events in CEF: scans, signatures and changes of the firewall itself.",
  expects: { sources: "firewalls that send CEF", kql: "isnotempty(deviceVendor)" },
  rules: [
    {
      id: "firewall-port-scan",
      name: "One address is denied again and again",
      description: "Ports or hosts are being scanned. See what it reached.",
      ...{ severity: "medium", attackTechnique: "T1046" },
      kql: 'deviceVendor != "" and deviceAction in~ ("deny", "denied", "drop", "block", "blocked")',
      ...{ threshold: 100, windowSec: 60, groupBy: ["sourceAddress"] },
      counts: cef("connection denied", { deviceAction: "Deny" }),
      leaves: cef("connection allowed", { deviceAction: "Allow" }),
    },
    {
      id: "firewall-intrusion",
      name: "A signature of high severity",
      description:
        "The firewall takes something for an attack. See whether it was stopped, and where it went.",
      ...{ severity: "high", attackTechnique: "T1190" },
      kql: 'deviceVendor != "" and level in ("error", "fatal") and (deviceEventClassId has "threat" or name contains "intrusion" or name contains "exploit")',
      ...{ threshold: 1, windowSec: 60, groupBy: ["sourceAddress"] },
      counts: cef("attack", { name: "Exploit attempt", deviceEventClassId: "100" }, "error"),
      leaves: cef("attack", { name: "Exploit attempt", deviceEventClassId: "100" }, "info"),
    },
    {
      id: "firewall-login-failed",
      name: "Sign-ins to a firewall fail",
      description: "Somebody guesses the password of its administrator.",
      ...{ severity: "medium", attackTechnique: "T1110" },
      kql: 'deviceVendor != "" and name has_any ("login", "logon") and message has_any ("failed", "failure")',
      ...{ threshold: 5, windowSec: 300, groupBy: ["sourceAddress"] },
      counts: cef("admin authentication failed", { name: "Admin login" }),
      leaves: cef("admin authenticated", { name: "Admin login" }),
    },
    {
      id: "firewall-configuration-changed",
      name: "The configuration of a firewall was changed",
      description: "See what was changed and whether it was planned.",
      ...{ severity: "low", attackTechnique: "T1562.004" },
      kql: 'deviceVendor != "" and name contains "config" and message contains "changed"',
      ...{ threshold: 1, windowSec: 60, groupBy: ["deviceVendor"] },
      counts: cef("policy changed by admin", { name: "Config" }),
      leaves: cef("policy read by admin", { name: "Config" }),
    },
  ],
};
