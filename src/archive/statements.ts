import type { ClickHouseClient } from "@clickhouse/client";
import { fileTable } from "../../query/index.ts";
import { DependencyError } from "../errors.ts";
import { ARCHIVE_COLUMNS } from "./columns.ts";
import type { FileDigest, IdsDigest, RowsDigest } from "./digests.ts";
import type { ArchiveFiles } from "./files/archive-files.ts";
import { type Condition, expiredCondition, type HotRetention } from "./hot-retention.ts";
import type { CommittedUnit, UnitKey } from "./ledger/unit-store.ts";
import {
  ROW_GROUP_BYTES,
  ROW_GROUP_ROWS,
  STATEMENT_MAX_MEMORY_BYTES,
  STATEMENT_MAX_MS,
  STATEMENT_MAX_THREADS,
  UNIT_MAX_ROWS,
} from "./limits.ts";

/** Entries of an organisation and a day of receipt. */
interface OrganizationDay {
  readonly organizationId: number;
  readonly day: string;
}

type Parameters = Record<string, string | number | readonly number[] | readonly string[]>;

const DIGEST = `count() AS rows, toString(sum(sipHash64(${ARCHIVE_COLUMNS}))) AS checksum`;
const IDS = "toString(sum(sipHash64(organization_id, id))) AS ids";
const STAGED =
  "(organization_id, id) IN (SELECT organization_id, id FROM log_archive_moves WHERE attempt IN {attempts: Array(UInt64)})";
/** The primary key of the table begins with the organisation; its partitions are days. */
const OF_UNIT = "organization_id = {organizationId: UInt32} AND toDate(received_at) = {day: Date}";
const OF_UNITS =
  "organization_id IN {organizationIds: Array(UInt32)} AND toDate(received_at) IN {days: Array(Date)}";

const SETTINGS = {
  max_execution_time: STATEMENT_MAX_MS / 1000,
  max_memory_usage: String(STATEMENT_MAX_MEMORY_BYTES),
  max_threads: STATEMENT_MAX_THREADS,
  wait_end_of_query: 1,
  // A file whose name is taken is never added to and never replaced.
  engine_file_truncate_on_insert: 0,
  s3_truncate_on_insert: 0,
} as const;

const FILE_SETTINGS = {
  ...SETTINGS,
  output_format_parquet_compression_method: "zstd",
  output_format_parquet_row_group_size: String(ROW_GROUP_ROWS),
  output_format_parquet_row_group_size_bytes: String(ROW_GROUP_BYTES),
} as const;

/**
 * What the work on the archive asks of ClickHouse. Every statement that touches entries names their organisation.
 * Values travel as parameters. All throw a retryable DependencyError.
 */
export class ArchiveStatements {
  readonly #clickhouse: ClickHouseClient;
  readonly #files: ArchiveFiles;

  constructor(clickhouse: ClickHouseClient, files: ArchiveFiles) {
    this.#clickhouse = clickhouse;
    this.#files = files;
  }

