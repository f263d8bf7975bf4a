import type { CompiledQuery } from "../../query/index.ts";
import type { Metrics } from "../ops/metrics.ts";
import type { Admission } from "./admission.ts";
import type { ClickHouseEndpoint } from "./clickhouse.ts";
import {
  type ClickHouseFailure,
  ClickHouseQueryError,
  classifyClickHouseError,
  clickHouseQueryFailure,
} from "./clickhouse-errors.ts";
import { basicAuthorization } from "./embedded/clickhouse-config.ts";

/** What a statement answered and what it cost in the store. */
export interface QueryAnswer {
  /** One array per row, its values in the order and the wire formats of the compiled columns. */
  readonly rows: readonly (readonly unknown[])[];
  readonly rowsRead: number;
  readonly bytesRead: number;
}

export interface QueryRunnerOptions {
  readonly endpoint: ClickHouseEndpoint;
  readonly admission: Admission;
  readonly metrics: Pick<Metrics, "query">;
  /** Milliseconds of a clock that does not jump. */
  readonly monotonicMs: () => number;
}

const OUTCOMES: Readonly<Record<ClickHouseFailure, string>> = {
  timeout: "timeout",
  too_expensive: "refused",
  cancelled: "cancelled",
  unavailable: "failed",
  fault: "failed",
};

/** ClickHouse ends a statement by itself at its limit of time; if nothing came so long after it, nothing will. */
const ANSWER_GRACE_MS = 10_000;

/** Characters of a refusal kept for the log. */
const REFUSAL_MAX_CHARS = 1_000;

/**
 * Runs compiled statements. It adds nothing to them: every limit and every value travels in what was compiled. Speaks
 * HTTP itself, because the official client on this runtime adds two milliseconds to every statement, which is as much
 * as most of them take.
 */
export class QueryRunner {
  readonly #options: QueryRunnerOptions;
  readonly #authorization: string;

  constructor(options: QueryRunnerOptions) {
    this.#options = options;
    this.#authorization = basicAuthorization(options.endpoint.user, options.endpoint.password);
  }

  /**
   * The answer, whole. `operation` names the statement in metrics. Aborting closes the connection, upon which
   * ClickHouse stops. Throws ApiError with QUERY_TIMEOUT or QUERY_TOO_EXPENSIVE, and DependencyError for the rest.
   */
  async run(operation: string, compiled: CompiledQuery, signal: AbortSignal): Promise<QueryAnswer> {
    const { admission, metrics, monotonicMs } = this.#options;
    const startMs = monotonicMs();
    const observe = (outcome: string): void =>
      metrics.query.durationSec.observe({ operation, outcome }, (monotonicMs() - startMs) / 1000);
    try {
      const answer = await admission.run(signal, () => this.#ask(compiled, signal));
      observe("ok");
      metrics.query.rowsRead.inc({ operation }, answer.rowsRead);
      return answer;
    } catch (error) {
      const failure = error instanceof ClickHouseQueryError ? classifyClickHouseError(error) : "unavailable";
      observe(OUTCOMES[signal.aborted ? "cancelled" : failure]);
      throw error instanceof ClickHouseQueryError ? clickHouseQueryFailure(error) : error;
    }
  }

  async #ask(compiled: CompiledQuery, signal: AbortSignal): Promise<QueryAnswer> {
    const deadline = AbortSignal.any([
      signal,
      AbortSignal.timeout(compiled.maxExecutionMs + ANSWER_GRACE_MS),
    ]);
    const { status, code, text } = await this.#send(compiled, deadline).catch((error) => {
      if (deadline.aborted) throw error;
      // A connection that idled may have been closed just as it was taken up again; a SELECT may be sent twice.
      return this.#send(compiled, deadline);
    });
    if (status !== 200) throw new ClickHouseQueryError(code, text.slice(0, REFUSAL_MAX_CHARS));
    return readAnswer(JSON.parse(text));
  }

  async #send({ sql, parameters, settings }: CompiledQuery, signal: AbortSignal) {
    const { origin, database } = this.#options.endpoint;
    const url = new URLSearchParams({ database, ...settings });
    for (const [name, value] of Object.entries(parameters)) url.set(`param_${name}`, escapeParameter(value));
    try {
      const response = await fetch(`${origin}/?${url}`, {
        method: "POST",
        headers: { authorization: this.#authorization },
        body: `${sql}\nFORMAT JSONCompact`,
        signal,
      });
      const code = response.headers.get("x-clickhouse-exception-code");
      return {
        status: response.status,
        code: code === null ? null : Number(code),
        text: await response.text(),
      };
    } catch (error) {
      throw new ClickHouseQueryError(null, "not answered", { cause: error });
    }
  }
}

/** ClickHouse reads the value of a parameter as a field of TSV. */
function escapeParameter(value: string): string {
  return value.replace(/[\\\t\n\r]/g, (character) => PARAMETER_ESCAPES[character] ?? character);
}

const PARAMETER_ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
};

/** Throws a TypeError for anything that is not what the format JSONCompact looks like. */
function readAnswer(answer: unknown): QueryAnswer {
  if (
    !isRecord(answer) ||
    !Array.isArray(answer.data) ||
    !answer.data.every(Array.isArray) ||
    !isRecord(answer.statistics)
  )
    throw new TypeError("the log store answered in another format");
  const { rows_read: rowsRead, bytes_read: bytesRead } = answer.statistics;
  return { rows: answer.data, rowsRead: Number(rowsRead), bytesRead: Number(bytesRead) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
