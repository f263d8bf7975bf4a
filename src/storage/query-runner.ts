import type { CompiledQuery } from "../../query/index.ts";
import type { Admission } from "../concurrency/admission.ts";
import type { MemoryShare } from "../concurrency/memory-share.ts";
import { mapInSlices } from "../concurrency/thread-turns.ts";
import { ApiError } from "../errors.ts";
import type { ClickHouseEndpoint } from "./clickhouse.ts";
import {
  type ClickHouseFailure,
  ClickHouseQueryError,
  classifyClickHouseError,
  clickHouseQueryFailure,
  MEMORY_LIMIT_EXCEEDED,
} from "./clickhouse-errors.ts";
import { ANSWER_MAX_BYTES, ANSWER_ROW_MAX_BYTES } from "./limits.ts";
import type { QueryMetrics } from "./query-metrics.ts";
import { StatementBounds, type StoreCapacity, type StorePart } from "./statement-bounds.ts";
import { notAnswered, refusalOf, type StatementCost, StatementWire, summaryOf } from "./statement-wire.ts";
import { type Row, RowTooLongError, StoredRows } from "./stored-rows.ts";

/** On whose behalf a statement runs, until when anybody waits for it, and what its answer counts as. */
export interface QueryCaller {
  readonly organizationId: number;
  readonly userId: number;
  readonly signal: AbortSignal;
  readonly memory: MemoryShare;
}

/** What a statement answered. */
export interface QueryAnswer extends StatementCost {
  /** One array per row, its values in the order and the wire formats of the compiled columns. */
  readonly rows: readonly Row[];
}

/** The same where there may be much of it: the rows are parsed as they are read. */
export interface LargeAnswer extends StatementCost {
  readonly rows: StoredRows;
}

/** How far a running statement is; `totalRowsToRead` is the store's estimate. */
export interface StatementProgress {
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly totalRowsToRead: number;
}

interface QueryRunnerOptions {
  readonly endpoint: ClickHouseEndpoint;
  readonly admission: Admission;
  /** What the statements that are admitted here may take of the store. */
  readonly part: StorePart;
  readonly metrics: { readonly query: QueryMetrics };
  /** Milliseconds of a clock that does not jump. */
  readonly monotonicMs: () => number;
  /** What the store has for statements; by default what it says itself. */
  readonly capacity?: StoreCapacity;
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

/** Code of ClickHouse for what is seen here before it could say so. */
const TIMEOUT_EXCEEDED = 159;

/** Runs compiled statements. It adds nothing to them: every limit and every value travels in what was compiled. */
export class QueryRunner {
  readonly #options: QueryRunnerOptions;
  readonly #wire: StatementWire;
  #bounds: Promise<StatementBounds> | null;

  constructor(options: QueryRunnerOptions) {
    this.#options = options;
    this.#wire = new StatementWire(options.endpoint);
    const { capacity, part } = options;
    this.#bounds = capacity === undefined ? null : Promise.resolve(new StatementBounds(capacity, part));
  }

  /** The answer, whole; what its rows hold counts until the request is answered. Throws what `read` throws. */
  async run(
    operation: string,
    compiled: CompiledQuery,
    caller: QueryCaller,
    onProgress: ((progress: StatementProgress) => void) | null = null,
  ): Promise<QueryAnswer> {
    const { rows, rowsRead, bytesRead } = await this.read(operation, compiled, caller, { onProgress });
    if (rows.isCut) {
      rows.discard();
      throw tooMuch();
    }
    const { bytes } = rows;
    const parsed = await mapInSlices(rows, (row) => row);
    caller.memory.take(bytes);
    return { rows: parsed, rowsRead, bytesRead };
  }

  /**
   * The answer as the store wrote it; the statement is over then, however long it takes to read. `operation` names the
   * statement in metrics. Of an answer of more than `maxBytes` it has the rows up to there. Aborting closes the
   * connection and kills the statement. Throws ApiError with QUERY_TIMEOUT or QUERY_TOO_EXPENSIVE, or because too much
   * waits for readers already, and DependencyError for the rest.
   */
  async read(
    operation: string,
    compiled: CompiledQuery,
    caller: QueryCaller,
    options: ReadOptions = {},
  ): Promise<LargeAnswer> {
    const { metrics, monotonicMs } = this.#options;
    const { signal } = caller;
    const startMs = monotonicMs();
    const observe = (outcome: string): void =>
      metrics.query.durationSec.observe({ operation, outcome }, (monotonicMs() - startMs) / 1000);
    try {
      const answer = await this.#admitted(compiled, caller, options);
      observe("ok");
      metrics.query.rowsRead.inc({ operation }, answer.rowsRead);
      return answer;
    } catch (error) {
      const failure = error instanceof ClickHouseQueryError ? classifyClickHouseError(error) : "unavailable";
      observe(OUTCOMES[signal.aborted ? "cancelled" : failure]);
      throw error instanceof ClickHouseQueryError ? clickHouseQueryFailure(error) : error;
    }
  }