  /** Which days of one organisation have entries whose time is over, oldest first. */
  async expiredDays(
    organizationId: number,
    retention: HotRetention,
    days: { today: string; lastDay: string; limit: number },
    signal: AbortSignal,
  ): Promise<string[]> {
    const expired = expiredCondition(retention, days.today);
    const rows = await this.#select<{ day: string }>(
      `SELECT toString(toDate(received_at)) AS day FROM logs
       WHERE organization_id = {organizationId: UInt32} AND toDate(received_at) <= {lastDay: Date} AND ${expired.sql}
       GROUP BY day ORDER BY day LIMIT {limit: UInt32}`,
      { ...expired.parameters, organizationId, lastDay: days.lastDay, limit: days.limit },
      signal,
    );
    return rows.map(({ day }) => day);
  }

  /** Which organisations but those excepted have entries of days up to `lastDay`, the oldest days first. */
  async oldDays(
    lastDay: string,
    except: readonly number[],
    limit: number,
    signal: AbortSignal,
  ): Promise<OrganizationDay[]> {
    const rows = await this.#select<{ organization_id: number; day: string }>(
      `SELECT organization_id, toString(toDate(received_at)) AS day FROM logs
       WHERE toDate(received_at) <= {lastDay: Date} AND NOT has({except: Array(UInt32)}, organization_id)
       GROUP BY organization_id, day ORDER BY day, organization_id LIMIT {limit: UInt32}`,
      { lastDay, except, limit },
      signal,
    );
    return rows.map(({ organization_id, day }) => ({ organizationId: organization_id, day }));
  }

  /** Fixes which entries an attempt moves, and counts them; the oldest first, where there are more than a unit takes. */
  async stage(
    unit: UnitKey,
    attempt: number,
    retention: HotRetention,
    today: string,
    signal: AbortSignal,
  ): Promise<number> {
    const expired: Condition = expiredCondition(retention, today);
    await this.#command(
      `INSERT INTO log_archive_moves (attempt, organization_id, id)
       SELECT {attempt: UInt64}, organization_id, id FROM logs
       WHERE ${OF_UNIT} AND ${expired.sql} ORDER BY id LIMIT {limit: UInt32}`,
      { ...expired.parameters, ...ofUnit(unit), attempt, limit: UNIT_MAX_ROWS },
      signal,
    );
    return (await this.digestStaged(attempt, signal)).rows;
  }

  /** Fixes the same entries again, from the file that has them. */
  async stageFrom(file: string, attempt: number, signal: AbortSignal): Promise<void> {
    const parameters: Parameters = { attempt };
    await this.#command(
      `INSERT INTO log_archive_moves (attempt, organization_id, id)
       SELECT {attempt: UInt64}, organization_id, id FROM ${this.#table(file, parameters)}`,
      parameters,
      signal,
    );
  }

  /** Which entries the attempt has fixed. */
  async digestStaged(attempt: number, signal: AbortSignal): Promise<IdsDigest> {
    const [row] = await this.#select<{ rows: string; ids: string }>(
      `SELECT count() AS rows, ${IDS} FROM log_archive_moves WHERE attempt = {attempt: UInt64}`,
      { attempt },
      signal,
    );
    return { rows: Number(row?.rows ?? 0), ids: row?.ids ?? "" };
  }

  /** Also when the attempt has fixed nothing. */
  async dropStaged(attempt: number, signal: AbortSignal): Promise<void> {
    await this.#command(
      "ALTER TABLE log_archive_moves DROP PARTITION {attempt: String}",
      { attempt: String(attempt) },
      signal,
    );
  }

  /** Writes the entries that the attempt has fixed to a new file, in the order of a search. */
  async write(unit: UnitKey, attempt: number, file: string, signal: AbortSignal): Promise<void> {
    const parameters: Parameters = { ...ofUnit(unit), attempts: [attempt] };
    await this.#command(
      `INSERT INTO FUNCTION ${this.#table(file, parameters)}
       SELECT ${ARCHIVE_COLUMNS} FROM logs WHERE ${OF_UNIT} AND ${STAGED} ORDER BY ts, id`,
      parameters,
      signal,
      FILE_SETTINGS,
    );
  }

  /** What the log store has of the entries that the attempt has fixed. */
  async digestHot(unit: UnitKey, attempt: number, signal: AbortSignal): Promise<RowsDigest> {
    const [row] = await this.#select<{ rows: string; checksum: string }>(
      `SELECT ${DIGEST} FROM logs WHERE ${OF_UNIT} AND ${STAGED}`,
      { ...ofUnit(unit), attempts: [attempt] },
      signal,
    );
    return { rows: Number(row?.rows ?? 0), checksum: row?.checksum ?? "" };
  }

  /** What a file has, read back from where it lies. */
  async digestFile(file: string, signal: AbortSignal): Promise<FileDigest> {
    const parameters: Parameters = {};
    const [row] = await this.#select<Record<string, string | number>>(
      `SELECT ${DIGEST}, ${IDS}, min(organization_id) AS first, max(organization_id) AS last,
              toString(toUnixTimestamp64Nano(min(ts))) AS min_ts, toString(toUnixTimestamp64Nano(max(ts))) AS max_ts,
              toString(max(_size)) AS bytes
       FROM ${this.#table(file, parameters)}`,
      parameters,
      signal,
    );
    if (row === undefined) throw new Error("an aggregate gave no row");
    return {
      rows: Number(row.rows),
      checksum: String(row.checksum),
      ids: String(row.ids),
      firstOrganizationId: Number(row.first),
      lastOrganizationId: Number(row.last),
      minTs: BigInt(row.min_ts ?? 0),
      maxTs: BigInt(row.max_ts ?? 0),
      bytes: Number(row.bytes),
    };
  }

  /** Lets the log store begin to forget the entries of the units; it goes on by itself. */
  async deleteHot(units: readonly CommittedUnit[], signal: AbortSignal): Promise<void> {
    await this.#command(`ALTER TABLE logs DELETE WHERE ${OF_UNITS} AND ${STAGED}`, ofUnits(units), signal, {
      ...SETTINGS,
      mutations_sync: "0",
    });
  }

  /** How many such deletions are not at their end. */
  async deletionsUnderWay(signal: AbortSignal): Promise<number> {
    return this.#count(
      `SELECT count() AS n FROM system.mutations
       WHERE database = currentDatabase() AND table = 'logs' AND NOT is_done AND position(command, 'log_archive_moves') > 0`,
      {},
      signal,
    );
  }

  async hotRowsLeft(units: readonly CommittedUnit[], signal: AbortSignal): Promise<number> {
    return this.#count(
      `SELECT count() AS n FROM logs WHERE ${OF_UNITS} AND ${STAGED}`,
      ofUnits(units),
      signal,
    );
  }

  #table(file: string, parameters: Parameters): string {
    let places = 0;
    return fileTable(this.#files.source([file]), (text) => {
      const name = `file${places++}`;
      parameters[name] = text;
      return `{${name}: String}`;
    });
  }

  async #count(query: string, parameters: Parameters, signal: AbortSignal): Promise<number> {
    const [row] = await this.#select<{ n: string }>(query, parameters, signal);
    return Number(row?.n ?? 0);
  }

  async #select<T>(query: string, parameters: Parameters, signal: AbortSignal): Promise<T[]> {
    return asking(async () => {
      const result = await this.#clickhouse.query({
        query,
        query_params: parameters,
        format: "JSONEachRow",
        clickhouse_settings: SETTINGS,
        abort_signal: signal,
      });
      return result.json<T>();
    });
  }

  async #command(
    query: string,
    parameters: Parameters,
    signal: AbortSignal,
    settings: Readonly<Record<string, string | number>> = SETTINGS,
  ): Promise<void> {
    await asking(() =>
      this.#clickhouse.command({
        query,
        query_params: parameters,
        clickhouse_settings: settings,
        abort_signal: signal,
      }),
    );
  }
}

function ofUnit({ organizationId, day }: UnitKey): Parameters {
  return { organizationId, day };
}

function ofUnits(units: readonly CommittedUnit[]): Parameters {
  return {
    organizationIds: [...new Set(units.map(({ organizationId }) => organizationId))],
    days: [...new Set(units.map(({ day }) => day))],
    attempts: units.map(({ attempt }) => attempt),
  };
}

async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new DependencyError("clickhouse", "a statement of the archive failed", {
      retryable: true,
      cause: error,
    });
  }
}
