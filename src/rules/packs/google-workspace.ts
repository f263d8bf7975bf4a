import { listedRules } from "./listed-rules.ts";
import { EACH, type Pack, type SampleEntry } from "./pack.ts";

type Parameters = Readonly<Record<string, unknown>>;

const activity = (name: string, application = "login", parameters: Parameters = {}): SampleEntry => ({
  ...{ message: `${name} by ana@example.com`, service: application, source: "google-workspace" },
  attrs: {
    ...{ id: { applicationName: application, uniqueQualifier: "1" }, name, type: "event" },
    ...{ actor: { email: "ana@example.com" }, ipAddress: "203.0.113.7", parameters },
  },
});
const setting = (name: string, value: string): SampleEntry =>
  activity("CHANGE_APPLICATION_SETTING", "admin", { SETTING_NAME: name, NEW_VALUE: value });

export const GOOGLE_WORKSPACE: Pack = {
  id: "google-workspace",
  name: "Google Workspace",
  description: "Accounts that are warned of, mail that leaves, and guards that are switched off.",
  expects: {
    sources:
      "activities of Google Workspace, an entry for each event, by a source with the preset google-workspace",
    kql: 'source == "google-workspace" and isnotempty(name)',
  },
  rules: [
    ...listedRules(
      {
        ...{
          field: "name",
          operator: "in",
          also: ' and source == "google-workspace"',
          groupBy: ["userName"],
        },
        ...{ sample: (name: string) => activity(name), ordinary: "login_success" },
      },
      [
        {
          id: "workspace-admin-role-made",
          name: "A role of administrators was made or given",
          description: "Somebody may manage accounts. See who it is, and which privileges.",
          ...{ severity: "high", attackTechnique: "T1098.003" },
          values: ["CREATE_ROLE", "ASSIGN_ROLE", "ADD_PRIVILEGE"],
        },
        {
          id: "workspace-application-added",
          name: "An application of the marketplace was added for all",
          description: "It may read what it asked for of everybody. See its publisher.",
          ...{ severity: "medium", attackTechnique: "T1199" },
          values: ["ADD_APPLICATION"],
        },
        {
          id: "workspace-delegation-authorised",
          name: "A program may act as every user of the domain",
          description: "Its key opens all mail and files. See which client and which scopes.",
          ...{ severity: "critical", attackTechnique: "T1098.003" },
          values: ["AUTHORIZE_API_CLIENT_ACCESS"],
        },
        {
          id: "workspace-advanced-protection-left",
          name: "An account left the advanced protection",
          description: "It is guarded less than people at risk should be. Ask its owner.",
          ...{ severity: "medium", attackTechnique: "T1562" },
          values: ["titanium_unenroll"],
        },
        {
          id: "workspace-mail-forwarded-outside",
          name: "Mail of an account is forwarded to another domain",
          description: "Everything that comes is read elsewhere. Ask its owner, and remove it.",
          ...{ severity: "high", attackTechnique: "T1114.003" },
          values: ["email_forwarding_out_of_domain"],
        },
        {
          id: "workspace-banned-from-group",
          name: "Somebody was banned from a group",
          description: "A moderator did it. See what the account wrote.",
          ...{ severity: "low", attackTechnique: "T1531" },
          values: ["ban_user_with_moderation"],
        },
        {
          id: "workspace-password-leaked",
          name: "An account was disabled because its password leaked",
          description: "Change it, and see what was done with it before.",
          ...{ severity: "high", attackTechnique: "T1552" },
          values: ["account_disabled_password_leak"],
        },
        {
          id: "workspace-suspicious-sign-in",
          name: "A sign-in that does not look like its owner",
          description: "Ask the owner by another way, and end the sessions.",
          ...{ severity: "high", attackTechnique: "T1078.004" },
          values: ["suspicious_login", "suspicious_login_less_secure_app", "suspicious_programmatic_login"],
        },
        {
          id: "workspace-account-disabled",
          name: "An account was disabled for what it did",
          description: "Google takes it for taken over or for a sender of spam. See what it sent.",
          ...{ severity: "high", attackTechnique: "T1586.002" },
          values: [
            "account_disabled_spamming",
            "account_disabled_spamming_through_relay",
            "account_disabled_hijacked",
            "account_disabled_generic",
          ],
        },
        {
          id: "workspace-attacked-by-government",
          name: "A government may be attacking an account",
          description: "Google warns rarely of it. Give the account the advanced protection.",
          ...{ severity: "critical", attackTechnique: "T1078.004" },
          values: ["gov_attack_warning"],
        },
        {
          id: "workspace-second-step-off",
          name: "A user switched the second step off",
          description: "A password alone opens the account. Ask the owner by another way.",
          ...{ severity: "medium", attackTechnique: "T1556.006" },
          values: ["2sv_disable"],
        },
        {
          id: "workspace-second-step-not-enforced",
          name: "The second step is not required any more",
          description: "Everybody may switch it off. Require it again.",
          ...{ severity: "high", attackTechnique: "T1556.006" },
          values: ["ENFORCE_STRONG_AUTHENTICATION", "ALLOW_STRONG_AUTHENTICATION"],
        },
        {
          id: "workspace-data-exported",
          name: "The data of the whole organisation is exported",
          description: "Mail and files of everybody go into one archive. See who asked for it.",
          ...{ severity: "high", attackTechnique: "T1530" },
          values: ["CUSTOMER_TAKEOUT_CREATED", "CUSTOMER_TAKEOUT_SUCCEEDED"],
        },
        {
          id: "workspace-mail-rule-changed",
          name: "A rule that routes mail was made or deleted",
          description: "Mail of all may be copied or let through. Read the rule.",
          ...{ severity: "medium", attackTechnique: "T1114.003" },
          values: ["CREATE_GMAIL_SETTING", "DELETE_GMAIL_SETTING", "CHANGE_GMAIL_SETTING"],
        },
        {
          id: "workspace-single-sign-on-changed",
          name: "Single sign-on of Google Workspace was changed",
          description: "Whoever owns the other side signs in as anybody. See what changed.",
          ...{ severity: "high", attackTechnique: "T1484.002" },
          values: ["TOGGLE_SSO_ENABLED", "CHANGE_SSO_SETTINGS"],
        },
        {
          id: "workspace-sign-in-guessing",
          name: "Sign-ins to Google Workspace fail repeatedly",
          description: "Somebody guesses the password of an account. See whether one worked.",
          ...{ severity: "medium", attackTechnique: "T1110", threshold: 10, windowSec: 600 },
          values: ["login_failure"],
        },
      ],
    ),
    {
      id: "workspace-marketplace-opened",
      name: "What may be installed from the marketplace was changed",
      description: "Users may install what nobody looked at. Compare it with what was agreed.",
      ...{ severity: "medium", attackTechnique: "T1562", ...EACH, groupBy: ["userName"] },
      kql: 'source == "google-workspace" and service == "admin" and parameters.SETTING_NAME == "ENABLE_G_SUITE_MARKETPLACE"',
      counts: activity("CHANGE_EMAIL_SETTING", "admin", { SETTING_NAME: "ENABLE_G_SUITE_MARKETPLACE" }),
      leaves: activity("CHANGE_EMAIL_SETTING", "admin", { SETTING_NAME: "ENABLE_POP_ACCESS" }),
    },
    {
      id: "workspace-many-downloads",
      name: "One account downloads many files",
      description: "Files leave the organisation. Ask the owner, and end the sessions.",
      ...{ severity: "medium", attackTechnique: "T1530", threshold: 100, windowSec: 600 },
      groupBy: ["userName"],
      kql: 'source == "google-workspace" and service == "drive" and name == "download"',
      counts: activity("download", "drive"),
      leaves: activity("view", "drive"),
    },
    {
      id: "workspace-spam-delivered",
      name: "Mail got past the filter for spam by a setting",
      description: "A rule lets such mail through. See which, and who opened it.",
      ...{ severity: "low", attackTechnique: "T1566", threshold: 20, windowSec: 3600, groupBy: [] },
      kql: 'source == "google-workspace" and service == "gmail" and parameters.message_info.message_set.type == 46',
      counts: activity("delivery", "gmail", { message_info: { message_set: { type: 46 } } }),
      leaves: activity("delivery", "gmail", { message_info: { message_set: { type: 1 } } }),
    },
    {
      id: "workspace-spam-attachment-downloaded",
      name: "An attachment of spam was downloaded",
      description: "Ask who opened it, and look at the machine.",
      ...{ severity: "medium", attackTechnique: "T1204.002", ...EACH, groupBy: ["userName"] },
      kql: 'source == "google-workspace" and service == "gmail" and tobool(parameters.message_info.is_spam) == true and parameters.event_info.mail_event_type == 17',
      counts: activity("delivery", "gmail", {
        ...{ message_info: { is_spam: true }, event_info: { mail_event_type: 17 } },
      }),
      leaves: activity("delivery", "gmail", {
        ...{ message_info: { is_spam: true }, event_info: { mail_event_type: 1 } },
      }),
    },
    {
      id: "workspace-malicious-mail-refused",
      name: "Mail with malware or plain spam was refused",
      description: "Somebody attacks by mail. See to whom it went, and whether another one came through.",
      ...{ severity: "low", attackTechnique: "T1566", threshold: 10, windowSec: 3600, groupBy: [] },
      kql: 'source == "google-workspace" and service == "gmail" and parameters.message_info.connection_info.smtp_response_reason in (3, 13)',
      counts: activity("delivery", "gmail", {
        message_info: { connection_info: { smtp_response_reason: 3 } },
      }),
      leaves: activity("delivery", "gmail", {
        message_info: { connection_info: { smtp_response_reason: 1 } },
      }),
    },
    {
      id: "workspace-rule-triggered",
      name: "A rule of the organisation acted",
      description: "What it guards was touched. See which rule, and what it did.",
      ...{ severity: "medium", attackTechnique: "T1530", ...EACH, groupBy: ["userName"] },
      kql: 'source == "google-workspace" and service == "rules" and isnotempty(tostring(parameters.triggered_actions))',
      counts: activity("rule_match", "rules", { triggered_actions: [{ action_type: "DRIVE_WARN" }] }),
      leaves: activity("rule_match", "rules"),
    },
    {
      id: "workspace-mail-scanning-off",
      name: "A check of mail before delivery was switched off",
      description: "Attachments and links are looked at less. Switch it on again.",
      ...{ severity: "high", attackTechnique: "T1562.001", ...EACH, groupBy: ["userName"] },
      kql: '(parameters.SETTING_NAME contains "disable_delayed_delivery_for_suspicious_email" and tostring(parameters.NEW_VALUE) =~ "true") or (parameters.SETTING_NAME contains "AttachmentDeepScanning" and tostring(parameters.NEW_VALUE) =~ "false")',
      counts: setting("AttachmentDeepScanningSettingsProto deep_scanning_enabled", "false"),
      leaves: setting("AttachmentDeepScanningSettingsProto deep_scanning_enabled", "true"),
    },
    {
      id: "workspace-password-reuse-allowed",
      name: "Old passwords may be used again",
      description: "Leaked passwords come back so. Forbid it again.",
      ...{ severity: "medium", attackTechnique: "T1556", ...EACH, groupBy: ["userName"] },
      kql: 'parameters.SETTING_NAME contains "Enable password reuse" and tostring(parameters.NEW_VALUE) =~ "true"',
      counts: setting("Password Management - Enable password reuse", "true"),
      leaves: setting("Password Management - Enable password reuse", "false"),
    },
    {
      id: "workspace-open-files-edited",
      name: "Files that everybody with the link reads are worked on",
      description: "What is written there is as good as public. See whether it may be.",
      ...{ severity: "low", attackTechnique: "T1213", threshold: 20, windowSec: 3600, groupBy: ["userName"] },
      kql: 'source == "google-workspace" and service == "drive" and name in ("edit", "create", "upload") and parameters.visibility in ("people_with_link", "public_on_the_web")',
      counts: activity("edit", "drive", { visibility: "people_with_link" }),
      leaves: activity("edit", "drive", { visibility: "private" }),
    },
    {
      id: "workspace-file-shared-outside",
      name: "A file was shared with people outside",
      description: "See who gave it to whom, and whether it may leave.",
      ...{ severity: "low", attackTechnique: "T1567", ...EACH, groupBy: ["userName"] },
      kql: String.raw`source == "google-workspace" and service == "drive" and parameters.visibility_change == "external" and not(tostring(parameters.new_value) contains "\"private\"")`,
      counts: activity("change_user_access", "drive", {
        visibility_change: "external",
        new_value: ["can_view"],
      }),
      leaves: activity("change_user_access", "drive", {
        visibility_change: "internal",
        new_value: ["can_view"],
      }),
    },
  ],
};
