/** Functions, aggregates and plugins of Kusto that a query cannot use here, by the reason. Names are one to a word. */
const GROUPS: readonly (readonly [reason: string, names: string])[] = [
  [
    "geography is out of scope",
    `geo_angle geo_azimuth geo_closest_point_on_line geo_closest_point_on_polygon geo_distance_2points
    geo_distance_point_to_line geo_distance_point_to_polygon geo_from_wkt geo_geohash_neighbors
    geo_geohash_to_central_point geo_geohash_to_polygon geo_h3cell_children geo_h3cell_level geo_h3cell_neighbors
    geo_h3cell_parent geo_h3cell_rings geo_h3cell_to_central_point geo_h3cell_to_polygon geo_intersection_2lines
    geo_intersection_2polygons geo_intersection_line_with_polygon geo_intersects_2lines geo_intersects_2polygons
    geo_intersects_line_with_polygon geo_line_buffer geo_line_centroid geo_line_densify geo_line_interpolate_point
    geo_line_length geo_line_locate_point geo_line_lookup geo_line_simplify geo_line_to_s2cells geo_point_buffer
    geo_point_in_circle geo_point_in_polygon geo_point_to_geohash geo_point_to_h3cell geo_point_to_s2cell
    geo_polygon_area geo_polygon_buffer geo_polygon_centroid geo_polygon_densify geo_polygon_lookup
    geo_polygon_perimeter geo_polygon_simplify geo_polygon_to_h3cells geo_polygon_to_s2cells geo_s2cell_neighbors
    geo_s2cell_to_central_point geo_s2cell_to_polygon geo_simplify_polygons_array geo_union_lines_array
    geo_union_polygons_array __geo_length_to_s2cell_level __geo_line_s2cell_covering_level __geo_line_validate
    __geo_polygon_s2cell_covering_level __geo_polygon_validate`,
  ],
  ["transforms and polynomials of series are out of scope", "series_fft series_fit_poly series_ifft"],
  ["only addresses of version 4 are looked up", "ipv6_lookup __ipv6_lookup_ranges"],
  ["graphs are out of scope", "all graph inner_nodes labels map node_degree_in node_degree_out node_id"],
  [
    "machine learning and pattern plugins are out of scope",
    `ai_chat_completion ai_chat_completion_prompt ai_embed_text ai_embeddings`,
  ],
  ["statistical tests and distributions are out of scope", "beta_cdf beta_inv beta_pdf welch_test"],
  ["queries run no code but their own", "csharp python r __invoke"],
  [
    "a query reads the tables of its organization and nothing else",
    `azure_digital_twins_query_request cluster cosmosdb_sql_request database dax_request entity_group
    execute_query execute_show_command external_datatable external_table http_request http_request_post
    infer_storage_schema infer_storage_schema_with_suggestions materialized_view mysql_request
    postgresql_request sql_request stored_query_result table`,
  ],
  [
    "there are no clusters, extents or principals of Kusto here",
    `current_cluster_endpoint current_cursor current_database current_node_id current_principal
    current_principal_details current_principal_is_member_of cursor_after cursor_before_or_at cursor_current
    estimate_rows_count extent_id extent_tags extentid row_id rowstore_ordinal_range`,
  ],
  [
    "sketches are no values here; dcount() and percentile() answer directly",
    `dcount_hll dcount_intersect hll hll_if hll_isvalid hll_merge merge_tdigest percentile_tdigest
    percentiles_array_tdigest percentrank_tdigest rank_tdigest tdigest tdigest_isvalid tdigest_merge
    __hll_normalize`,
  ],
  [
    "data is not compressed in a query",
    `gzip_compress_to_base64_string zlib_compress_to_base64_string
    __lz4_compress_dynamic_array_to_base64_string`,
  ],
  [
    "plugins for the analysis of users and sequences are out of scope",
    `active_users_count activity_counts_metrics activity_engagement activity_metrics funnel_sequence
    funnel_sequence_completion new_activity_metrics rolling_percentile rows_near sequence_detect session_count
    sliding_window_counts`,
  ],
  ["the schema of values is not computed", "buildschema"],
  [
    "how Kusto computes it is not published",
    "hash_combine hash_many __hash_crc32 __hash_djb2 __hash_many_crc32 __hash_xxh64",
  ],
  ["the store cannot do it", "bin_auto"],
  ["it is of use to tools of Kusto only", "__cast assert iscolumnexists passthrough row_rank"],
  ["extract_all() took its place", "extractall"],
  ["bag_pack() with the names of the columns does the same", "bag_pack_columns"],
  ["windows of sessions are out of scope", "row_window_session"],
  ["plugins of another shape of rows are out of scope", "identity identity_v3 narrow preview"],
];

/** Every name that is refused, with the reason: what comes after "is not supported:". */
export const REJECTED_FUNCTIONS: ReadonlyMap<string, string> = new Map(
  GROUPS.flatMap(([reason, names]) => names.split(/\s+/).map((name): [string, string] => [name, reason])),
);
