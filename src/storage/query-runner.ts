import type { ClickHouseClient } from "@clickhouse/client";
import type { CompiledQuery } from "../../query/index.ts";
import type { Metrics } from "../ops/metrics.ts";
import {
  type ClickHouseFailure,
  classifyClickHouseError,
  clickHouseQueryError,
} from "./clickhouse-errors.ts";

/** What a statement answered and what it cost in the store. */
export interface QueryAnswer {
  /** One array per row, its values in the order and the wire formats of the compiled columns. */
  readonly rows: readonly (readonly unknown[])[];
  readonly rowsRead: number;
  readonly bytesRead: number;
}

const OUTCOMES: Readonly<Record<ClickHouseFailure, string>> = {
  timeout: "timeout",
  too_expensive: "refused",
  cancelled: "cancelled",
  unavailable: "failed",
  fault: "failed",
};

export interface QueryRunnerOptions {
  readonly clickhouse: ClickHouseClient;
  readonly metrics: Pick<Metrics, "query">;
  /** Milliseconds of a clock that does not jump. */
  readonly monotonicMs: () => number;
}

/** Runs compiled statements. It adds nothing to them: every limit and every value travels in what was compiled. */
export class QueryRunner {
  readonly #options: QueryRunnerOptions;

  constructor(options: QueryRunnerOptions) {
    this.#options = options;
  }

  /**
   * The answer, whole. `operation` names the statement in metrics. Aborting closes the connection, upon which
   * ClickHouse stops. Throws ApiError with QUERY_TIMEOUT or QUERY_TOO_EXPENSIVE, and DependencyError for the rest.
   */
  async run(operation: string, compiled: CompiledQuery, signal: AbortSignal): Promise<QueryAnswer> {
    const { clickhouse, metrics, monotonicMs } = this.#options;
    const startMs = monotonicMs();
    const observe = (outcome: string) =>
      metrics.query.durationSec.observe({ operation, outcome }, (monotonicMs() - startMs) / 1000);
    try {
      const result = await clickhouse.query({
        query: compiled.sql,
        query_params: compiled.parameters,
        clickhouse_settings: compiled.settings,
        format: "JSONCompact",
        abort_signal: signal,
      });
      const { data, statistics } = await result.json<readonly unknown[]>();
      const answer = {
        rows: data,
        rowsRead: statistics?.rows_read ?? 0,
        bytesRead: statistics?.bytes_read ?? 0,
      };
      observe("ok");
      metrics.query.rowsRead.inc({ operation }, answer.rowsRead);
      return answer;
    } catch (error) {
      observe(OUTCOMES[signal.aborted ? "cancelled" : classifyClickHouseError(error)]);
      throw clickHouseQueryError(error);
    }
  }
}
