import { EACH, type Pack, type PackRule } from "./pack.ts";
import { googleCall, googlePermission } from "./samples.ts";

const BASE = { ...EACH, groupBy: ["userName"] } as const;
const GRANTED = String.raw`tostring(protoPayload.authorizationInfo) contains "\"granted\":true"`;

/** A rule about a permission that was used: which call needed it does not matter. */
const used = (
  permission: string,
  rule: Pick<PackRule, "id" | "name" | "description" | "severity" | "attackTechnique">,
): PackRule => ({
  ...{ ...rule, ...BASE },
  kql: String.raw`tostring(protoPayload.authorizationInfo) contains "\"${permission}\"" and ${GRANTED}`,
  counts: googleCall("SomeService.Call", googlePermission(permission)),
  leaves: googleCall("SomeService.Call", googlePermission(permission, false)),
});

const EXPECTS = {
  sources: "audit logs of Google Cloud, by a source with the preset gcp-audit",
  kql: "isnotempty(protoPayload.methodName)",
};

export const GCP_IDENTITY: Pack = {
  id: "gcp-identity",
  name: "Google Cloud: identities and rights",
  description: "Service accounts, keys and policies: what gives access, and who takes it.",
  expects: EXPECTS,
  rules: [
    used("iam.serviceAccounts.getAccessToken", {
      id: "gcp-token-of-account-taken",
      name: "A token of a service account was taken",
      description:
        "The caller acts as that account now. Expected of deployments; otherwise see what followed.",
      ...{ severity: "low", attackTechnique: "T1134" },
    }),
    used("iam.serviceAccounts.signBlob", {
      id: "gcp-signed-as-account",
      name: "Something was signed as a service account",
      description: "A signature becomes a token of that account. See who asked for it.",
      ...{ severity: "medium", attackTechnique: "T1134" },
    }),
    used("iam.serviceAccountKeys.create", {
      id: "gcp-key-right-used",
      name: "The right to make keys of service accounts was used",
      description:
        "A key works from everywhere and does not end by itself. See by which service it was made.",
      ...{ severity: "medium", attackTechnique: "T1098.001" },
    }),
    used("serviceusage.apiKeys.create", {
      id: "gcp-api-key-created",
      name: "A key for APIs was created",
      description: "It needs no account, and lies in programs. Restrict it, or delete it.",
      ...{ severity: "medium", attackTechnique: "T1098.001" },
    }),
    used("storage.hmacKeys.create", {
      id: "gcp-storage-key-created",
      name: "A key for storage was created",
      description: "It opens buckets by another way than accounts do. See who needs it.",
      ...{ severity: "high", attackTechnique: "T1098.001" },
    }),
    used("deploymentmanager.deployments.create", {
      id: "gcp-deployment-made",
      name: "Something was deployed with the rights of the deployment manager",
      description: "It acts as an editor of the project, whoever asks. Read the template.",
      ...{ severity: "medium", attackTechnique: "T1548" },
    }),
    used("orgpolicy.policy.set", {
      id: "gcp-organisation-policy-changed",
      name: "A policy of the organisation was changed",
      description: "What was forbidden everywhere may be allowed. Compare it with what was agreed.",
      ...{ severity: "high", attackTechnique: "T1562" },
    }),
    {
      id: "gcp-service-account-created",
      name: "A service account was created",
      description: "It keeps access for as long as nobody looks. Ask who wanted it.",
      ...{ severity: "low", attackTechnique: "T1136.003", ...BASE },
      kql: `protoPayload.methodName == "google.iam.admin.v1.CreateServiceAccount" and ${GRANTED}`,
      counts: googleCall(
        "google.iam.admin.v1.CreateServiceAccount",
        googlePermission("iam.serviceAccounts.create"),
      ),
      leaves: googleCall("google.iam.admin.v1.CreateServiceAccount", { status: { code: 7 } }),
    },
    {
      id: "gcp-account-refused",
      name: "An account is refused by the service of identities",
      description: "Somebody tries out what a credential may do. See whose it is.",
      ...{ severity: "medium", attackTechnique: "T1087.004", threshold: 5, windowSec: 300 },
      groupBy: ["userName"],
      kql: 'protoPayload.status.code == 7 and protoPayload.methodName startswith "google.iam.admin.v1."',
      counts: googleCall("google.iam.admin.v1.CreateServiceAccount", { status: { code: 7 } }),
      leaves: googleCall("google.iam.admin.v1.CreateServiceAccount", { status: {} }),
    },
    {
      id: "gcp-role-changed",
      name: "A role of one's own was made or changed",
      description: "All who have it may do more. See which permissions were added.",
      ...{ severity: "low", attackTechnique: "T1098.003", ...BASE },
      kql: 'protoPayload.methodName in ("google.iam.admin.v1.CreateRole", "google.iam.admin.v1.UpdateRole", "google.iam.admin.v1.UndeleteRole")',
      counts: googleCall("google.iam.admin.v1.CreateRole"),
      leaves: googleCall("google.iam.admin.v1.ListRoles"),
    },
    {
      id: "gcp-account-impersonation-given",
      name: "Somebody may act as a service account or make its keys",
      description: "The account's rights are theirs from now on. See who it is.",
      ...{ severity: "medium", attackTechnique: "T1098.003", ...BASE },
      kql: 'protoPayload.methodName contains "SetIAMPolicy" and (tostring(protoPayload.request.policy.bindings) contains "roles/iam.serviceAccountTokenCreator" or tostring(protoPayload.request.policy.bindings) contains "roles/iam.serviceAccountKeyAdmin")',
      counts: googleCall("google.iam.admin.v1.SetIAMPolicy", {
        request: { policy: { bindings: [{ role: "roles/iam.serviceAccountTokenCreator" }] } },
      }),
      leaves: googleCall("google.iam.admin.v1.SetIAMPolicy", {
        request: { policy: { bindings: [{ role: "roles/viewer" }] } },
      }),
    },
    {
      id: "gcp-owner-added",
      name: "Somebody became an owner or editor",
      description: "The role allows nearly everything in the project. See who it is, and who gave it.",
      ...{ severity: "high", attackTechnique: "T1098.003", ...BASE },
      kql: String.raw`protoPayload.methodName =~ "SetIamPolicy" and tostring(protoPayload.serviceData.policyDelta.bindingDeltas) contains "\"ADD\"" and (tostring(protoPayload.serviceData.policyDelta.bindingDeltas) contains "roles/owner" or tostring(protoPayload.serviceData.policyDelta.bindingDeltas) contains "roles/editor")`,
      counts: googleCall("SetIamPolicy", {
        serviceData: { policyDelta: { bindingDeltas: [{ action: "ADD", role: "roles/owner" }] } },
      }),
      leaves: googleCall("SetIamPolicy", {
        serviceData: { policyDelta: { bindingDeltas: [{ action: "REMOVE", role: "roles/owner" }] } },
      }),
    },
    {
      id: "gcp-federation-changed",
      name: "A pool of identities from outside was made or changed",
      description: "Tokens of others become rights here. See whose, and with which condition.",
      ...{ severity: "high", attackTechnique: "T1484.002", ...BASE },
      kql: 'protoPayload.methodName contains "Pool" and protoPayload.methodName matches regex "(Create|Update)(WorkforcePool|WorkforcePoolProvider|WorkloadIdentityPool|WorkloadIdentityPoolProvider)$"',
      counts: googleCall("google.iam.v1.WorkloadIdentityPools.CreateWorkloadIdentityPoolProvider"),
      leaves: googleCall("google.iam.v1.WorkloadIdentityPools.DeleteWorkloadIdentityPool"),
    },
    {
      id: "gcp-guarded-service-opened",
      name: "Who may pass the proxy of identities was changed",
      description: "Somebody reaches a service that was guarded. See who it is.",
      ...{ severity: "low", attackTechnique: "T1098.003", ...BASE },
      kql: 'protoPayload.methodName == "google.cloud.iap.v1.IdentityAwareProxyAdminService.SetIamPolicy"',
      counts: googleCall("google.cloud.iap.v1.IdentityAwareProxyAdminService.SetIamPolicy"),
      leaves: googleCall("google.cloud.iap.v1.IdentityAwareProxyAdminService.GetIamPolicy"),
    },
  ],
};

