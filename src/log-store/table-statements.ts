import type { ClickHouseClient } from "@clickhouse/client";
import { ClickHouseError } from "@clickhouse/client";
import {
  ABSENT_TOKEN,
  type AttributeColumn,
  attributeColumnOf,
  attributeInMap,
  attributeKind,
  MESSAGE_COLUMN,
  messageWords,
  WORD_INDEX,
} from "../../query/index.ts";
import { BUSY_SECONDS, MERGE_MAX_MS, SAMPLE_ROWS, UNINDEXED_AGE_S, UNINDEXED_PARTS_MAX } from "./limits.ts";

/** How the table has to have the columns of an attribute. */
export interface ColumnDefinition {
  readonly key: string;
  readonly isLowCardinality: boolean;
}

const WORDS = messageWords(MESSAGE_COLUMN);

const PARTS = "database = currentDatabase() AND table = 'logs' AND active";
/** ClickHouse's number for a merge that there is nothing for. */
const CANNOT_ASSIGN_OPTIMIZE = "388";

/** What looking after the table `logs` asks of ClickHouse. No key stands in a statement but as hexadecimal digits. */
export class TableStatements {
  readonly #clickhouse: ClickHouseClient;

  constructor(clickhouse: ClickHouseClient) {
    this.#clickhouse = clickhouse;
  }

  /** Rows that came in within the last seconds. */
  async recentRows(signal: AbortSignal): Promise<number> {
    return this.#count(
      `SELECT sum(rows) FROM system.parts WHERE ${PARTS} AND level = 0 AND modification_time > now() - ${BUSY_SECONDS}`,
      signal,
    );
  }

  /** Parts that have waited for the merge that would have made their indexes of messages. */
  async unindexedParts(signal: AbortSignal): Promise<number> {
    const waiting = await this.#texts(
      `SELECT name FROM system.parts WHERE ${PARTS} AND rows > 0 AND level = 0
        AND modification_time <= now() - ${UNINDEXED_AGE_S} LIMIT ${UNINDEXED_PARTS_MAX}`,
      signal,
    );
    if (waiting.length === 0) return 0;
    const names = waiting.map((name) => `'${partName(name)}'`);
    const estimates = await this.#withoutWords(`_part IN (${names.join(", ")})`, signal);
    return estimates.reduce((sum, { parts }) => sum + Number(parts), 0);
  }

  /** Has the store merge what pays most, within the size of any merge; false when there is nothing to merge. */
  async merge(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#command("OPTIMIZE TABLE logs", signal, { optimize_throw_if_noop: 1 });
      return true;
    } catch (error) {
      if (error instanceof ClickHouseError && error.code === CANNOT_ASSIGN_OPTIMIZE) return false;
      throw error;
    }
  }

  /** Whether a merge is under way, whoever asked for it. */
  async isMerging(signal: AbortSignal): Promise<boolean> {
    const running = await this.#count(
      "SELECT count() FROM system.merges WHERE database = currentDatabase() AND table = 'logs' AND NOT is_mutation",
      signal,
    );
    return running > 0;
  }

  /** Distinct values of an attribute among some entries, about. */
  async distinctValues(key: string, signal: AbortSignal): Promise<number> {
    return this.#count(
      `SELECT uniq(${inMap(key).text}) FROM (SELECT attrs FROM logs LIMIT ${SAMPLE_ROWS})`,
      signal,
    );
  }

  /** Adds the columns that are missing. Every part and every insert has their values from then on, stored or computed. */
  async addColumns(definitions: readonly ColumnDefinition[], signal: AbortSignal): Promise<void> {
    const actions = definitions.flatMap(additions);
    if (actions.length > 0) await this.#command(`ALTER TABLE logs ${actions.join(", ")}`, signal);
  }

  /** A partition some of whose parts lack the columns, the newest of them; null when there is none. */
  async unfilledPartition(key: string, signal: AbortSignal): Promise<string | null> {
    const { text, kind } = attributeColumnOf(key);
    const names = [text, kind];
    const [partition] = await this.#texts(
      `SELECT partition_id FROM system.parts WHERE ${PARTS} AND rows > 0 AND name NOT IN (
         SELECT name FROM system.parts_columns WHERE ${PARTS} AND column IN {names:Array(String)}
         GROUP BY name HAVING count() = ${names.length})
       ORDER BY partition_id DESC LIMIT 1`,
      signal,
      { names },
    );
    return partition ?? null;
  }

  /** Whether something rewrites the table's parts already. */
  async isChanging(signal: AbortSignal): Promise<boolean> {
    const running = await this.#count(
      "SELECT count() FROM system.mutations WHERE database = currentDatabase() AND table = 'logs' AND NOT is_done",
      signal,
    );
    return running > 0;
  }

  /** Begins to write the columns into the parts of a partition; ClickHouse goes on with it by itself. */
  async fill(
    partition: string,
    definitions: readonly ColumnDefinition[],
    signal: AbortSignal,
  ): Promise<void> {
    const of = `IN PARTITION ID '${partName(partition)}'`;
    const actions = definitions.flatMap(({ key, isLowCardinality }) => {
      const { text, kind } = attributeColumnOf(key);
      const index = isLowCardinality ? [] : [`MATERIALIZE INDEX ${text}_bloom ${of}`];
      return [`MATERIALIZE COLUMN ${text} ${of}`, `MATERIALIZE COLUMN ${kind} ${of}`, ...index];
    });
    await this.#command(`ALTER TABLE logs ${actions.join(", ")}`, signal, { mutations_sync: "0" });
  }

  /** Of the keys, those whose columns the table has. */
  async existing(keys: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const found = new Set(
      await this.#texts(
        "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'logs' AND name LIKE 'attr\\_%'",
        signal,
      ),
    );
    return new Set(keys.filter((key) => isIn(found, attributeColumnOf(key))));
  }

  /** Rows that the index of words lacks, in one partition or in all: those that would be read for a word that nobody wrote. */
  async rowsWithoutWords(signal: AbortSignal, partition?: string): Promise<number> {
    const of = partition === undefined ? "1" : `_partition_id = '${partName(partition)}'`;
    const estimates = await this.#withoutWords(of, signal);
    return estimates.reduce((sum, { rows }) => sum + Number(rows), 0);
  }

  /** What the store would read for a word that nobody wrote: parts without the index of words, or next to nothing. */
  async #withoutWords(
    condition: string,
    signal: AbortSignal,
  ): Promise<{ readonly parts: string | number; readonly rows: string | number }[]> {
    const answer = await this.#clickhouse.query({
      query: `EXPLAIN ESTIMATE SELECT count() FROM logs WHERE ${condition} AND hasToken(${WORDS}, '${ABSENT_TOKEN}')`,
      format: "JSONEachRow",
      abort_signal: signal,
      // Else parts are only left out while they are read.
      clickhouse_settings: { use_skip_indexes_on_data_read: 0, use_query_condition_cache: 0 },
    });
    return answer.json();
  }

  /** The newest partition that has more rows than so many whose words the index lacks; null when there is none. */
  async partitionWithoutWords(rows: number, signal: AbortSignal): Promise<string | null> {
    if ((await this.rowsWithoutWords(signal)) <= rows) return null;
    const partitions = await this.#texts(
      `SELECT DISTINCT partition_id FROM system.parts WHERE ${PARTS} AND rows > 0 ORDER BY partition_id DESC`,
      signal,
    );
    for (const partition of partitions)
      if ((await this.rowsWithoutWords(signal, partition)) > 0) return partition;
    return null;
  }

  /** Adds the index of words where it is missing. Inserts that make indexes, and merges, write it from then on. */
  async addWordIndex(signal: AbortSignal): Promise<void> {
    const existing = await this.#count(
      `SELECT count() FROM system.data_skipping_indices
        WHERE database = currentDatabase() AND table = 'logs' AND name = '${WORD_INDEX}'`,
      signal,
    );
    if (existing > 0) return;
    await this.#command(
      `ALTER TABLE logs ADD INDEX IF NOT EXISTS ${WORD_INDEX} ${WORDS}
        TYPE text(tokenizer = 'splitByNonAlpha', posting_list_codec = 'bitpacking')`,
      signal,
    );
  }

  /** Begins to write the index of words of a partition; ClickHouse goes on with it by itself. */
  async fillWords(partition: string, signal: AbortSignal): Promise<void> {
    await this.#command(
      `ALTER TABLE logs MATERIALIZE INDEX ${WORD_INDEX} IN PARTITION ID '${partName(partition)}'`,
      signal,
      { mutations_sync: "0" },
    );
  }

  /** Removes what there is of the columns. */
  async dropColumns(key: string, signal: AbortSignal): Promise<void> {
    const { text, kind } = attributeColumnOf(key);
    await this.#command(
      `ALTER TABLE logs DROP INDEX IF EXISTS ${text}_bloom, DROP COLUMN IF EXISTS ${text}, DROP COLUMN IF EXISTS ${kind}`,
      signal,
      { mutations_sync: "0" },
    );
  }

  async #command(
    query: string,
    signal: AbortSignal,
    settings: Record<string, string | number> = {},
  ): Promise<void> {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(MERGE_MAX_MS)]);
    await this.#clickhouse.command({ query, abort_signal: deadline, clickhouse_settings: settings });
  }

  async #count(query: string, signal: AbortSignal): Promise<number> {
    const [value] = await this.#texts(query, signal);
    return Number(value ?? 0);
  }

  async #texts(
    query: string,
    signal: AbortSignal,
    parameters: Record<string, readonly string[]> = {},
  ): Promise<string[]> {
    const answer = await this.#clickhouse.query({
      query,
      query_params: parameters,
      format: "JSONCompactEachRow",
      abort_signal: signal,
    });
    return (await answer.json<[unknown]>()).map(([value]) => String(value));
  }
}

