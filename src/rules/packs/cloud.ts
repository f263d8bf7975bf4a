import type { Pack, SampleEntry } from "./pack.ts";

const aws = ({
  eventName,
  ...attrs
}: {
  readonly eventName: string;
  readonly [name: string]: unknown;
}): SampleEntry => ({
  message: eventName,
  attrs: {
    eventVersion: "1.09",
    recipientAccountId: "111122223333",
    sourceIPAddress: "203.0.113.7",
    eventName,
    ...attrs,
  },
});

export const CLOUD_AWS: Pack = {
  id: "cloud-aws",
  name: "Amazon Web Services",
  description: "CloudTrail: sign-ins, keys, rights, and what switches off the watching.",
  expects: {
    sources: "CloudTrail, by a source with the preset aws-cloudtrail",
    kql: "isnotempty(eventName) and isnotempty(eventSource)",
  },
  rules: [
    {
      id: "aws-root-acted",
      name: "The root user of an account acted",
      description: "Nobody needs it day by day. Ask who it was, and see what else was done.",
      ...{ severity: "high", attackTechnique: "T1078.004" },
      kql: 'userIdentity.type == "Root" and eventType != "AwsServiceEvent" and isempty(errorCode) and isempty(errorMessage) and tostring(readOnly) != "true" and eventName != "CreateServiceLinkedRole"',
      ...{ threshold: 1, windowSec: 60, groupBy: ["recipientAccountId"] },
      counts: aws({ eventName: "CreateUser", eventType: "AwsApiCall", userIdentity: { type: "Root" } }),
      leaves: aws({ eventName: "CreateUser", eventType: "AwsApiCall", userIdentity: { type: "IAMUser" } }),
    },
    {
      id: "aws-console-without-mfa",
      name: "Somebody signed in to the console without a second factor",
      description: "A password alone is enough for this user. Require a second factor.",
      ...{ severity: "medium", attackTechnique: "T1078.004" },
      kql: 'eventName == "ConsoleLogin" and responseElements.ConsoleLogin == "Success" and additionalEventData.MFAUsed == "No"',
      ...{ threshold: 1, windowSec: 60, groupBy: ["userName"] },
      counts: aws({
        eventName: "ConsoleLogin",
        responseElements: { ConsoleLogin: "Success" },
        additionalEventData: { MFAUsed: "No" },
      }),
      leaves: aws({
        eventName: "ConsoleLogin",
        responseElements: { ConsoleLogin: "Success" },
        additionalEventData: { MFAUsed: "Yes" },
      }),
    },
    {
      id: "aws-console-failures",
      name: "Sign-ins to the console fail repeatedly",
      description: "Passwords are guessed from one address. See whether one of them worked.",
      ...{ severity: "medium", attackTechnique: "T1110" },
      kql: 'eventName == "ConsoleLogin" and responseElements.ConsoleLogin == "Failure"',
      ...{ threshold: 5, windowSec: 600, groupBy: ["sourceAddress"] },
      counts: aws({ eventName: "ConsoleLogin", responseElements: { ConsoleLogin: "Failure" } }),
      leaves: aws({ eventName: "ConsoleLogin", responseElements: { ConsoleLogin: "Success" } }),
    },
    {
      id: "aws-trail-stopped",
      name: "A trail was stopped or changed",
      description: "What happens next may not be written down. Switch it on again, then see who did it.",
      ...{ severity: "critical", attackTechnique: "T1562.008" },
      kql: 'eventName in ("StopLogging", "DeleteTrail", "UpdateTrail", "PutEventSelectors") and isempty(errorCode)',
      ...{ threshold: 1, windowSec: 60, groupBy: ["recipientAccountId"] },
      counts: aws({ eventName: "StopLogging", eventSource: "cloudtrail.amazonaws.com" }),
      leaves: aws({ eventName: "DescribeTrails", eventSource: "cloudtrail.amazonaws.com" }),
    },
    {
      id: "aws-detection-off",
      name: "GuardDuty, Config or Security Hub was switched off",
      description: "The account is watched less than before. Switch it on again, then see who did it.",
      ...{ severity: "critical", attackTechnique: "T1562.001" },
      kql: 'eventName in ("DeleteDetector", "DeleteConfigurationRecorder", "StopConfigurationRecorder", "DeleteDeliveryChannel", "DisableSecurityHub") and isempty(errorCode)',
      ...{ threshold: 1, windowSec: 60, groupBy: ["recipientAccountId"] },
      counts: aws({ eventName: "DeleteDetector" }),
      leaves: aws({ eventName: "GetDetector" }),
    },
    {
      id: "aws-access-key-created",
      name: "An access key was created",
      description: "A key works from everywhere and does not end by itself. See whether it was wanted.",
      ...{ severity: "medium", attackTechnique: "T1098.001" },
      kql: 'eventSource == "iam.amazonaws.com" and eventName == "CreateAccessKey"',
      ...{ threshold: 1, windowSec: 60, groupBy: ["userName"] },
      counts: aws({ eventName: "CreateAccessKey", eventSource: "iam.amazonaws.com" }),
      leaves: aws({ eventName: "ListAccessKeys", eventSource: "iam.amazonaws.com" }),
    },
    {
      id: "aws-administrator-policy",
      name: "The policy of an administrator was attached",
      description: "Somebody may do everything from now on. See who it is and who gave it.",
      ...{ severity: "high", attackTechnique: "T1098.003" },
      kql: 'eventName in ("AttachUserPolicy", "AttachRolePolicy", "AttachGroupPolicy") and requestParameters.policyArn endswith "/AdministratorAccess" and isempty(errorCode)',
      ...{ threshold: 1, windowSec: 60, groupBy: ["userName"] },
      counts: aws({
        eventName: "AttachUserPolicy",
        requestParameters: { policyArn: "arn:aws:iam::aws:policy/AdministratorAccess" },
      }),
      leaves: aws({
        eventName: "AttachUserPolicy",
        requestParameters: { policyArn: "arn:aws:iam::aws:policy/ReadOnlyAccess" },
      }),
    },
    {
      id: "aws-denied-burst",
      name: "Many calls of one user are denied",
      description: "Somebody finds out what a credential may do. See whether it is in wrong hands.",
      ...{ severity: "medium", attackTechnique: "T1580" },
      kql: 'errorCode in ("AccessDenied", "AccessDeniedException", "Client.UnauthorizedOperation")',
      ...{ threshold: 20, windowSec: 300, groupBy: ["userName"] },
      counts: aws({ eventName: "ListBuckets", errorCode: "AccessDenied" }),
      leaves: aws({ eventName: "ListBuckets", errorCode: "ThrottlingException" }),
    },
    {
      id: "aws-bucket-policy-changed",
      name: "Who may read a bucket was changed",
      description: "A bucket may be open to everybody. See what its policy says now.",
      ...{ severity: "high", attackTechnique: "T1530" },
      kql: 'eventSource == "s3.amazonaws.com" and eventName in ("PutBucketAcl", "PutBucketPolicy", "DeleteBucketPublicAccessBlock") and isempty(errorCode)',
      ...{ threshold: 1, windowSec: 60, groupBy: ["recipientAccountId"] },
      counts: aws({ eventName: "PutBucketAcl", eventSource: "s3.amazonaws.com" }),
      leaves: aws({ eventName: "GetBucketAcl", eventSource: "s3.amazonaws.com" }),
    },
    {
      id: "aws-key-deletion",
      name: "A key of KMS is to be deleted or was disabled",
      description:
        "What is encrypted with it cannot be read afterwards. Cancel the deletion unless it is wanted.",
      ...{ severity: "high", attackTechnique: "T1485" },
      kql: 'eventSource == "kms.amazonaws.com" and eventName in ("ScheduleKeyDeletion", "DisableKey")',
      ...{ threshold: 1, windowSec: 60, groupBy: ["recipientAccountId"] },
      counts: aws({ eventName: "ScheduleKeyDeletion", eventSource: "kms.amazonaws.com" }),
      leaves: aws({ eventName: "EnableKey", eventSource: "kms.amazonaws.com" }),
    },
  ],
};

