import { EACH, type Pack, type PackRule, type SampleEntry } from "./pack.ts";

type Attributes = Readonly<Record<string, unknown>>;

const act = (serviceName: string, actionName: string, attrs: Attributes = {}): SampleEntry => ({
  ...{ message: `${serviceName} ${actionName} by ana@example.com`, service: "databricks" },
  attrs: {
    ...{
      serviceName,
      actionName,
      userIdentity: { email: "ana@example.com" },
      sourceIPAddress: "203.0.113.7",
    },
    ...{ response: { statusCode: 200 }, ...attrs },
  },
});

const acts = (
  rule: Omit<PackRule, "kql" | "counts" | "leaves" | "groupBy" | "threshold" | "windowSec">,
  serviceName: string,
  actions: readonly [string, ...string[]],
): PackRule => ({
  ...{ ...rule, ...EACH, groupBy: ["userName"] },
  kql: `serviceName == "${serviceName}" and actionName in (${actions.map((name) => `"${name}"`).join(", ")})`,
  ...{ counts: act(serviceName, actions[0]), leaves: act(serviceName, "login") },
});

export const DATABRICKS: Pack = {
  id: "databricks",
  name: "Databricks",
  description: "Administrators, tokens and secrets, and data that is deleted or asked for in vain.",
  expects: {
    sources: "the audit log of Databricks, by a source with the preset databricks-audit",
    kql: "isnotempty(serviceName) and isnotempty(actionName)",
  },
  rules: [
    acts(
      {
        id: "databricks-token-revoked",
        name: "A token was revoked in Databricks",
        description: "Programs with it are cut off. Planned, or somebody hides what they used.",
        ...{ severity: "low", attackTechnique: "T1070" },
      },
      "accounts",
      ["revokeDbToken"],
    ),
    acts(
      {
        id: "databricks-account-owner-made",
        name: "Somebody became an administrator of the Databricks account",
        description: "They may manage all workspaces. See who it is.",
        ...{ severity: "high", attackTechnique: "T1098.003" },
      },
      "accounts",
      ["setAccountAdmin", "changeAccountOwner"],
    ),
    acts(
      {
        id: "databricks-group-created",
        name: "A group was created in Databricks",
        description: "Groups carry rights. See what it is for.",
        ...{ severity: "low", attackTechnique: "T1136.003" },
      },
      "accounts",
      ["createGroup"],
    ),
    acts(
      {
        id: "databricks-group-deleted",
        name: "A group was deleted in Databricks",
        description: "Its members lose what it gave. See who did it.",
        ...{ severity: "low", attackTechnique: "T1531" },
      },
      "accounts",
      ["removeGroup"],
    ),
    acts(
      {
        id: "databricks-member-removed",
        name: "Somebody was removed from a group in Databricks",
        description: "Expected of people who leave; otherwise see who is locked out.",
        ...{ severity: "low", attackTechnique: "T1531" },
      },
      "accounts",
      ["removePrincipalFromGroup", "removePrincipalsFromGroup"],
    ),
    acts(
      {
        id: "databricks-user-created",
        name: "A user was created in Databricks",
        description: "Expected of people who begin; otherwise see who made it.",
        ...{ severity: "low", attackTechnique: "T1136.003" },
      },
      "accounts",
      ["createUser"],
    ),
    acts(
      {
        id: "databricks-password-changed",
        name: "A password was changed in Databricks",
        description: "Where people come by single sign-on nobody needs one. Ask the owner.",
        ...{ severity: "low", attackTechnique: "T1098" },
      },
      "accounts",
      ["changePassword", "resetPassword"],
    ),
    acts(
      {
        id: "databricks-single-sign-on-changed",
        name: "Single sign-on of Databricks was changed",
        description: "Whoever owns the other side signs in as anybody. See what changed.",
        ...{ severity: "high", attackTechnique: "T1556" },
      },
      "ssoConfigBackend",
      ["create", "update", "delete"],
    ),
    acts(
      {
        id: "databricks-account-settings-changed",
        name: "Settings of the Databricks account were changed",
        description: "They hold for all workspaces. Compare them with what was agreed.",
        ...{ severity: "medium", attackTechnique: "T1562" },
      },
      "accounts",
      ["updateAccountSettings", "updateIpAccessList", "deleteIpAccessList"],
    ),
    {
      id: "databricks-administrators-joined",
      name: "Somebody joined a group of administrators in Databricks",
      description: "They have its rights from now on. See who it is and who added them.",
      ...{ severity: "high", attackTechnique: "T1098.003", ...EACH, groupBy: ["userName"] },
      kql: 'serviceName == "accounts" and actionName in ("addPrincipalToGroup", "addPrincipalsToGroup") and requestParams.targetGroupName contains "admin"',
      counts: act("accounts", "addPrincipalToGroup", {
        requestParams: { targetGroupName: "account-admins" },
      }),
      leaves: act("accounts", "addPrincipalToGroup", { requestParams: { targetGroupName: "analysts" } }),
    },
    {
      id: "databricks-workspace-administrator-made",
      name: "Somebody became an administrator of a workspace in Databricks",
      description: "They may manage its users, clusters and jobs. See who it is.",
      ...{ severity: "medium", attackTechnique: "T1098.003", ...EACH, groupBy: ["userName"] },
      kql: 'serviceName == "accounts" and actionName == "setAdmin" and isnotempty(workspaceId) and tostring(workspaceId) != "0"',
      counts: act("accounts", "setAdmin", { workspaceId: "1234567890123456" }),
      leaves: act("accounts", "setAdmin"),
    },
    {
      id: "databricks-much-deleted",
      name: "Tables, schemas or notebooks are deleted in a row",
      description: "Data is being destroyed. Stop the account, and restore while that is possible.",
      ...{ severity: "high", attackTechnique: "T1485", threshold: 10, windowSec: 600, groupBy: ["userName"] },
      kql: 'actionName matches regex "^(delete|drop|trash|purge)[A-Z]?" and serviceName in ("unityCatalog", "workspace", "clusters", "jobs", "notebook") and userIdentity.email != "System-User"',
      counts: act("unityCatalog", "deleteTable"),
      leaves: act("unityCatalog", "createTable"),
    },
    {
      id: "databricks-secrets-read",
      name: "One account reads secret after secret in Databricks",
      description: "Jobs read their own few. See which were read, and change them.",
      ...{
        severity: "medium",
        attackTechnique: "T1555",
        threshold: 30,
        windowSec: 600,
        groupBy: ["userName"],
      },
      kql: 'serviceName == "secrets" and actionName == "getSecret" and userIdentity.email != "System-User"',
      counts: act("secrets", "getSecret"),
      leaves: act("secrets", "getSecret", { userIdentity: { email: "System-User" } }),
    },
    {
      id: "databricks-data-refused",
      name: "Credentials for data are asked for in vain",
      description: "Somebody tries tables, volumes and shares that they may not read. See who.",
      ...{ severity: "high", attackTechnique: "T1530", threshold: 5, windowSec: 600, groupBy: ["userName"] },
      kql: 'response.statusCode in (401, 403) and ((serviceName == "unityCatalog" and actionName startswith "generateTemporary") or serviceName == "deltaSharingAccess")',
      counts: act("unityCatalog", "generateTemporaryTableCredential", { response: { statusCode: 403 } }),
      leaves: act("unityCatalog", "generateTemporaryTableCredential"),
    },
    {
      id: "databricks-catalog-refused",
      name: "Requests to the catalogue are refused repeatedly",
      description: "Somebody looks for what they can reach. See who it is.",
      ...{
        severity: "medium",
        attackTechnique: "T1580",
        threshold: 10,
        windowSec: 600,
        groupBy: ["userName"],
      },
      kql: 'serviceName == "unityCatalog" and response.statusCode in (401, 403)',
      counts: act("unityCatalog", "getCatalog", { response: { statusCode: 403 } }),
      leaves: act("unityCatalog", "getCatalog"),
    },
    {
      id: "databricks-scanned-for-secrets",
      name: "Databricks is searched by a scanner for leaked secrets",
      description: "A token was found somewhere and is tried. Revoke it, then look for the place.",
      ...{ severity: "high", attackTechnique: "T1552", ...EACH, groupBy: ["userName"] },
      kql: 'isnotempty(actionName) and userAgent contains "trufflehog"',
      counts: act("accounts", "login", { userAgent: "TruffleHog" }),
      leaves: act("accounts", "login", { userAgent: "Mozilla/5.0" }),
    },
    {
      id: "databricks-verbose-audit-off",
      name: "The verbose audit log of Databricks was switched off",
      description: "What is run in notebooks is not written down any more. Switch it on again.",
      ...{ severity: "high", attackTechnique: "T1562.008", ...EACH, groupBy: ["userName"] },
      kql: 'serviceName == "workspace" and actionName == "workspaceConfEdit" and requestParams.workspaceConfKeys == "enableVerboseAuditLogs" and tostring(requestParams.workspaceConfValues) == "false"',
      counts: act("workspace", "workspaceConfEdit", {
        requestParams: { workspaceConfKeys: "enableVerboseAuditLogs", workspaceConfValues: "false" },
      }),
      leaves: act("workspace", "workspaceConfEdit", {
        requestParams: { workspaceConfKeys: "enableVerboseAuditLogs", workspaceConfValues: "true" },
      }),
    },
  ],
};