function isIn(names: ReadonlySet<string>, { text, kind }: AttributeColumn): boolean {
  return names.has(text) && names.has(kind);
}

function inMap(key: string): ReturnType<typeof attributeInMap> {
  return attributeInMap("attrs", "attr_json_keys", `unhex('${Buffer.from(key).toString("hex")}')`);
}

function additions({ key, isLowCardinality }: ColumnDefinition): string[] {
  const { text, kind } = attributeColumnOf(key);
  const ofMap = inMap(key);
  const type = isLowCardinality ? "LowCardinality(String)" : "String";
  const index = `ADD INDEX IF NOT EXISTS ${text}_bloom ${text} TYPE bloom_filter(0.005) GRANULARITY 4`;
  return [
    `ADD COLUMN IF NOT EXISTS ${text} ${type} MATERIALIZED ${ofMap.text} CODEC(ZSTD(1))`,
    `ADD COLUMN IF NOT EXISTS ${kind} UInt8 MATERIALIZED ${attributeKind(ofMap)} CODEC(ZSTD(1))`,
    ...(isLowCardinality ? [] : [index]),
  ];
}

/** What ClickHouse calls a part or a partition by, which is letters and digits. */
function partName(text: string): string {
  if (!/^[\w-]+$/.test(text)) throw new TypeError("no name of a part");
  return text;
}