export const CLOUD_AZURE: Pack = {
  id: "cloud-azure",
  name: "Microsoft Azure",
  description: "Activity logs: rights, and what switches off the watching.",
  expects: {
    sources: "activity logs of Azure, by a source with its preset",
    kql: "isnotempty(operationName)",
  },
  rules: [
    {
      id: "azure-diagnostics-deleted",
      name: "Diagnostic settings were deleted",
      description: "A resource sends its logs no longer. Set them again, then see who did it.",
      ...{ severity: "high", attackTechnique: "T1562.008" },
      kql: 'operationName =~ "Microsoft.Insights/diagnosticSettings/delete"',
      ...{ threshold: 1, windowSec: 60, groupBy: ["resourceId"] },
      counts: { message: "delete", attrs: { operationName: "MICROSOFT.INSIGHTS/DIAGNOSTICSETTINGS/DELETE" } },
      leaves: { message: "write", attrs: { operationName: "MICROSOFT.INSIGHTS/DIAGNOSTICSETTINGS/WRITE" } },
    },
    {
      id: "azure-role-assigned",
      name: "A role was given",
      description: "Somebody may do more than before. See who it is and which role.",
      ...{ severity: "medium", attackTechnique: "T1098.003" },
      kql: 'operationName =~ "Microsoft.Authorization/roleAssignments/write"',
      ...{ threshold: 1, windowSec: 60, groupBy: ["sourceAddress"] },
      counts: { message: "write", attrs: { operationName: "Microsoft.Authorization/roleAssignments/write" } },
      leaves: { message: "read", attrs: { operationName: "Microsoft.Authorization/roleAssignments/read" } },
    },
  ],
};

