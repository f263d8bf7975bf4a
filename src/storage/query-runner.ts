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

/** How far a running statement is; `totalRowsToRead` is the store's estimate. */
export interface StatementProgress {
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly totalRowsToRead: number;
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
  invalid: "refused",
  cancelled: "cancelled",
  unavailable: "failed",
  fault: "failed",
};

/** ClickHouse ends a statement by itself at its limit of time; if nothing came so long after it, nothing will. */
const ANSWER_GRACE_MS = 10_000;

/** Between two questions how far a statement is: often enough for a person, a millisecond of the store's time each. */
const PROGRESS_INTERVAL_MS = 250;

/** What ClickHouse takes of one field of a form, whatever its settings say for the statement: its text, or one value. */
const FIELD_MAX_BYTES = 131_072 - 1_024;

/** Codes of ClickHouse for what is seen here before it could say so. */
const QUERY_IS_TOO_LARGE = 229;
const TIMEOUT_EXCEEDED = 159;

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
   * The answer, whole. `operation` names the statement in metrics. Aborting closes the connection and kills
   * the statement. Throws ApiError with QUERY_TIMEOUT, QUERY_TOO_EXPENSIVE or KQL_INVALID, and DependencyError for the
   * rest.
   */
  async run(
    operation: string,
    compiled: CompiledQuery,
    signal: AbortSignal,
    onProgress: ((progress: StatementProgress) => void) | null = null,
  ): Promise<QueryAnswer> {
    const { admission, metrics, monotonicMs } = this.#options;
    const startMs = monotonicMs();
    const observe = (outcome: string): void =>
      metrics.query.durationSec.observe({ operation, outcome }, (monotonicMs() - startMs) / 1000);
    try {
      const answer = await admission.run(signal, () => this.#watched(compiled, signal, onProgress));
      observe("ok");
      metrics.query.rowsRead.inc({ operation }, answer.rowsRead);
      return answer;
    } catch (error) {
      const failure = error instanceof ClickHouseQueryError ? classifyClickHouseError(error) : "unavailable";
      observe(OUTCOMES[signal.aborted ? "cancelled" : failure]);
      throw error instanceof ClickHouseQueryError ? clickHouseQueryFailure(error) : error;
    }
  }

  /** The answer; until it is there, tells how far the statement is, as the store's list of running statements says. */
  async #watched(
    compiled: CompiledQuery,
    signal: AbortSignal,
    onProgress: ((progress: StatementProgress) => void) | null,
  ): Promise<QueryAnswer> {
    const queryId = crypto.randomUUID();
    const named = { ...compiled, settings: { ...compiled.settings, query_id: queryId } };
    const answered = new AbortController();
    const until = AbortSignal.any([signal, answered.signal]);
    const watching = onProgress === null ? null : this.#watch(queryId, until, onProgress);
    const timeout = AbortSignal.timeout(compiled.maxExecutionMs + ANSWER_GRACE_MS);
    const deadline = AbortSignal.any([signal, timeout]);
    try {
      return await this.#ask(named, deadline);
    } catch (error) {
      if (!timeout.aborted || signal.aborted) throw error;
      // The store looks at its limit of time while it reads; what it does before that may take longer.
      throw new ClickHouseQueryError(TIMEOUT_EXCEEDED, "not answered in time", { cause: error });
    } finally {
      answered.abort();
      if (deadline.aborted) void this.#kill(queryId);
      await watching;
    }
  }

  /** A closed connection ends a statement only once it writes: a join that has written nothing went on to its limit. */
  async #kill(queryId: string): Promise<void> {
    const sql = `KILL QUERY WHERE query_id = '${queryId}' ASYNC`;
    // Where this fails, the statement's limit of time ends it.
    await this.#send({ sql, parameters: {}, settings: {} }, AbortSignal.timeout(KILL_TIMEOUT_MS), "").catch(
      () => undefined,
    );
  }

  async #watch(
    queryId: string,
    signal: AbortSignal,
    onProgress: (progress: StatementProgress) => void,
  ): Promise<void> {
    for (;;) {
      await pause(PROGRESS_INTERVAL_MS, signal);
      if (signal.aborted) return;
      try {
        const { status, text } = await this.#send(progressOf(queryId), signal);
        if (status !== 200) continue;
        const [row] = readAnswer(JSON.parse(text)).rows;
        if (row === undefined) continue;
        const [rowsRead = 0, bytesRead = 0, totalRowsToRead = 0] = row.map(Number);
        onProgress({ rowsRead, bytesRead, totalRowsToRead });
      } catch {
        // Progress decorates an answer: what is not known is not told, and the statement goes on.
      }
    }
  }

  async #ask(compiled: CompiledQuery, deadline: AbortSignal): Promise<QueryAnswer> {
    const { status, code, text } = await this.#send(compiled, deadline).catch((error) => {
      if (deadline.aborted) throw error;
      // A connection that idled may have been closed just as it was taken up again; a SELECT may be sent twice.
      return this.#send(compiled, deadline);
    });
    if (status !== 200) throw new ClickHouseQueryError(code, text.slice(0, REFUSAL_MAX_CHARS));
    return readAnswer(JSON.parse(text));
  }

  async #send(
    { sql, parameters, settings }: Pick<CompiledQuery, "sql" | "parameters" | "settings">,
    signal: AbortSignal,
    format = "\nFORMAT JSONCompact",
  ) {
    const { origin, database } = this.#options.endpoint;
    const url = new URLSearchParams({ database, ...settings });
    // As a form, since the address of a request has a limit of its own for all values together.
    const fields = { query: `${sql}${format}`, ...parameterFields(sql, parameters) };
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      if (Buffer.byteLength(value) > FIELD_MAX_BYTES)
        throw new ClickHouseQueryError(QUERY_IS_TOO_LARGE, `${name} is larger than the store takes`);
      form.set(name, value);
    }
    try {
      const response = await fetch(`${origin}/?${url}`, {
        method: "POST",
        headers: { authorization: this.#authorization },
        body: form,
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

/** Longer than a store takes that answers at all. */
const KILL_TIMEOUT_MS = 5_000;

function progressOf(queryId: string): Pick<CompiledQuery, "sql" | "parameters" | "settings"> {
  return {
    sql: "SELECT read_rows, read_bytes, total_rows_approx FROM system.processes WHERE query_id = {query:String}",
    parameters: { query: queryId },
    settings: { readonly: "1", max_execution_time: "1" },
  };
}

/** Waits, but not beyond an abort. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal.addEventListener("abort", finish);
  });
}

function parameterFields(sql: string, parameters: CompiledQuery["parameters"]): Record<string, string> {
  const fields = Object.entries(parameters).map(([name, value]) => {
    // A list is read as it is: its elements have escapes of their own.
    const isList = sql.includes(`{${name}:Array(`);
    return [`param_${name}`, isList ? value : escapeParameter(value)];
  });
  return Object.fromEntries(fields);
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