  /**
   * The answer, in a place of its own. While others have the store's memory, a statement tries with what every one may
   * take, which is enough for a search; where it is not, it waits until it can have what it wants.
   */
  async #admitted(compiled: CompiledQuery, caller: QueryCaller, options: ReadOptions): Promise<LargeAnswer> {
    const { organizationId, userId, signal } = caller;
    const bounds = await this.#storeBounds();
    const wantedBytes = Number(compiled.settings.max_memory_usage ?? Number.MAX_SAFE_INTEGER);
    const memory = bounds.memoryOf(wantedBytes);
    let hadMemory = true;
    const ask = (needsMemory: boolean): Promise<LargeAnswer> =>
      this.#options.admission.run({ organizationId, userId, memory, needsMemory }, signal, (place) => {
        hadMemory = place.hasMemory;
        const settings = { ...compiled.settings, ...bounds.settingsIn(place, wantedBytes) };
        return this.#watched({ ...compiled, settings }, caller, options);
      });
    try {
      return await ask(false);
    } catch (error) {
      if (hadMemory || !(error instanceof ClickHouseQueryError) || error.code !== MEMORY_LIMIT_EXCEEDED)
        throw error;
      return await ask(true);
    }
  }

  /** The answer; until it is there, tells how far the statement is, as the store's list of running statements says. */
  async #watched(
    compiled: CompiledQuery,
    { signal, memory }: QueryCaller,
    { onProgress = null, maxBytes = ANSWER_MAX_BYTES }: ReadOptions,
  ): Promise<LargeAnswer> {
    // Without room for anything the statement would run in vain.
    memory.take(1);
    memory.giveBack(1);
    const queryId = crypto.randomUUID();
    const named = { ...compiled, settings: { ...compiled.settings, query_id: queryId } };
    const answered = new AbortController();
    const until = AbortSignal.any([signal, answered.signal]);
    const watching = onProgress === null ? null : this.#watch(queryId, until, onProgress);
    const timeout = AbortSignal.timeout(compiled.maxExecutionMs + ANSWER_GRACE_MS);
    const deadline = AbortSignal.any([signal, timeout]);
    try {
      return await this.#ask(named, deadline, (body) =>
        StoredRows.read(body, memory, { maxBytes, maxRowBytes: ANSWER_ROW_MAX_BYTES }),
      );
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

  /** Asked with the first statement. */
  #storeBounds(): Promise<StatementBounds> {
    this.#bounds ??= this.#wire.capacity().then(
      (capacity) => new StatementBounds(capacity, this.#options.part),
      (error: unknown) => {
        this.#bounds = null;
        throw error;
      },
    );
    return this.#bounds;
  }

  /** A closed connection ends a statement only once it writes: a join that has written nothing went on to its limit. */
  async #kill(queryId: string): Promise<void> {
    const sql = `KILL QUERY WHERE query_id = '${queryId}' ASYNC`;
    // Where this fails, the statement's limit of time ends it.
    await this.#wire
      .send({ sql, parameters: {}, settings: {} }, AbortSignal.timeout(KILL_TIMEOUT_MS), "")
      .then((response) => response.text())
      .catch(() => undefined);
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
        const response = await this.#wire.send(progressOf(queryId), signal);
        const line = await response.text();
        if (!response.ok || line === "") continue;
        const row: unknown = JSON.parse(line);
        if (!Array.isArray(row)) continue;
        const [rowsRead = 0, bytesRead = 0, totalRowsToRead = 0] = row.map(Number);
        onProgress({ rowsRead, bytesRead, totalRowsToRead });
      } catch {
        // Progress decorates an answer: what is not known is not told, and the statement goes on.
      }
    }
  }

  async #ask(
    compiled: CompiledQuery,
    deadline: AbortSignal,
    take: (body: ReadableStream<Uint8Array>) => Promise<StoredRows>,
  ): Promise<LargeAnswer> {
    const response = await this.#wire.send(compiled, deadline).catch((error) => {
      if (deadline.aborted) throw error;
      // A connection that idled may have been closed just as it was taken up again; a SELECT may be sent twice.
      return this.#wire.send(compiled, deadline);
    });
    if (response.status !== 200) throw await refusalOf(response);
    const summary = summaryOf(response);
    const rows = await take(response.body ?? new Blob().stream()).catch((error: unknown) => {
      if (error instanceof RowTooLongError) throw tooMuch();
      throw error instanceof ApiError ? error : notAnswered(error);
    });
    if (summary === null || (!rows.isCut && rows.count !== summary.resultRows)) {
      rows.discard();
      // Where the store has no room to put an answer aside, it sends the head of one and no more.
      throw new ClickHouseQueryError(null, "the answer is cut");
    }
    return { rows, rowsRead: summary.rowsRead, bytesRead: summary.bytesRead };
  }
}

interface ReadOptions {
  readonly onProgress?: ((progress: StatementProgress) => void) | null;
  readonly maxBytes?: number;
}

function tooMuch(): ApiError {
  return new ApiError(
    "QUERY_TOO_EXPENSIVE",
    "The query reads or returns more than the limits allow; narrow the time range or the filter.",
  );
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
