import { listedRules } from "./listed-rules.ts";
import { EACH, type Pack, type SampleEntry } from "./pack.ts";

const slack = (action: string): SampleEntry => ({
  ...{ message: `${action} by ana@example.com`, service: "slack" },
  attrs: {
    action,
    actor: { type: "user", user: { email: "ana@example.com" } },
    context: { ip_address: "203.0.113.7" },
  },
});
const snyk = (event: string): SampleEntry => ({
  ...{ message: event, service: "snyk" },
  attrs: { event, groupId: "8a1b", userId: "05aa", content: {} },
});

export const SLACK: Pack = {
  id: "slack",
  name: "Slack",
  description: "Who manages the organisation, what applications may read, and guards that are removed.",
  expects: {
    sources: "audit logs of Slack, by a source with the preset slack-audit",
    kql: 'service == "slack" and isnotempty(action)',
  },
  rules: [
    ...listedRules(
      {
        ...{ field: "action", operator: "in", also: ' and service == "slack"', groupBy: ["userName"] },
        ...{ sample: slack, ordinary: "user_logout" },
      },
      [
        {
          id: "slack-app-added",
          name: "An application was approved or installed in Slack",
          description: "It may read what it asked for. See its publisher and its scopes.",
          ...{ severity: "medium", attackTechnique: "T1199" },
          values: ["app_approved", "app_installed", "org_app_workspace_added"],
        },
        {
          id: "slack-app-removed",
          name: "An application was removed or restricted in Slack",
          description: "What it guarded or reported ends. See which it was.",
          ...{ severity: "low", attackTechnique: "T1489" },
          values: ["app_restricted", "app_uninstalled", "org_app_workspace_removed"],
        },
        {
          id: "slack-data-guard-weakened",
          name: "A rule against leaks was switched off or its finding deleted",
          description: "Data may leave unseen. Switch it on again, and see what was found.",
          ...{ severity: "high", attackTechnique: "T1562.001" },
          values: ["native_dlp_rule_deactivated", "native_dlp_violation_deleted"],
        },
        {
          id: "slack-own-keys-given-up",
          name: "The organisation's own keys are no longer used",
          description: "Messages are encrypted by Slack's keys alone. See who decided it.",
          ...{ severity: "critical", attackTechnique: "T1600" },
          values: ["ekm_unenrolled", "ekm_slackbot_unenroll_notification_sent"],
        },
        {
          id: "slack-barrier-changed",
          name: "A barrier between groups was changed",
          description: "People who must not talk to each other may. Compare it with what was agreed.",
          ...{ severity: "medium", attackTechnique: "T1562.001" },
          values: ["barrier_deleted", "barrier_updated"],
        },
        {
          id: "slack-organisation-deleted",
          name: "An organisation was deleted in Slack",
          description: "Its messages are gone. Reach Slack at once unless it was planned.",
          ...{ severity: "critical", attackTechnique: "T1485" },
          values: ["organization_deleted"],
        },
        {
          id: "slack-owner-changed",
          name: "Somebody became an owner or administrator in Slack",
          description: "They may read and change what others cannot. See who it is.",
          ...{ severity: "high", attackTechnique: "T1098.003" },
          values: [
            "owner_transferred",
            "permissions_assigned",
            "role_change_to_admin",
            "role_change_to_owner",
          ],
        },
        {
          id: "slack-service-owner-changed",
          name: "The ownership of the service was transferred",
          description: "Nobody stands above that account. See whether the last owner knows.",
          ...{ severity: "critical", attackTechnique: "T1098.003" },
          values: ["service_owner_transferred"],
        },
        {
          id: "slack-data-exported",
          name: "Messages of Slack are exported",
          description: "All channels go into one archive. See who asked for it.",
          ...{ severity: "high", attackTechnique: "T1530" },
          values: ["corporate_exports_approved", "manual_export_started", "manual_export_completed"],
        },
        {
          id: "slack-anomaly",
          name: "Slack reports something unusual about an account",
          description: "A session may be stolen. End it, and ask the owner.",
          ...{ severity: "medium", attackTechnique: "T1539", threshold: 3, windowSec: 3600 },
          values: ["anomaly"],
        },
      ],
    ),
    {
      id: "slack-app-may-do-more",
      name: "An application may read or do more in Slack",
      description: "See what was added, and whether it needs that.",
      ...{ severity: "medium", attackTechnique: "T1098", ...EACH, groupBy: ["userName"] },
      kql: 'service == "slack" and action in ("app_scopes_expanded", "app_resources_added", "app_resources_granted", "bot_token_upgraded") and (isempty(tostring(details.new_scopes)) or tostring(details.new_scopes) != tostring(details.previous_scopes))',
      counts: slack("bot_token_upgraded"),
      leaves: slack("user_login"),
    },
  ],
};

export const SNYK: Pack = {
  id: "snyk",
  name: "Snyk",
  description: "Projects that are no longer looked at, and rights in groups and organisations.",
  expects: {
    sources: "audit logs of Snyk, by a source with the preset snyk-audit",
    kql: 'service == "snyk"',
  },
  rules: listedRules(
    {
      ...{ field: "event", operator: "in", also: ' and service == "snyk"', groupBy: ["userId"] },
      ...{ sample: snyk, ordinary: "group.sso.membership.sync" },
    },
    [
      {
        id: "snyk-organisation-changed",
        name: "An organisation or group was changed in Snyk",
        description: "Projects and people may have moved with it. See what changed.",
        ...{ severity: "medium", attackTechnique: "T1562.001" },
        values: ["org.delete", "org.create", "org.edit", "group.edit", "group.org.remove", "group.org.add"],
      },
      {
        id: "snyk-weakness-hidden",
        name: "A project or a weakness is no longer reported",
        description: "It is ignored, or the project is not looked at. Read the reason.",
        ...{ severity: "medium", attackTechnique: "T1562.001" },
        values: [
          "org.project.stop_monitor",
          "org.project.ignore.create",
          "org.project.delete",
          "org.project.remove",
        ],
      },
      {
        id: "snyk-integration-changed",
        name: "An integration was changed in Snyk",
        description: "Repositories may be looked at less, or by other rights. See what changed.",
        ...{ severity: "low", attackTechnique: "T1562.001" },
        values: ["org.integration.settings.edit", "org.integration.edit", "org.integration.delete"],
      },
      {
        id: "snyk-role-changed",
        name: "The role of somebody was changed in Snyk",
        description: "They may do more than before. See who it is.",
        ...{ severity: "high", attackTechnique: "T1098.003" },
        values: ["group.user.role.edit", "org.user.role.edit", "group.role.edit", "user.org.role.edit"],
      },
      {
        id: "snyk-outsiders-may-ask",
        name: "Who may ask for access to Snyk was changed",
        description: "People from outside may come in. Compare it with what was agreed.",
        ...{ severity: "high", attackTechnique: "T1562" },
        values: ["group.request_access_settings.edit", "org.request_access_settings.edit"],
      },
      {
        id: "snyk-token-made",
        name: "An account for programs was made in Snyk",
        description: "Its token reads the weaknesses of all projects. See what it is for.",
        ...{ severity: "low", attackTechnique: "T1136.003" },
        values: ["group.service_account.create", "org.service_account.create"],
      },
    ],
  ),
};
