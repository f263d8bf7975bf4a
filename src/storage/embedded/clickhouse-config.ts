import { createHash } from "node:crypto";

/** For how long a part stays that was merged into another: longer than the kernel keeps to itself what was written. */
export const OLD_PARTS_LIFETIME_S = 60;

interface ClickHouseConfigInput {
  readonly usersPath: string;
  readonly user: string;
  readonly password: string;
  /** Share of the machine's memory the engine may take, 0 to 1. */
  readonly memoryRatio: number;
  /** Threads for merges; the machine's cores. */
  readonly backgroundThreads: number;
}

/** The value of the `Authorization` header that the engine's HTTP port asks for. */
export function basicAuthorization(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/**
 * The engine's configuration file. `clickhouse local` signs itself in as `default` without a password from a loopback
 * address, so that user cannot be closed; instead the HTTP port has handlers for nothing but requests that carry the
 * secret. The caches are bounded for a small machine; their defaults are gigabytes each. The free entries belong to the
 * small pool: by default eight must be free before a large merge begins, more than this pool has, and parts would stay
 * small for ever. What parts were merged into is synced, but for its text indexes, which `MergedIndexes` syncs: so long the parts stay.
 */
export function renderClickHouseConfig(input: ClickHouseConfigInput): string {
  const authorization = basicAuthorization(input.user, input.password);
  return `<clickhouse>
  <logger><level>warning</level><console>1</console></logger>
  <user_directories><users_xml><path>${Bun.escapeHTML(input.usersPath)}</path></users_xml></user_directories>
  <http_handlers>
    <rule>
      <url>/ping</url>
      <headers><Authorization>${authorization}</Authorization></headers>
      <handler><type>ping</type></handler>
    </rule>
    <rule>
      <headers><Authorization>${authorization}</Authorization></headers>
      <handler><type>dynamic_query_handler</type><query_param_name>query</query_param_name></handler>
    </rule>
  </http_handlers>
  <keep_alive_timeout>5</keep_alive_timeout>
  <max_server_memory_usage_to_ram_ratio>${input.memoryRatio}</max_server_memory_usage_to_ram_ratio>
  <background_pool_size>${input.backgroundThreads}</background_pool_size>
  <background_schedule_pool_size>${input.backgroundThreads}</background_schedule_pool_size>
  <memory_worker_period_ms>250</memory_worker_period_ms>
  <merge_tree>
    <number_of_free_entries_in_pool_to_lower_max_size_of_merge>2</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
    <number_of_free_entries_in_pool_to_execute_mutation>2</number_of_free_entries_in_pool_to_execute_mutation>
    <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>2</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
    <min_rows_to_fsync_after_merge>1</min_rows_to_fsync_after_merge>
    <old_parts_lifetime>${OLD_PARTS_LIFETIME_S}</old_parts_lifetime>
  </merge_tree>
  <mark_cache_size>134217728</mark_cache_size>
  <index_mark_cache_size>67108864</index_mark_cache_size>
  <primary_index_cache_size>134217728</primary_index_cache_size>
  <vector_similarity_index_cache_size>0</vector_similarity_index_cache_size>
  <text_index_tokens_cache_size>67108864</text_index_tokens_cache_size>
  <text_index_header_cache_size>67108864</text_index_header_cache_size>
  <text_index_postings_cache_size>134217728</text_index_postings_cache_size>
  <parquet_metadata_cache_size>33554432</parquet_metadata_cache_size>
  <paimon_metadata_files_cache_size>0</paimon_metadata_files_cache_size>
  <iceberg_metadata_files_cache_size>0</iceberg_metadata_files_cache_size>
</clickhouse>
`;
}

/**
 * The engine's users: ours by the hash of its password, and `default`, which the engine itself starts with.
 * `default` is reachable only by a request that already carries our secret, see the handlers above.
 */
export function renderClickHouseUsers(input: Pick<ClickHouseConfigInput, "user" | "password">): string {
  const hash = createHash("sha256").update(input.password).digest("hex");
  return `<clickhouse>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users>
    <default>
      <no_password/>
      <networks><ip>::1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </default>
    <${input.user}>
      <password_sha256_hex>${hash}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <named_collection_control>1</named_collection_control>
    </${input.user}>
  </users>
</clickhouse>
`;
}
