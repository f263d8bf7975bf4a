import { EACH, type Pack, type SampleEntry } from "./pack.ts";

type Properties = Readonly<Record<string, unknown>>;

const signIn = (properties: Properties, resultType = "0"): SampleEntry => ({
  message: "Sign-in activity ana@example.com",
  attrs: {
    ...{ category: "SignInLogs", operationName: "Sign-in activity", resultType },
    ...{
      callerIpAddress: "203.0.113.7",
      properties: { userPrincipalName: "ana@example.com", ...properties },
    },
  },
});
const change = (operationName: string, properties: Properties = {}): SampleEntry => ({
  message: operationName,
  attrs: {
    ...{ category: "AuditLogs", operationName },
    properties: {
      ...{ result: "success", initiatedBy: { user: { userPrincipalName: "ana@example.com" } } },
      ...properties,
    },
  },
});
const modified = (name: string, newValue: string): Properties => ({
  targetResources: [{ displayName: "policy", modifiedProperties: [{ displayName: name, newValue }] }],
});

export const ENTRA: Pack = {
  id: "entra",
  name: "Microsoft Entra ID",
  description: "Risky sign-ins, and changes of who may sign in and how.",
  expects: {
    sources:
      "sign-ins and the audit log of Entra ID, by sources with the presets entra-sign-in and entra-audit",
    kql: 'category endswith "SignInLogs" or category == "AuditLogs"',
  },
  rules: [
    {
      id: "entra-account-locked",
      name: "An account of Entra ID is locked",
      description: "It failed too often. See from which addresses, and whether one sign-in worked.",
      ...{
        severity: "medium",
        attackTechnique: "T1110",
        threshold: 3,
        windowSec: 600,
        groupBy: ["userName"],
      },
      kql: "properties.status.errorCode == 50053 and not(properties.autonomousSystemNumber in (8075))",
      counts: signIn({ status: { errorCode: 50053 } }, "50053"),
      leaves: signIn({ status: { errorCode: 50126 } }, "50126"),
    },
    {
      id: "entra-password-guessing",
      name: "Passwords are guessed at Entra ID",
      description: "One address fails again and again. Block it, and see whether one sign-in worked.",
      ...{ severity: "medium", attackTechnique: "T1110.003", threshold: 20, windowSec: 600 },
      groupBy: ["sourceAddress"],
      kql: "properties.status.errorCode in (50126, 50034, 50056)",
      counts: signIn({ status: { errorCode: 50126 } }, "50126"),
      leaves: signIn({ status: { errorCode: 0 } }),
    },
    {
      id: "entra-sign-in-at-high-risk",
      name: "A sign-in at high risk",
      description: "Entra ID doubts that it is the owner. End the sessions, and reset the password.",
      ...{ severity: "high", attackTechnique: "T1078.004", ...EACH, groupBy: ["userName"] },
      kql: 'properties.riskLevelDuringSignIn =~ "high" and not(properties.riskState in~ ("dismissed", "remediated"))',
      counts: signIn({ riskLevelDuringSignIn: "high", riskState: "atRisk" }),
      leaves: signIn({ riskLevelDuringSignIn: "high", riskState: "dismissed" }),
    },
    {
      id: "entra-confirmed-compromised",
      name: "An account is confirmed to be in other hands",
      description: "Lock it, end its sessions, and see what it did since.",
      ...{ severity: "critical", attackTechnique: "T1078.004", ...EACH, groupBy: ["userName"] },
      kql: 'properties.riskState =~ "confirmedCompromised"',
      counts: signIn({ riskState: "confirmedCompromised" }),
      leaves: signIn({ riskState: "none" }),
    },
    {
      id: "entra-risky-failure",
      name: "A sign-in at some risk failed",
      description: "One fails by chance. Many of one address or account are somebody who tries.",
      ...{ severity: "low", attackTechnique: "T1110", threshold: 5, windowSec: 600 },
      groupBy: ["sourceAddress"],
      kql: 'category endswith "SignInLogs" and properties.status.errorCode != 0 and properties.riskState != "dismissed" and isnotempty(properties.riskState) and (properties.riskLevelAggregated in ("low", "medium", "high") or properties.riskLevelDuringSignIn in ("low", "medium", "high"))',
      counts: signIn(
        { status: { errorCode: 50126 }, riskState: "none", riskLevelAggregated: "low" },
        "50126",
      ),
      leaves: signIn(
        { status: { errorCode: 50126 }, riskState: "none", riskLevelAggregated: "none" },
        "50126",
      ),
    },
    {
      id: "entra-editor-asks-for-mail",
      name: "A code editor signed in for the directory and mail",
      description: "Links of phishing use its name to get a token. Ask the owner, and end the sessions.",
      ...{ severity: "medium", attackTechnique: "T1528", ...EACH, groupBy: ["userName"] },
      kql: 'properties.appId == "aebc6443-996d-45c2-90f0-388ff96faa56" and properties.resourceId == "00000003-0000-0000-c000-000000000000" and properties.status.errorCode == 0',
      counts: signIn({
        ...{ appId: "aebc6443-996d-45c2-90f0-388ff96faa56", status: { errorCode: 0 } },
        resourceId: "00000003-0000-0000-c000-000000000000",
      }),
      leaves: signIn({
        ...{ appId: "aebc6443-996d-45c2-90f0-388ff96faa56", status: { errorCode: 0 } },
        resourceId: "499b84ac-1321-427f-aa17-267ca6975798",
      }),
    },
    {
      id: "entra-device-code-used",
      name: "Somebody signed in with a code for a device",
      description: "Such codes are sent in phishing. Expected of televisions and servers; otherwise ask.",
      ...{ severity: "medium", attackTechnique: "T1528", ...EACH, groupBy: ["userName"] },
      kql: 'properties.authenticationProtocol =~ "deviceCode" and properties.status.errorCode == 0',
      counts: signIn({ authenticationProtocol: "deviceCode", status: { errorCode: 0 } }),
      leaves: signIn({ authenticationProtocol: "none", status: { errorCode: 0 } }),
    },
    {
      id: "entra-conditional-access-changed",
      name: "A policy of conditional access was changed or deleted",
      description: "Signing in may ask for less than before. Compare the policy with what was agreed.",
      ...{ severity: "medium", attackTechnique: "T1556.009", ...EACH, groupBy: ["userName"] },
      kql: 'operationName in~ ("Delete conditional access policy", "Delete policy", "Update policy") and properties.result =~ "success"',
      counts: change("Delete conditional access policy"),
      leaves: change("Add conditional access policy"),
    },
    {
      id: "entra-second-factor-policy-off",
      name: "A policy that asks for a second factor was switched off",
      description: "A password alone is enough from now on. Switch it on again.",
      ...{ severity: "high", attackTechnique: "T1556.006", ...EACH, groupBy: ["userName"] },
      kql: `operationName =~ "Update conditional access policy" and properties.result =~ "success" and tostring(properties.targetResources) contains "mfa" and tostring(properties.targetResources) matches regex "newValue.*state[^a-z]{1,12}disabled"`,
      counts: change("Update conditional access policy", {
        ...modified("ConditionalAccessPolicy", '{"state":"disabled","grantControls":["mfa"]}'),
      }),
      leaves: change("Update conditional access policy", {
        ...modified("ConditionalAccessPolicy", '{"state":"enabled","grantControls":["mfa"]}'),
      }),
    },
    {
      id: "entra-openid-source-changed",
      name: "Where tokens of external sign-ins are checked was changed",
      description: "Whoever owns the new address signs in as anybody. Set it back at once.",
      ...{ severity: "high", attackTechnique: "T1556.009", ...EACH, groupBy: ["userName"] },
      kql: 'operationName contains "authentication methods policy" and tostring(properties.targetResources) contains "openid"',
      counts: change(
        "Authentication Methods Policy Update",
        modified("OpenIdConnectDiscoveryUrl", "https://a"),
      ),
      leaves: change("Authentication Methods Policy Update", modified("SmsSettings", "on")),
    },
    {
      id: "entra-role-given",
      name: "A role of administrators was given in Entra ID",
      description: "Somebody may manage the directory. See who it is, and for how long.",
      ...{ severity: "high", attackTechnique: "T1098.003", ...EACH, groupBy: ["userName"] },
      kql: `operationName in~ ("Add member to role", "Add eligible member to role") and tostring(properties.targetResources) contains "administrator"`,
      counts: change("Add member to role", modified("Role.DisplayName", "Global Administrator")),
      leaves: change("Add member to role", modified("Role.DisplayName", "Directory Readers")),
    },
    {
      id: "entra-consent-for-all",
      name: "An application got consent for the whole organisation",
      description: "It may read what it asked for of everybody. See its publisher and its permissions.",
      ...{ severity: "medium", attackTechnique: "T1528", ...EACH, groupBy: ["userName"] },
      kql: 'operationName =~ "Consent to application" and tostring(properties.targetResources) matches regex "IsAdminConsent.*True"',
      counts: change("Consent to application", modified("ConsentContext.IsAdminConsent", '"True"')),
      leaves: change("Consent to application", modified("ConsentContext.IsAdminConsent", '"False"')),
    },
    {
      id: "entra-application-secret-added",
      name: "A secret was added to an application",
      description: "Whoever has it acts as the application. Expected of deployments; otherwise remove it.",
      ...{ severity: "medium", attackTechnique: "T1098.001", ...EACH, groupBy: ["userName"] },
      kql: 'operationName contains "Certificates and secrets management" or operationName =~ "Add service principal credentials"',
      counts: change("Update application – Certificates and secrets management"),
      leaves: change("Update application"),
    },
    {
      id: "entra-trust-added",
      name: "A domain was federated or its trust changed",
      description:
        "Whoever owns the other side signs in as whoever they like of the domain. Check it at once.",
      ...{ severity: "critical", attackTechnique: "T1484.002", ...EACH, groupBy: ["userName"] },
      kql: 'operationName in~ ("Set federation settings on domain", "Set domain authentication")',
      counts: change("Set federation settings on domain"),
      leaves: change("Verify domain"),
    },
    {
      id: "entra-security-information-removed",
      name: "A second factor of Entra ID was removed",
      description: "A password alone may be enough. Ask the owner by another way.",
      ...{ severity: "medium", attackTechnique: "T1556.006", ...EACH, groupBy: ["userName"] },
      kql: 'operationName in~ ("User deleted security info", "Admin deleted security info", "Disable Strong Authentication")',
      counts: change("Admin deleted security info"),
      leaves: change("User registered security info"),
    },
    {
      id: "entra-guest-invited-often",
      name: "Many guests are invited",
      description: "Guests read what is shared with everybody. See who invites whom.",
      ...{ severity: "low", attackTechnique: "T1136.003", threshold: 10, windowSec: 3600 },
      groupBy: ["userName"],
      kql: 'operationName =~ "Invite external user" and properties.result =~ "success"',
      counts: change("Invite external user"),
      leaves: change("Redeem external user invite"),
    },
  ],
};
