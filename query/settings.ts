import type { QueryBudget } from "./limits.ts";

/** Settings of a statement in ClickHouse; all of them travel with it. */
export type QuerySettings = Readonly<Record<string, string>>;

/**
 * The settings under which a statement runs: read-only, within its budget, refused rather than cut short when it
 * exceeds it, cancelled when its client goes away, and the output that `WireFormat` describes.
 */
export function settingsFor(
  budget: QueryBudget,
  maxRows: number,
  from: "table" | "files" = "table",
): QuerySettings {
  return {
    // 1 refuses table functions; 2 refuses whatever writes, as 1 does, and lets a statement choose its settings.
    readonly: from === "table" ? "1" : "2",
    cancel_http_readonly_queries_on_client_close: "1",
    wait_end_of_query: "1",
    max_execution_time: String(budget.maxExecutionMs / 1000),
    timeout_overflow_mode: "throw",
    max_bytes_to_read: String(budget.maxReadBytes),
    read_overflow_mode: "throw",
    max_memory_usage: String(budget.maxMemoryBytes),
    max_result_rows: String(maxRows),
    max_result_bytes: String(budget.maxResultBytes),
    ...(budget.maxBlockRows !== undefined && { max_block_size: String(budget.maxBlockRows) }),
    result_overflow_mode: "throw",
    // With these the planner tests its own guess at the newest rows before the conditions of the query, which makes
    // searches for something rare several times slower.
    use_top_k_dynamic_filtering: "0",
    use_skip_indexes_for_top_k: "0",
    // What a SELECT calls something is its own affair: the next one of a union has other columns.
    enable_global_with_statement: "0",
    // It looks for comparisons that follow from others, and takes half the time of reading a statement of many conditions.
    optimize_and_compare_chain: "0",
    join_use_nulls: "1",
    enable_unaligned_array_join: "1",
    output_format_json_quote_64bit_integers: "1",
    output_format_json_quote_denormals: "1",
    output_format_json_escape_forward_slashes: "0",
  };
}
