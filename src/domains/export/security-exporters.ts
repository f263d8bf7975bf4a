import { LISTING_CHUNK_IDS } from "../../entities/indicators/limits.ts";
import { type Exporter, exportedTable } from "./exported-table.ts";
import { tableRows } from "./table-rows.ts";

/** Which feed lists which indicator: a row for each, however they are packed. */
const LISTINGS: Exporter = {
  name: "ioc-listings",
  table: "ioc_feed_listings",
  columns: ["feed_id", "chunk", "listed", "until", "gone"],
  hidden: [],
  rows: (tx, organizationId) =>
    tableRows(
      tx,
      tx`
        SELECT l.chunk * ${LISTING_CHUNK_IDS}::bigint + each.place AS ioc_id, l.feed_id, each.until AS expires_at, each.is_listed
        FROM ioc_feed_listings l, LATERAL (
          SELECT place, until, true FROM unnest(l.listed, l.until) AS now (place, until)
          UNION ALL
          SELECT place, NULL, false FROM unnest(l.gone) AS place
        ) AS each (place, until, is_listed)
        WHERE l.organization_id = ${organizationId} ORDER BY ioc_id, l.feed_id`,
    ),
};

/** Whom and what an organisation knows, and what it looks for. */
export const SECURITY_EXPORTERS: readonly Exporter[] = [
  exportedTable("model-prices", "model_prices", { key: "version", columns: "id version prices created_at" }),
  exportedTable("correlation-rules", "correlation_rules", {
    key: "id",
    columns:
      "id name kind description join_field severity attack_technique window_sec steps match_kql distinct_field threshold enabled escalation_policy_id alert_email channels catalog_id created_at updated_at",
    hidden: "sealed_channels",
  }),
  exportedTable("assets", "assets", {
    key: "id",
    columns: "id ip hostname owner criticality tags notes created_at updated_at",
  }),
  exportedTable("identities", "identities", {
    key: "id",
    columns: "id principal display_name is_internal risk tags aliases created_at updated_at",
  }),
  exportedTable("iocs", "iocs", {
    key: "id",
    columns:
      "id type value severity description expires_at confidence source feed_id by_person hits first_hit_at last_hit_at created_at updated_at",
    hidden: "prefix_bits key",
  }),
  exportedTable("ioc-hits", "ioc_hits", {
    key: "ioc_id entity_type entity_key",
    columns: "ioc_id entity_type entity_key found n first_at last_at sample_id told_at",
    hidden: "is_due",
  }),
  exportedTable("ioc-allow-list", "ioc_allow_list", {
    key: "id",
    columns: "id type value note created_at updated_at",
  }),
  exportedTable("ioc-feeds", "ioc_feeds", {
    key: "id",
    columns:
      "id name url format interval_sec severity enabled last_fetch_at status last_error added updated expired rejected created_at updated_at",
    hidden: "etag last_modified claim_id next_fetch_at attempts",
  }),
  LISTINGS,
  exportedTable("entities", "entities", {
    key: "id",
    columns: "id type key name record_id first_seen last_seen canonical_id",
  }),
  exportedTable("entity-links", "entity_links", {
    key: "from_id to_id kind",
    columns: "from_id to_id kind n first_seen last_seen sample_id",
  }),
];
