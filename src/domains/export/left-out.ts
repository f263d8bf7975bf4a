/** What an export leaves out, and why. */
export const LEFT_OUT: readonly { readonly table: string; readonly why: string }[] = [
  {
    table: "sessions",
    why: "who is signed in at this moment; it opens the account and is good for nothing else",
  },
  { table: "kept_row_sets", why: "where in the log store the rows of kql-tables lie" },
  { table: "ioc_batches", why: "which iocs are still to be looked for in what was found before" },
  { table: "ioc_hit_hours", why: "sums of ioc-hits by hour, for the last day's" },
  { table: "log_counters", why: "what log metrics and alerts are counted by, which they say" },
  { table: "counter_changes", why: "which counts log alerts are still to look at" },
  { table: "error_group_places", why: "in which releases errors were, which their entries say" },
  { table: "error_group_hours", why: "how many groups of errors an hour may still make" },
  { table: "live_rules", why: "how far rules are evaluated" },
  { table: "live_rule_counters", why: "what counts for rules, which are made of them" },
  { table: "rule_groups", why: "which log alerts fire just now, which the incidents say" },
  { table: "tail_sessions", why: "live tails that end within the hour" },
  { table: "probe_results", why: "what probes found within the hour; it is on its way to the checks" },
  { table: "idempotency_keys", why: "answers to recent requests, kept encrypted for a day" },
  { table: "audit_heads", why: "where the audit log ends, which its last row says" },
  {
    table: "log_archive_attempts",
    why: "work on the archive that is under way; log-archive names its files",
  },
  {
    table: "log_archive_versions",
    why: "how often the list of archived files has changed; log-archive is the list",
  },
  {
    table: "quarantine_records",
    why: "logs that wait for their mapping, as they came; they are at /api/v1/ingest/quarantine for 30 days",
  },
  { table: "quarantine_usage", why: "how many records those are" },
  {
    table: "events",
    why: "how parts of the server tell each other what the other files show; kept for a month",
  },
  { table: "event_deliveries", why: "which of those are still to be told to whom" },
  { table: "status_page_notices", why: "what subscribers are still to be told" },
  { table: "webhook_secrets", why: "secrets; the present one is at /api/v1/me/webhook-secret" },
];
