import type { Preset } from "./preset.ts";

/** Audit trails of services that people work with, and what guards of requests and machines report. */
export const AUDIT_LOG_PRESETS: readonly Preset[] = [
  {
    // Source: AWS WAF developer guide, log fields (timestamp in milliseconds, action, terminatingRuleId, httpRequest).
    name: "aws-waf",
    title: "AWS WAF",
    description: "Logs of web access control lists, as their delivery stream or bucket has them.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "timestamp", parse: "epoch_ms" },
      fields: {
        level: { from: "action", map: { BLOCK: "warn" }, default: "info" },
        service: { const: "aws-waf" },
        source: { from: "httpSourceName" },
        action: { from: "action" },
      },
      messageTemplate: "{action} {httpRequest.httpMethod} {httpRequest.uri} {terminatingRuleId}",
    },
    sample: {
      timestamp: 1772619330123,
      formatVersion: 1,
      webaclId: "arn:aws:wafv2:eu-central-1:123456789012:regional/webacl/shop/5d1f",
      terminatingRuleId: "Default_Action",
      terminatingRuleType: "REGULAR",
      action: "ALLOW",
      httpSourceName: "ALB",
      ruleGroupList: [],
      httpRequest: { clientIp: "203.0.113.9", country: "DE", uri: "/cart", httpMethod: "GET" },
    },
    signs: ["webaclId", "terminatingRuleId", "httpRequest.clientIp"],
  },
  {
    // Source: Google Workspace, Reports API, resource Activity (id.applicationName, actor.email, ipAddress, events).
    name: "google-workspace",
    title: "Google Workspace activities",
    description:
      "Activities of the Reports API, a record for each event: its type and name, its parameters by their names, and " +
      "id, actor and ipAddress of the activity beside them.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "id.time", parse: "iso" },
      fields: {
        level: { const: "info" },
        service: { from: "id.applicationName", default: "google-workspace" },
        source: { const: "google-workspace" },
      },
      messageTemplate: "{name} by {actor.email}",
    },
    sample: {
      kind: "admin#reports#activity",
      id: {
        time: "2026-03-04T10:15:30.123Z",
        uniqueQualifier: "358068855354",
        applicationName: "login",
        customerId: "C03az79cb",
      },
      actor: { email: "sam@example.com", profileId: "1136" },
      ipAddress: "203.0.113.9",
      type: "login",
      name: "login_failure",
      parameters: { login_type: "google_password" },
    },
    signs: ["id.applicationName", "id.uniqueQualifier", "name"],
  },
  {
    // Source: CrowdStrike, Falcon data replicator events (event_simpleName, aid, cid, timestamp in milliseconds).
    name: "crowdstrike-fdr",
    title: "CrowdStrike Falcon data replicator",
    description: "Events of sensors as the data replicator writes them to a bucket, one a line.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "timestamp", parse: "epoch_ms" },
      fields: {
        level: { const: "info" },
        service: { const: "crowdstrike" },
        host: { from: "ComputerName", fromDefault: "aid" },
        aid: { from: "aid" },
      },
      messageTemplate: "{event_simpleName} {CommandLine}{DomainName}",
    },
    sample: {
      timestamp: "1772619330123",
      event_simpleName: "ProcessRollup2",
      event_platform: "Win",
      aid: "17d0c1b2a3f4451e8a9b",
      cid: "5f3c8d7e6b5a4c3d",
      aip: "203.0.113.9",
      ImageFileName: "\\Device\\HarddiskVolume2\\Windows\\System32\\whoami.exe",
      CommandLine: "whoami /all",
      ParentBaseFileName: "cmd.exe",
    },
    signs: ["event_simpleName", "aid", "cid"],
  },
  {
    // Source: CrowdStrike, event streams dictionary (metadata.eventType, eventCreationTime in milliseconds; event).
    name: "crowdstrike-event-stream",
    title: "CrowdStrike Falcon event stream",
    description: "Events of the streaming interface, each with its metadata and event.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "metadata.eventCreationTime", parse: "auto" },
      fields: {
        level: { const: "info" },
        service: { const: "crowdstrike" },
        source: { const: "event-stream" },
      },
      messageTemplate:
        "{metadata.eventType} {event.OperationName}{event.Description} {event.UserId}{event.Hostname}",
    },
    sample: {
      metadata: {
        customerIDString: "5f3c8d7e6b5a4c3d",
        offset: 341329,
        eventType: "AuthActivityAuditEvent",
        eventCreationTime: 1772619330123,
        version: "1.0",
      },
      event: {
        UserId: "sam@example.com",
        UserIp: "203.0.113.9",
        OperationName: "userAuthenticate",
        Success: true,
      },
    },
    signs: ["metadata.eventType", "metadata.customerIDString", "event"],
  },
  {
    // Source: Databricks, audit log reference (serviceName, actionName, requestParams, response, userIdentity.email).
    name: "databricks-audit",
    title: "Databricks audit log",
    description: "Audit events as they are delivered to a bucket, or rows of the table system.access.audit.",
    format: "ndjson",
    mapping: {
      timestamp: { from: "timestamp", fromDefault: "event_time", parse: "auto" },
      fields: {
        level: {
          from: "response.statusCode",
          map: { "401": "warn", "403": "warn", "500": "error" },
          default: "info",
        },
        service: { const: "databricks" },
        event_id: { from: "requestId" },
        "response.statusCode": { from: "response.statusCode" },
      },
      messageTemplate: "{serviceName} {actionName} by {userIdentity.email}",
    },
    sample: {
      version: "2.0",
      timestamp: 1772619330123,
      workspaceId: "0",
      sourceIPAddress: "203.0.113.9",
      userIdentity: { email: "sam@example.com" },
      serviceName: "accounts",
      actionName: "login",
      requestId: "ServiceMain-4529754264",
      requestParams: { user: "sam@example.com" },
      response: { statusCode: 200 },
      auditLevel: "ACCOUNT_LEVEL",
    },
    signs: ["serviceName", "actionName", "userIdentity.email"],
  },
  {
    // Source: Duo, Admin API, authentication logs version 2 (isotimestamp, txid, result, reason, access_device).
    name: "duo-authentication",
    title: "Duo authentications",
    description: "Records of the Admin API's authentication log, version 2.",
    format: "json",
    mapping: {
      records: "authlogs",
      timestamp: { from: "isotimestamp", fromDefault: "timestamp", parse: "auto" },
      fields: {
        level: { from: "result", map: { denied: "warn", fraud: "error" }, default: "info" },
        service: { const: "duo" },
        event_id: { from: "txid" },
        result: { from: "result" },
      },
      messageTemplate: "{result} {user.name} {reason}",
    },
    sample: {
      isotimestamp: "2026-03-04T10:15:30.123+00:00",
      txid: "340a23e3-23f3-23c1-87dc-1491a23dfdbb",
      event_type: "authentication",
      factor: "duo_push",
      result: "success",
      reason: "user_approved",
      access_device: { ip: "203.0.113.9" },
      auth_device: { ip: "203.0.113.10", name: "phone" },
      application: { key: "DIY231J8BR23QK4UKBY8", name: "VPN" },
      user: { key: "DU3KC77WJ06Y5HIV7XKQ", name: "sam@example.com" },
    },
    signs: ["txid", "factor", "access_device.ip"],
  },
  {
    // Source: OneLogin, event resource and event types (event_type_id, created_at, actor_user_name, ipaddr).
    name: "onelogin",
    title: "OneLogin events",
    description: "Events as the broadcaster posts them or the events API lists them.",
    format: "json",
    mapping: {
      records: "data",
      timestamp: { from: "created_at", fromDefault: "event_timestamp", parse: "auto" },
      fields: {
        level: { from: "event_type_id", map: { "6": "warn", "9": "warn" }, default: "info" },
        service: { const: "onelogin" },
        event_id: { from: "uuid" },
        event_type_id: { from: "event_type_id" },
      },
      messageTemplate: "event {event_type_id} {user_name} by {actor_user_name}",
    },
    sample: {
      uuid: "0f7a1f4e-6d2c-4a0b-9d7e-3c8b5a4f2e1d",
      created_at: "2026-03-04T10:15:30.123Z",
      event_type_id: 5,
      account_id: 44444,
      actor_user_id: 123456,
      actor_user_name: "Sam Example",
      user_id: 123456,
      user_name: "Sam Example",
      ipaddr: "203.0.113.9",
      risk_score: 12,
    },
    signs: ["event_type_id", "actor_user_name", "user_name"],
  },
  {
    // Source: Slack, Audit Logs API (entries: id, date_create in seconds, action, actor.user, entity, context).
    name: "slack-audit",
    title: "Slack audit logs",
    description: "Entries of the Audit Logs API ({entries: [...]}), or one by one.",
    format: "json",
    mapping: {
      records: "entries",
      timestamp: { from: "date_create", parse: "auto" },
      fields: {
        level: { const: "info" },
        service: { const: "slack" },
        event_id: { from: "id" },
      },
      messageTemplate: "{action} by {actor.user.email}",
    },
    sample: {
      id: "0123a45b-6c7d-8900-e12f-3456789gh0i1",
      date_create: 1772619330,
      action: "user_login",
      actor: { type: "user", user: { id: "W123AB456", name: "sam", email: "sam@example.com" } },
      entity: { type: "user", user: { id: "W123AB456", name: "sam" } },
      context: { ip_address: "203.0.113.9", ua: "Mozilla/5.0", location: { domain: "example" } },
    },
    signs: ["date_create", "action", "actor.type", "context.ip_address"],
  },
  {
    // Source: Snyk, audit logs of groups and organisations (event, created, userId, orgId, groupId, content).
    name: "snyk-audit",
    title: "Snyk audit logs",
    description:
      "Audit logs of a group or an organisation, as the API lists them ({items: [...]}) or one by one.",
    format: "json",
    mapping: {
      records: "items",
      timestamp: { from: "created", parse: "iso" },
      fields: {
        message: { from: "event" },
        level: { const: "info" },
        service: { const: "snyk" },
        event: { from: "event" },
      },
    },
    sample: {
      created: "2026-03-04T10:15:30.123Z",
      event: "org.user.add",
      groupId: "8a1b2c3d-fbbb-4fff-8111-5e6f7a8b9c0d",
      orgId: "2b1c3d4e-a222-4eee-8ddd-a9b8c7d6e5f4",
      userId: "05aa6b7c-3333-4ddd-8ccc-7d8e9f0a1b2c",
      content: { email: "sam@example.com" },
    },
    signs: ["event", "groupId", "content"],
  },
];
