import { type Exporter, exportedTable } from "./exported-table.ts";
import { SECURITY_EXPORTERS } from "./security-exporters.ts";
import { tableRows } from "./table-rows.ts";

const ORGANIZATION: Exporter = {
  name: "organization",
  table: "organizations",
  hidden: [],
  columns: ["id", "name", "created_at"],
  rows: (tx, organizationId) =>
    tableRows(tx, tx`SELECT id, name, created_at FROM organizations WHERE id = ${organizationId}`),
};

const MEMBERS: Exporter = {
  name: "members",
  table: "memberships",
  hidden: [],
  columns: ["user_id", "role", "created_at"],
  rows: (tx, organizationId) =>
    tableRows(
      tx,
      tx`SELECT m.user_id, u.email, m.role, m.created_at AS joined_at
         FROM memberships m JOIN users u ON u.id = m.user_id
         WHERE m.organization_id = ${organizationId} ORDER BY m.created_at, m.user_id`,
    ),
};

/** Everything that an export holds. A new kind of thing is one line here, or one in `LEFT_OUT`. */
export const EXPORTERS: readonly Exporter[] = [
  ORGANIZATION,
  MEMBERS,
  exportedTable("metric-alerts", "metric_alerts", {
    key: "id",
    columns:
      "id name metric_name service aggregation comparator threshold window_sec severity enabled escalation_policy_id no_data_sec created_at updated_at",
  }),
  exportedTable("cases", "cases", {
    key: "id",
    columns:
      "id title severity summary status disposition assignee_user_id contained_at closed_at merged_into created_at updated_at",
  }),
  exportedTable("case-incidents", "case_incidents", {
    key: "case_id incident_id",
    columns: "case_id incident_id added_at",
  }),
  exportedTable("case-notes", "case_notes", {
    key: "id",
    columns: "id case_id kind body user_id created_at",
  }),
  exportedTable("case-evidence", "case_evidence", {
    key: "id",
    columns: "id case_id kind ref snapshot event_at user_id created_at",
  }),
  exportedTable("case-observables", "case_observables", {
    key: "case_id type value",
    columns: "case_id type value",
  }),
  exportedTable("invites", "invites", {
    key: "id",
    columns: "id email role invited_by created_at expires_at",
    hidden: "token_hash",
  }),
  exportedTable("tokens", "personal_access_tokens", {
    key: "id",
    columns:
      "id user_id name prefix scopes daily_mutation_limit daily_log_bytes_limit created_at expires_at last_used_at revoked_at",
    hidden: "token_hash",
  }),
  exportedTable("token-usage", "token_usage", {
    key: "token_id day",
    columns: "token_id day mutations log_bytes",
  }),
  exportedTable("usage", "organization_usage", {
    key: "month",
    columns: "month checks log_bytes",
    hidden: "checks_told",
  }),
  exportedTable("saved-searches", "saved_searches", {
    key: "id",
    columns: "id name description query q service level range_minutes created_at updated_at",
  }),
  exportedTable("kql-functions", "kql_functions", {
    key: "id",
    columns: "id name description parameters body version created_at updated_at",
  }),
  exportedTable("kql-function-versions", "kql_function_versions", {
    key: "function_id version",
    columns: "function_id version parameters body created_at",
  }),
  // Their rows are what a query of the name answers.
  exportedTable("kql-tables", "kql_tables", {
    key: "id",
    columns: "id name columns rows bytes version created_at updated_at",
    hidden: "rows_id",
  }),
  exportedTable("log-metrics", "log_metrics", {
    key: "id",
    columns: "id name query service level bucket_sec enabled created_at updated_at",
    hidden: "counter_id",
  }),
  exportedTable("log-alerts", "log_alerts", {
    key: "id",
    columns:
      "id name kind description query kql service level group_by severity attack_technique threshold window_sec for_sec keep_firing_sec no_data_sec recover_threshold every_sec baseline_hours ratio_threshold min_baseline_events direction enabled escalation_policy_id alert_email channels catalog_id saved_search_id expensive created_at updated_at",
    hidden: "sealed_channels",
  }),
  exportedTable("silences", "silences", {
    key: "id",
    columns:
      "id source rule_kind rule_id monitor_id group_key reason starts_at ends_at created_at updated_at",
  }),
  exportedTable("rule-gaps", "rule_gaps", { key: "id", columns: "id rule_kind rule_id from_at to_at" }),
  exportedTable("rule-runs", "rule_runs", {
    key: "id",
    columns: "id rule_kind rule_id from_at to_at found added truncated run_at",
  }),
  exportedTable("detections", "detections", {
    key: "id",
    columns: "id rule_kind rule_id group_key started_at ended_at until_at peak merged_into detected_at mode",
    hidden: "is_reported",
  }),
  ...SECURITY_EXPORTERS,
  exportedTable("configuration-keys", "config_bindings", {
    key: "kind key",
    columns: "kind key record_id applied_at",
    hidden: "base",
  }),
  exportedTable("error-groups", "error_groups", {
    key: "id",
    columns:
      "id fingerprint grouped_by service type title culprit runtime message status count first_seen last_seen first_release last_release sample_ids active_at resolved_at regressed_at regressed_release merged_into created_at updated_at",
    hidden: "frame_keys",
  }),
  exportedTable("log-retention", "log_retention", {
    key: "updated_at",
    columns: "days rules updated_at",
  }),
  exportedTable("log-archive", "log_archive_units", {
    key: "id",
    columns:
      "id day state attempt file rows bytes checksum min_ts max_ts seq attempts retry_at created_at done_at",
    hidden: "claim_id",
  }),
  exportedTable("ingest-sources", "ingest_sources", {
    key: "source_key",
    columns:
      "id source_key name format mapping preset status status_reason created_at updated_at last_received_at accepted rejected quarantined samples",
    hidden: "version",
  }),
  exportedTable("ingest-rules", "ingest_rules", {
    key: "id",
    columns: "id name enabled position query action keep_one_in fields patterns created_at updated_at",
  }),
  exportedTable("ingest-rule-counts", "ingest_rule_counts", {
    key: "rule_id hour",
    columns: "rule_id hour dropped masked",
  }),
  exportedTable("on-call-schedules", "on_call_schedules", {
    key: "id",
    columns: "id name description timezone created_at updated_at",
    hidden: "calendar_token_hash",
  }),
  exportedTable("on-call-rotations", "on_call_rotations", {
    key: "id",
    columns:
      "id schedule_id user_id starts_at ends_at override_user_id override_starts_at override_ends_at created_at updated_at",
  }),
  exportedTable("escalation-policies", "escalation_policies", {
    key: "id",
    columns: "id name description steps repeat created_at updated_at",
  }),
  exportedTable("alert-channels", "alert_defaults", {
    key: "updated_at",
    columns: "alert_email channels template_names escalation_policy_id updated_at",
    hidden: "sealed_channels sealed_templates",
  }),
  exportedTable("contact-methods", "contact_methods", {
    key: "id",
    columns: "id user_id kind label verified_at created_at updated_at",
    hidden: "sealed code_hash code_expires_at code_attempts",
  }),
  exportedTable("deliveries", "deliveries", {
    key: "id",
    columns:
      "id incident_id event_id channel state attempts next_attempt_at last_code last_error created_at delivered_at in_digest",
    hidden: "target_hash lane priority sealed claim_id",
  }),
  exportedTable("escalations", "escalations", {
    key: "incident_id run",
    columns: "incident_id run policy step cycle state next_at created_at",
  }),
  exportedTable("sso-connections", "sso_connections", {
    key: "slug",
    columns: "slug issuer client_id groups_claim group_roles default_role enforced created_at updated_at",
    hidden: "client_secret",
  }),
  exportedTable("sso-domains", "sso_domains", {
    key: "domain",
    columns: "domain challenge verified_at created_at",
  }),
  exportedTable("sso-identities", "sso_identities", {
    key: "issuer subject",
    columns: "issuer subject user_id created_at last_used_at",
  }),
  exportedTable("deployment-drain-settings", "deployment_drain_settings", {
    key: "created_at",
    columns: "verification_code created_at updated_at",
    hidden: "signing_secret",
  }),
  exportedTable("incidents", "incidents", {
    key: "id",
    columns:
      "id source_key source title status severity opened_at acknowledged_at acknowledged_by resolved_at resolution reopened reopened_at flapping settle_at postmortem escalation_policy_id silence_id held_back_at digested_at evidence created_at updated_at",
  }),
  exportedTable("incident-monitors", "incident_monitors", {
    key: "incident_id monitor_id",
    columns: "incident_id monitor_id",
  }),
  exportedTable("incident-updates", "incident_updates", {
    key: "id",
    columns: "id incident_id kind status public body user_id created_at",
  }),
  exportedTable("alert-receivers", "alert_receivers", {
    key: "id",
    columns: "id name severity escalation_policy_id created_at updated_at",
    hidden: "token_hash",
  }),
  exportedTable("monitors", "monitors", {
    key: "id",
    columns:
      "id name url type interval_sec timeout_ms retry_interval_sec method follow_redirects tls_skip_verify expected_status_code degraded_response_time_ms port keyword keyword_match_type expiry_warn_days alert_threshold recovery_threshold alert_on_degraded remind_every_sec alert_email channels escalation_policy_id paused resumed_at heartbeat_grace_sec uptime_target_bp uptime_window_days tags regions created_at updated_at",
    hidden:
      "sealed_headers sealed_body sealed_steps sealed_channels heartbeat_token_hash sealed_heartbeat_token shard",
  }),
  exportedTable("monitor-states", "monitor_state", {
    key: "monitor_id",
    columns:
      "monitor_id last_status last_checked_at confirmed confirmed_at failures last_error heartbeat_received_at heartbeat_started_at heartbeat_failed certificate_not_after slo_breach_open",
    hidden:
      "last_slot next_slot slow_rounds successes run_started_at unknown_rounds unknown_since told told_at heartbeat_seen_at certificate_told",
  }),
  exportedTable("monitor-periods", "monitor_periods", {
    key: "monitor_id started_at",
    columns: "id monitor_id status started_at ended_at",
  }),
  exportedTable("maintenance-windows", "maintenance_windows", {
    key: "id",
    columns: "id monitor_id title starts_at ends_at created_at updated_at",
    hidden: "settled_at",
  }),
  exportedTable("status-pages", "status_pages", {
    key: "id",
    columns:
      "id name slug description monitor_ids groups public_names custom_domain custom_domain_proven_at theme is_public has_password created_at updated_at",
    hidden: "password_hash password_version",
  }),
  exportedTable("status-page-subscribers", "status_page_subscribers", {
    key: "id",
    columns:
      "id status_page_id channel email webhook_host monitor_ids confirmation_sent_at confirmed_at failures created_at",
    hidden: "confirm_token_hash webhook_sealed webhook_key mailbox",
  }),
  exportedTable("audit-log", "audit_log", {
    key: "seq",
    columns: "id seq created_at actor_user_id actor_token_id actor_email action resource meta",
    hidden: "hash",
  }),
];
