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

const k8s = (attrs: Record<string, unknown>): SampleEntry => ({ message: "request", attrs });

export const KUBERNETES: Pack = {
  id: "kubernetes",
  name: "Kubernetes",
  description: "The audit log of the API server: who does what in the cluster.",
  expects: {
    sources: "the audit log of Kubernetes, by a source with its preset",
    kql: "isnotempty(objectRef.resource) and isnotempty(verb)",
  },
  rules: [
    {
      id: "k8s-anonymous-allowed",
      name: "The API server answered nobody in particular",
      description:
        "A request without a credential was answered. See what was asked and by which rule it is allowed.",
      ...{ severity: "high", attackTechnique: "T1078.001" },
      kql: 'user.username == "system:anonymous" and responseStatus.code < 400',
      ...{ threshold: 1, windowSec: 60, groupBy: ["sourceAddress"] },
      counts: k8s({
        user: { username: "system:anonymous" },
        responseStatus: { code: 200 },
        sourceIPs: ["203.0.113.7"],
      }),
      leaves: k8s({
        user: { username: "system:anonymous" },
        responseStatus: { code: 403 },
        sourceIPs: ["203.0.113.7"],
      }),
    },
    {
      id: "k8s-shell-in-container",
      name: "A shell was opened in a container",
      description: "Somebody works inside of a pod. Expected while repairing; anywhere else ask who it is.",
      ...{ severity: "medium", attackTechnique: "T1609" },
      kql: 'objectRef.resource == "pods" and objectRef.subresource in ("exec", "attach") and verb in ("create", "get")',
      ...{ threshold: 1, windowSec: 60, groupBy: ["userName"] },
      counts: k8s({
        verb: "create",
        objectRef: { resource: "pods", subresource: "exec" },
        user: { username: "ana" },
      }),
      leaves: k8s({
        verb: "get",
        objectRef: { resource: "pods", subresource: "log" },
        user: { username: "ana" },
      }),
    },
    {
      id: "k8s-secrets-listed",
      name: "Secrets were listed",
      description: "Whoever lists secrets has all of them. See whether the account has to.",
      ...{ severity: "high", attackTechnique: "T1552.007" },
      kql: 'objectRef.resource == "secrets" and verb in ("list", "watch") and not(user.username startswith "system:")',
      ...{ threshold: 3, windowSec: 300, groupBy: ["userName"] },
      counts: k8s({ verb: "list", objectRef: { resource: "secrets" }, user: { username: "ana" } }),
      leaves: k8s({
        verb: "list",
        objectRef: { resource: "secrets" },
        user: { username: "system:kube-controller-manager" },
      }),
    },
    {
      id: "k8s-cluster-admin-bound",
      name: "The role of the cluster's administrator was given",
      description: "Somebody may do everything in the cluster. See who it is and who gave it.",
      ...{ severity: "critical", attackTechnique: "T1098.006" },
      kql: 'objectRef.resource == "clusterrolebindings" and verb in ("create", "update", "patch") and requestObject.roleRef.name == "cluster-admin"',
      ...{ threshold: 1, windowSec: 60, groupBy: ["userName"] },
      counts: k8s({
        verb: "create",
        objectRef: { resource: "clusterrolebindings" },
        requestObject: { roleRef: { name: "cluster-admin" } },
      }),
      leaves: k8s({
        verb: "create",
        objectRef: { resource: "clusterrolebindings" },
        requestObject: { roleRef: { name: "view" } },
      }),
    },
    {
      id: "k8s-privileged-pod",
      name: "A pod with the rights of its node was made",
      description: "What runs in it can leave the container. See which image it is and who made it.",
      ...{ severity: "high", attackTechnique: "T1611" },
      kql: 'objectRef.resource == "pods" and verb == "create" and (tostring(requestObject) contains "\\"privileged\\":true" or tostring(requestObject) contains "\\"hostPID\\":true")',
      ...{ threshold: 1, windowSec: 60, groupBy: ["userName"] },
      counts: k8s({
        verb: "create",
        objectRef: { resource: "pods" },
        requestObject: { spec: { hostPID: true } },
      }),
      leaves: k8s({
        verb: "create",
        objectRef: { resource: "pods" },
        requestObject: { spec: { hostPID: false } },
      }),
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