export const GCP_RESOURCES: Pack = {
  id: "gcp-resources",
  name: "Google Cloud: resources",
  description: "Buckets, keys, networks and logs that are opened, locked or deleted.",
  expects: EXPECTS,
  rules: [
    {
      id: "gcp-log-store-deleted",
      name: "A store or sink of logs was deleted",
      description: "Logs are gone, or go nowhere. Make it again, and see who deleted it.",
      ...{ severity: "high", attackTechnique: "T1562.008", ...BASE },
      kql: 'protoPayload.methodName in ("google.logging.v2.ConfigServiceV2.DeleteBucket", "google.logging.v2.ConfigServiceV2.DeleteSink", "google.logging.v2.LoggingServiceV2.DeleteLog")',
      counts: googleCall("google.logging.v2.ConfigServiceV2.DeleteBucket"),
      leaves: googleCall("google.logging.v2.ConfigServiceV2.GetBucket"),
    },
    {
      id: "gcp-flow-logs-off",
      name: "Flow logs of a subnetwork were switched off",
      description: "Who speaks to whom is not written down any more. Switch them on again.",
      ...{ severity: "high", attackTechnique: "T1562.008", ...BASE },
      kql: 'protoPayload.methodName endswith "compute.subnetworks.patch" and tobool(protoPayload.request.enableFlowLogs) == false',
      counts: googleCall("v1.compute.subnetworks.patch", { request: { enableFlowLogs: false } }),
      leaves: googleCall("v1.compute.subnetworks.patch", { request: { enableFlowLogs: true } }),
    },
    {
      id: "gcp-perimeter-violated",
      name: "A request was stopped by a service perimeter",
      description: "Somebody outside asked for what is inside, or the other way round. See who.",
      ...{ severity: "medium", attackTechnique: "T1530", threshold: 3, windowSec: 600 },
      groupBy: ["userName"],
      kql: 'protoPayload.metadata.["@type"] endswith "VpcServiceControlAuditMetadata" or isnotempty(protoPayload.metadata.vpcServiceControlsUniqueId) or isnotempty(protoPayload.metadata.violationReason)',
      counts: googleCall("google.storage.objects.get", {
        metadata: { violationReason: "NO_MATCHING_ACCESS_LEVEL", vpcServiceControlsUniqueId: "a1" },
      }),
      leaves: googleCall("google.storage.objects.get"),
    },
    {
      id: "gcp-bucket-public",
      name: "A bucket was opened to everybody",
      description: "Anybody who knows a name has the data. Take the members away.",
      ...{ severity: "high", attackTechnique: "T1530", ...BASE },
      kql: String.raw`protoPayload.methodName == "storage.setIamPermissions" and (tostring(protoPayload.serviceData.policyDelta.bindingDeltas) contains "\"allUsers\"" or tostring(protoPayload.serviceData.policyDelta.bindingDeltas) contains "\"allAuthenticatedUsers\"")`,
      counts: googleCall("storage.setIamPermissions", {
        serviceData: { policyDelta: { bindingDeltas: [{ action: "ADD", member: "allUsers" }] } },
      }),
      leaves: googleCall("storage.setIamPermissions", {
        serviceData: { policyDelta: { bindingDeltas: [{ action: "ADD", member: "user:a@example.com" }] } },
      }),
    },
    {
      id: "gcp-bucket-deleted",
      name: "A bucket of Google Cloud was deleted",
      description: "What was in it may be gone. See whether it was planned.",
      ...{ severity: "medium", attackTechnique: "T1485", ...BASE },
      kql: 'protoPayload.methodName == "storage.buckets.delete"',
      counts: googleCall("storage.buckets.delete"),
      leaves: googleCall("storage.buckets.get"),
    },
    {
      id: "gcp-objects-rewritten",
      name: "One account rewrites many objects",
      description: "So data is encrypted in place. Stop the account, and see which key it used.",
      ...{ severity: "high", attackTechnique: "T1486", threshold: 200, windowSec: 300 },
      groupBy: ["userName"],
      kql: `protoPayload.methodName == "storage.objects.create" and tostring(protoPayload.authorizationInfo) contains "storage.objects.delete"`,
      counts: googleCall("storage.objects.create", {
        authorizationInfo: [
          { permission: "storage.objects.create", granted: true },
          { permission: "storage.objects.delete", granted: true },
        ],
      }),
      leaves: googleCall("storage.objects.create", googlePermission("storage.objects.create")),
    },
    {
      id: "gcp-key-disabled",
      name: "A version of a key was disabled or destroyed",
      description: "What it encrypts cannot be read any more. It can be restored for a while.",
      ...{ severity: "high", attackTechnique: "T1485", ...BASE },
      kql: 'protoPayload.methodName == "DestroyCryptoKeyVersion" or (protoPayload.methodName == "UpdateCryptoKeyVersion" and protoPayload.request.cryptoKeyVersion.state == "DISABLED")',
      counts: googleCall("DestroyCryptoKeyVersion"),
      leaves: googleCall("UpdateCryptoKeyVersion", { request: { cryptoKeyVersion: { state: "ENABLED" } } }),
    },
    {
      id: "gcp-storage-encrypts-much",
      name: "Storage encrypts much with a key of a customer",
      description: "Objects are written again under a key. Expected of a rotation; otherwise stop it.",
      ...{ severity: "medium", attackTechnique: "T1486", threshold: 500, windowSec: 300, groupBy: [] },
      kql: 'protoPayload.methodName == "Encrypt" and protoPayload.authenticationInfo.principalEmail endswith "gs-project-accounts.iam.gserviceaccount.com" and isempty(protoPayload.status.code)',
      counts: googleCall("Encrypt", {
        authenticationInfo: { principalEmail: "service-1@gs-project-accounts.iam.gserviceaccount.com" },
      }),
      leaves: googleCall("Encrypt"),
    },
    {
      id: "gcp-firewall-rule-made",
      name: "A rule of a firewall was made",
      description: "Something may be reached that could not be. See which addresses and ports it allows.",
      ...{ severity: "low", attackTechnique: "T1562.007", ...BASE },
      kql: 'protoPayload.methodName contains "firewall" and protoPayload.methodName matches regex "(?i)(compute\\\\.firewalls\\\\.insert|firewall\\\\.createingressrule)$"',
      counts: googleCall("v1.compute.firewalls.insert"),
      leaves: googleCall("v1.compute.firewalls.patch"),
    },
    {
      id: "gcp-disk-or-image-shared",
      name: "Who may use a disk or an image was changed",
      description: "A copy of a machine may be taken elsewhere. See who was added.",
      ...{ severity: "medium", attackTechnique: "T1537", ...BASE },
      kql: 'protoPayload.methodName endswith ".setIamPolicy" and protoPayload.methodName matches regex "compute\\\\.(disks|images|snapshots)\\\\.setIamPolicy$"',
      counts: googleCall("v1.compute.images.setIamPolicy"),
      leaves: googleCall("v1.compute.images.get"),
    },
    {
      id: "gcp-run-opened",
      name: "Who may call a service of Cloud Run was changed",
      description: "Somebody, or everybody, may call it now. See who was added.",
      ...{ severity: "medium", attackTechnique: "T1098.003", ...BASE },
      kql: `protoPayload.methodName == "google.cloud.run.v1.Services.SetIamPolicy" and ${GRANTED}`,
      counts: googleCall(
        "google.cloud.run.v1.Services.SetIamPolicy",
        googlePermission("run.services.setIamPolicy"),
      ),
      leaves: googleCall(
        "google.cloud.run.v1.Services.SetIamPolicy",
        googlePermission("run.services.setIamPolicy", false),
      ),
    },
    {
      id: "gcp-startup-script-set",
      name: "A script at the start of machines was set",
      description: "It runs as root on them. Read it, and see who set it.",
      ...{ severity: "medium", attackTechnique: "T1037", ...BASE },
      kql: 'protoPayload.methodName contains "compute.projects.setCommonInstanceMetadata" and (tostring(protoPayload.metadata) contains "startup-script" or tostring(protoPayload.request.metadata.items) contains "startup-script" or tostring(protoPayload.metadata.projectMetadataDelta.addedMetadataKeys) contains "startup-script")',
      counts: googleCall("v1.compute.projects.setCommonInstanceMetadata", {
        metadata: { projectMetadataDelta: { addedMetadataKeys: ["startup-script"] } },
      }),
      leaves: googleCall("v1.compute.projects.setCommonInstanceMetadata", {
        metadata: { projectMetadataDelta: { addedMetadataKeys: ["owner"] } },
      }),
    },
  ],
};
