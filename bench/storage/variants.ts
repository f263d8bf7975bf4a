import { readFileSync } from "node:fs";
import { join } from "node:path";
import { splitStatements } from "../../src/storage/migrations/split-statements.ts";
import type { Settings } from "./engine.ts";

/** The chosen table with one thing changed. */
export interface Variant {
  readonly name: string;
  /** The whole statement, for a table named `logs`. */
  readonly ddl: string;
  /** How the attributes are selected from `source` when their type differs. */
  readonly attrs?: string;
  readonly rowsPerInsert?: number;
  readonly insertSettings?: Settings;
}

const migration = join(import.meta.dir, "../../migrations/clickhouse/0001_logs.sql");

/** The statement of the migration: what the server creates. */
export function chosenTable(): string {
  const [statement] = splitStatements(readFileSync(migration, "utf8"));
  if (statement === undefined) throw new Error(`${migration} has no statement`);
  return statement;
}

const messageIndex = /INDEX message_ngrams .*,/;
const attrsColumn = "attrs Map(LowCardinality(String), String)";

function messageIndexAs(definition: string): (ddl: string) => string {
  return (ddl) => edit(ddl, messageIndex, definition === "" ? "" : `INDEX message_ngrams ${definition},`);
}

/** Replaces exactly what must be there: a variant that silently equals the chosen table would lie. */
function edit(ddl: string, from: string | RegExp, to: string): string {
  const edited = ddl.replace(from, to);
  if (edited === ddl) throw new Error(`nothing in the table's definition matches ${from}`);
  return edited;
}

function withSetting(ddl: string, name: string, value: string | number): string {
  const known = new RegExp(`${name} = [^,\\n]+`);
  return known.test(ddl) ? ddl.replace(known, `${name} = ${value}`) : `${ddl}, ${name} = ${value}`;
}

const edits: readonly (readonly [name: string, edit: (ddl: string) => string])[] = [
  ["no message index", messageIndexAs("")],
  ["text index, words", messageIndexAs("lower(message) TYPE text(tokenizer = splitByNonAlpha)")],
  ["text index, 3-grams", messageIndexAs("lower(message) TYPE text(tokenizer = ngrams(3))")],
  ["token bloom filter", messageIndexAs("lower(message) TYPE tokenbf_v1(65536, 1, 0) GRANULARITY 2")],
  ["4-gram bloom filter", messageIndexAs("lower(message) TYPE ngrambf_v1(4, 65536, 1, 0) GRANULARITY 2")],
  ["6-grams, 8 bytes a row", messageIndexAs("lower(message) TYPE ngrambf_v1(6, 65536, 1, 0) GRANULARITY 4")],
  ["no attribute filter", (ddl) => edit(ddl, /INDEX attr_values_bloom .*,/, "")],
  ["Map in 8 buckets", bucketedMap],
  ["Map(String, String)", (ddl) => edit(ddl, attrsColumn, "attrs Map(String, String)")],
  ["all LZ4", (ddl) => edit(ddl, /ZSTD\(1\)/g, "LZ4")],
  ["all ZSTD(3)", (ddl) => edit(ddl, /ZSTD\(1\)/g, "ZSTD(3)")],
  ["times without Delta", (ddl) => edit(ddl, /Delta\(8\), /g, "")],
  ["times DoubleDelta", (ddl) => edit(ddl, /Delta\(8\)/g, "DoubleDelta")],
  ["granules of 8192", granulesOf8192],
  ["wide parts", (ddl) => withSetting(ddl, "min_bytes_for_wide_part", 0)],
  ["no fsync", (ddl) => withSetting(withSetting(ddl, "fsync_after_insert", 0), "fsync_part_directory", 0)],
  ["order by service first", orderBy("organization_id, service, ts, id")],
  ["order by 10 min, service", orderBy("organization_id, toStartOfTenMinutes(ts), service, ts, id")],
];

function bucketedMap(ddl: string): string {
  const settings: [string, string | number][] = [
    ["map_serialization_version", "'with_buckets'"],
    ["map_buckets_strategy", "'constant'"],
    ["max_buckets_in_map", 8],
    ["map_buckets_min_avg_size", 0],
  ];
  return settings.reduce((table, [name, value]) => withSetting(table, name, value), ddl);
}

/** The same bytes of index per row, and the same rows per index entry as far as that goes. */
function granulesOf8192(ddl: string): string {
  const wider = edit(
    ddl,
    "ngrambf_v1(6, 65536, 1, 0) GRANULARITY 2",
    "ngrambf_v1(6, 131072, 1, 0) GRANULARITY 1",
  );
  return withSetting(edit(wider, /GRANULARITY 4/g, "GRANULARITY 1"), "index_granularity", 8192);
}

function orderBy(key: string): (ddl: string) => string {
  return (ddl) => edit(ddl, /ORDER BY \(.*\)/, `ORDER BY (${key})`);
}

/** The chosen table first, then every alternative. */
export function allVariants(): Variant[] {
  const chosen = chosenTable();
  return [
    { name: "chosen", ddl: chosen },
    ...edits.map(([name, change]) => ({ name, ddl: change(chosen) })),
    {
      name: "JSON type",
      ddl: edit(
        edit(chosen, `${attrsColumn} CODEC(ZSTD(1))`, "attrs JSON"),
        /INDEX attr_values_bloom .*,/,
        "",
      ),
      attrs: "toJSONString(attrs)",
    },
    {
      name: "message index at merge",
      ddl: chosen,
      insertSettings: { exclude_materialize_skip_indexes_on_insert: "message_ngrams" },
    },
    { name: "inserts of 10 000", ddl: chosen, rowsPerInsert: 10_000 },
    { name: "inserts of 250 000", ddl: chosen, rowsPerInsert: 250_000 },
  ];
}
