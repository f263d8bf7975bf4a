import type { TransactionSql } from "postgres";
import { tableRows } from "./table-rows.ts";

/** One kind of thing that an organisation has, and how all of it is read. */
interface Exporter {
  /** The file is called after it. */
  readonly name: string;
  /** The table it reads, and its columns that are never shown: secrets and hashes. */
  readonly table: string;
  readonly hidden: readonly string[];
  readonly columns: readonly string[];
  readonly rows: (tx: TransactionSql, organizationId: number) => AsyncIterable<object>;
}

/** A table by the names of its columns, with blanks between them; rows are in the order of `key`. */
interface TableColumns {
  readonly key: string;
  readonly columns: string;
  readonly hidden?: string;
}

/** A table of which every column is shown but that of the organisation and the hidden ones. */
function exportedTable(name: string, table: string, spec: TableColumns): Exporter {
  const columns = spec.columns.split(" ");
  const key = spec.key.split(" ");
  return {
    name,
    table,
    columns,
    hidden: spec.hidden?.split(" ") ?? [],
    rows: (tx, organizationId) =>
      tableRows(
        tx,
        tx`SELECT ${tx(columns)} FROM ${tx(table)} WHERE organization_id = ${organizationId} ORDER BY ${tx(key)}`,
      ),
  };
}

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
  exportedTable("usage", "organization_usage", { key: "month", columns: "month checks log_bytes" }),
  exportedTable("saved-searches", "saved_searches", {
    key: "id",
    columns: "id name description query q service level range_minutes created_at updated_at",
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
  exportedTable("audit-log", "audit_log", {
    key: "seq",
    columns: "id seq created_at actor_user_id actor_token_id actor_email action resource meta",
    hidden: "hash",
  }),
];

/** What an export leaves out, and why. */
export const LEFT_OUT: readonly { readonly table: string; readonly why: string }[] = [
  {
    table: "sessions",
    why: "who is signed in at this moment; it opens the account and is good for nothing else",
  },
  { table: "tail_sessions", why: "live tails that end within the hour" },
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
  { table: "webhook_secrets", why: "secrets; the present one is at /api/v1/me/webhook-secret" },
];