export const CLOUD_GCP: Pack = {
  id: "cloud-gcp",
  name: "Google Cloud",
  description: "Audit logs: keys, and what switches off the watching.",
  expects: {
    sources: "audit logs of Google Cloud, by a source with its preset",
    kql: "isnotempty(protoPayload.methodName)",
  },
  rules: [
    {
      id: "gcp-sink-changed",
      name: "A sink of logs was changed or deleted",
      description: "Logs may go elsewhere or nowhere. Set it right, then see who did it.",
      ...{ severity: "high", attackTechnique: "T1562.008" },
      kql: 'protoPayload.methodName endswith "ConfigServiceV2.DeleteSink" or protoPayload.methodName endswith "ConfigServiceV2.UpdateSink"',
      ...{ threshold: 1, windowSec: 60, groupBy: ["userName"] },
      counts: {
        message: "sink",
        attrs: { protoPayload: { methodName: "google.logging.v2.ConfigServiceV2.DeleteSink" } },
      },
      leaves: {
        message: "sink",
        attrs: { protoPayload: { methodName: "google.logging.v2.ConfigServiceV2.ListSinks" } },
      },
    },
    {
      id: "gcp-service-key-created",
      name: "A key of a service account was created",
      description: "A key works from everywhere and does not end by itself. See whether it was wanted.",
      ...{ severity: "medium", attackTechnique: "T1098.001" },
      kql: 'protoPayload.methodName endswith "CreateServiceAccountKey"',
      ...{ threshold: 1, windowSec: 60, groupBy: ["userName"] },
      counts: {
        message: "key",
        attrs: { protoPayload: { methodName: "google.iam.admin.v1.CreateServiceAccountKey" } },
      },
      leaves: {
        message: "key",
        attrs: { protoPayload: { methodName: "google.iam.admin.v1.ListServiceAccountKeys" } },
      },
    },
  ],
};
