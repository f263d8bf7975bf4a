import { listedRules } from "./listed-rules.ts";
import { EACH, type Pack, type SampleEntry } from "./pack.ts";

const done = (OperationName: string, event: Readonly<Record<string, unknown>> = {}): SampleEntry => ({
  ...{ message: `${OperationName} by ana@example.com`, service: "crowdstrike", source: "event-stream" },
  attrs: {
    metadata: { eventType: "AuthActivityAuditEvent" },
    event: { OperationName, Success: true, UserId: "ana@example.com", UserIp: "203.0.113.7", ...event },
  },
});

export const CROWDSTRIKE: Pack = {
  id: "crowdstrike",
  name: "CrowdStrike Falcon",
  description: "Detections of the sensors, and who manages them.",
  expects: {
    sources: "event streams of Falcon, by a source with the preset crowdstrike-event-stream",
    kql: 'service == "crowdstrike" and isnotempty(metadata.eventType)',
  },
  rules: [
    ...listedRules(
      {
        ...{ field: "event.OperationName", operator: "in", also: " and tobool(event.Success) == true" },
        ...{ groupBy: ["userName"], sample: done, ordinary: "userAuthenticate" },
      },
      [
        {
          id: "crowdstrike-key-deleted",
          name: "A key for Falcon's interface was deleted",
          description: "What reads or guards by it ends. See what used it.",
          ...{ severity: "medium", attackTechnique: "T1531" },
          values: ["DeleteAPIClients"],
        },
        {
          id: "crowdstrike-key-made",
          name: "A key for Falcon's interface was made",
          description: "It may do what its scopes say, on all machines. See what it is for.",
          ...{ severity: "medium", attackTechnique: "T1098.001" },
          values: ["CreateAPIClients"],
        },
        {
          id: "crowdstrike-password-changed",
          name: "A password was changed in Falcon",
          description: "Expected when its owner did. Ask the owner otherwise.",
          ...{ severity: "low", attackTechnique: "T1098" },
          values: ["changePassword", "resetPassword"],
        },
        {
          id: "crowdstrike-user-deleted",
          name: "A user was deleted in Falcon",
          description: "Several in a row lock the guards out. See who did it.",
          ...{ severity: "medium", attackTechnique: "T1531" },
          values: ["deleteUser"],
        },
        {
          id: "crowdstrike-prevention-changed",
          name: "A policy of prevention was changed in Falcon",
          description: "Machines may be guarded less. Compare it with what was agreed.",
          ...{ severity: "high", attackTechnique: "T1562.001" },
          values: ["delete_policy", "update_policy", "disable_policy", "create_exclusion"],
        },
      ],
    ),
    {
      id: "crowdstrike-administrator-made",
      name: "Somebody got a role of administrators in Falcon",
      description: "They may switch the guards off. See who it is and who gave it.",
      ...{ severity: "high", attackTechnique: "T1098.003", ...EACH, groupBy: ["userName"] },
      kql: String.raw`event.OperationName == "grantUserRoles" and tostring(event.AuditKeyValues) matches regex "\"([a-z_]+,)*([a-z_]+_)?admin[,\"]"`,
      counts: done("grantUserRoles", {
        AuditKeyValues: [{ Key: "roles", ValueString: "custom_reader,falconhost_admin" }],
      }),
      leaves: done("grantUserRoles", {
        AuditKeyValues: [{ Key: "roles", ValueString: "custom_non_admin_role" }],
      }),
    },
    {
      id: "crowdstrike-detection",
      name: "Falcon detected something on a machine",
      description: "See what it was, whether it was stopped, and what the machine did since.",
      ...{ severity: "high", attackTechnique: "T1204.002", ...EACH, groupBy: ["event.Hostname"] },
      kql: 'metadata.eventType in ("EppDetectionSummaryEvent", "DetectionSummaryEvent", "IdpDetectionSummaryEvent")',
      counts: {
        ...{ message: "detection", service: "crowdstrike", source: "event-stream" },
        attrs: { metadata: { eventType: "EppDetectionSummaryEvent" }, event: { Hostname: "pc-5" } },
      },
      leaves: done("userAuthenticate"),
    },
    {
      id: "crowdstrike-remote-session",
      name: "Somebody works on a machine by Falcon",
      description: "Such a session may do everything there. Ask who it is.",
      ...{ severity: "medium", attackTechnique: "T1219", ...EACH, groupBy: ["event.HostnameField"] },
      kql: 'metadata.eventType == "RemoteResponseSessionStartEvent"',
      counts: {
        ...{ message: "session", service: "crowdstrike", source: "event-stream" },
        attrs: {
          metadata: { eventType: "RemoteResponseSessionStartEvent" },
          event: { HostnameField: "pc-5", UserName: "ana" },
        },
      },
      leaves: done("userAuthenticate"),
    },
  ],
};
