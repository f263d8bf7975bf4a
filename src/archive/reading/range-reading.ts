import {
  type ArchivedRows,
  type AttributeColumns,
  type CompiledColumn,
  type CompiledQuery,
  emit,
  type FileSource,
  guardPlan,
  type MadeEntries,
  type QueryBudget,
  type Relation,
  type TimeRange,
} from "../../../query/index.ts";
import { DependencyError } from "../../errors.ts";
import type { AttributeAccess } from "../../log-store/attribute-access.ts";
import type { WordIndex } from "../../log-store/word-index.ts";
import { ClickHouseQueryError, classifyClickHouseError } from "../../storage/clickhouse-errors.ts";
import type {
  LargeAnswer,
  QueryAnswer,
  QueryCaller,
  QueryRunner,
  StatementProgress,
} from "../../storage/query-runner.ts";
import type { StatementCost } from "../../storage/statement-wire.ts";
import type { StoredRows } from "../../storage/stored-rows.ts";
import type { ArchiveFiles } from "../files/archive-files.ts";
import type { ArchiveIndex } from "./archive-index.ts";
import { CoverageTally } from "./coverage.ts";
import { STATEMENT_MAX_FILES, UNREADABLE_MAX_FILES } from "./limits.ts";
import { ListedFiles } from "./listed-files.ts";
import { tooManyFiles, tooMuch, withHint } from "./refusals.ts";
import type { ArchivedFile } from "./store.ts";

/** What is asked, of which time, how many rows the answer can have and what it may cost. `operation` names it in metrics. */
export interface LogStatement {
  readonly operation: string;
  readonly plan: Relation;
  readonly timeRange: TimeRange;
  /** Which entries by who made them; all when absent. */
  readonly made?: MadeEntries;
  readonly maxRows: number;
  readonly budget: QueryBudget;
}

interface LargeOptions {
  readonly onProgress?: ((progress: StatementProgress) => void) | null;
  readonly maxBytes?: number;
}

/** An answer that may be large, and what its columns are. */
export interface LogAnswer extends LargeAnswer {
  readonly columns: readonly CompiledColumn[];
}

export interface RangeReadingOptions {
  readonly runner: Pick<QueryRunner, "run" | "read">;
  readonly index: ArchiveIndex;
  /** Null when no archive is configured: then every file is missing. */
  readonly files: ArchiveFiles | null;
  /** What attributes have columns of their own in the log store; none when absent. */
  readonly attributes?: Pick<AttributeAccess, "columns" | "used" | "distrust">;
  /** Whether the log store has the words of messages in an index; not when absent. */
  readonly words?: Pick<WordIndex, "isComplete" | "distrust">;
  /** Told about files that cannot be read. */
  readonly onUnreadable: (names: readonly string[]) => void;
}

/** Where a statement reads: the log store and these files, or the files alone. */
type Place = { readonly hot: boolean; readonly files: readonly ArchivedFile[] };

/**
 * One try to read entries of one caller's organisation wherever they lie. What it read holds if, afterwards, the ledger
 * still names the same files (`isCurrent`). All functions throw what `QueryRunner` throws.
 */
export class RangeReading {
  readonly caller: QueryCaller;
  readonly coverage = new CoverageTally();
  readonly archived: ListedFiles;
  readonly #options: RangeReadingOptions;
  readonly #unread: StoredRows[] = [];
  #hasReadHot = false;
  readonly #held = new Set<() => void>();

  constructor(options: RangeReadingOptions, caller: QueryCaller) {
    this.#options = options;
    this.caller = caller;
    this.archived = new ListedFiles(options.index, caller.organizationId, this.coverage);
  }

  /** The answer over the log store and the archive. */
  async run(statement: LogStatement, onProgress: LargeOptions["onProgress"] = null): Promise<QueryAnswer> {
    return asked(
      await this.#run(statement, { hot: true, files: await this.archived.filesFor(statement) }, onProgress),
    );
  }

  /** The same where it may be large. */
  async read(statement: LogStatement, options: LargeOptions = {}): Promise<LogAnswer> {
    return asked(
      await this.#read(statement, { hot: true, files: await this.archived.filesFor(statement) }, options),
    );
  }

  /** The answer over the log store alone, to a question that archived entries have no part in. */
  async runHot(statement: LogStatement): Promise<QueryAnswer> {
    return asked(await this.#run(statement, { hot: true, files: [] }));
  }

  /** The answer over the log store alone; whoever asks goes on to the files that matter. */
  async readHot(statement: LogStatement, options: LargeOptions = {}): Promise<LogAnswer> {
    this.#hasReadHot = true;
    return asked(await this.#read(statement, { hot: true, files: [] }, options));
  }

  /** The answer over archived files alone; null when none of them can be read. */
  readFiles(
    statement: LogStatement,
    files: readonly ArchivedFile[],
    options: LargeOptions = {},
  ): Promise<LogAnswer | null> {
    return this.#read(statement, { hot: false, files }, options);
  }

  /** Whether the log store has the attribute in a column of its own. */
  hasColumn(key: string): boolean {
    return this.#options.attributes?.columns().has(key) ?? false;
  }

  /** Whether no entry has left the log store for a file that was not read; what has been read has to be given up if not. */
  isCurrent(): Promise<boolean> {
    return this.archived.areCurrent(this.#hasReadHot);
  }

  /** Counts bytes that are held for the answer; whoever has given them up calls what comes back. */
  hold(bytes: number): () => void {
    const { memory } = this.caller;
    memory.take(bytes);
    const release = (): void => {
      if (this.#held.delete(release)) memory.giveBack(bytes);
    };
    this.#held.add(release);
    return release;
  }

  /** Gives back what answers hold that nobody will read. */
  discard(): void {
    for (const rows of this.#unread) rows.discard();
    for (const release of this.#held) release();
  }

  #run(
    statement: LogStatement,
    place: Place,
    onProgress: LargeOptions["onProgress"] = null,
  ): Promise<QueryAnswer | null> {
    const { runner } = this.#options;
    return this.#ask(statement, place, (compiled) =>
      runner.run(statement.operation, compiled, this.caller, onProgress),
    );
  }

  #read(statement: LogStatement, place: Place, options: LargeOptions): Promise<LogAnswer | null> {
    const { runner } = this.#options;
    return this.#ask(statement, place, async (compiled) => {
      const answer = await runner.read(statement.operation, compiled, this.caller, options);
      this.#unread.push(answer.rows);
      return { ...answer, columns: compiled.columns };
    });
  }

  /** Asks, without the files that turn out not to be readable; null when there is nothing left to be asked. */
  async #ask<T extends StatementCost>(
    { plan, timeRange, made, maxRows, budget }: LogStatement,
    { hot, files }: Place,
    send: (compiled: CompiledQuery) => Promise<T>,
  ): Promise<T | null> {
    const { organizationId } = this.caller;
    const { attributes, words } = this.#options;
    let attributeColumns: AttributeColumns = attributes?.columns() ?? new Map();
    let hasWordIndex = words?.isComplete() ?? false;
    for (let failures = 0; ; failures += 1) {
      if (files.length > STATEMENT_MAX_FILES) throw tooManyFiles();
      // ClickHouse counts what is left of a file after its conditions: of one that is read in vain, nothing.
      if (files.reduce((sum, { bytes }) => sum + bytes, 0) > budget.maxReadBytes) throw tooMuch(files.length);
      const readable = this.#readable(files);
      if (!hot && readable.length === 0) return null;
      this.coverage.addRead(readable);
      const scope = {
        ...{ organizationId, timeRange, maxRows, budget },
        ...(made !== undefined && { made }),
        ...this.#places(readable, hot),
        attributeColumns,
        hasWordIndex,
      };
      try {
        return await this.#counted(emit(guardPlan(plan, scope)), hot, send);
      } catch (error) {
        if ((attributeColumns.size > 0 || hasWordIndex) && isFault(error)) {
          attributes?.distrust();
          words?.distrust();
          attributeColumns = new Map();
          hasWordIndex = false;
          continue;
        }
        if (readable.length === 0) throw error;
        const damaged = failures < UNREADABLE_MAX_FILES ? blamedFor(error, readable) : [];
        if (damaged.length === 0) throw withHint(error, readable.length);
        this.#giveUp(damaged);
      }
    }
  }

  /** The answer, after which it is known what the attributes cost that were looked for in the log store. */
  async #counted<T extends StatementCost>(
    compiled: CompiledQuery,
    hot: boolean,
    send: (compiled: CompiledQuery) => Promise<T>,
  ): Promise<T> {
    const startMs = performance.now();
    const answer = await send(compiled);
    const durationMs = performance.now() - startMs;
    if (hot) this.#options.attributes?.used(compiled.attributes, { durationMs, bytesRead: answer.bytesRead });
    return answer;
  }

  #places(readable: readonly ArchivedFile[], hot: boolean): { files?: FileSource; archived?: ArchivedRows } {
    const { files } = this.#options;
    if (files === null || readable.length === 0) return {};
    const source = files.source(readable.map(({ name }) => name));
    if (!hot) return { files: source };
    const moving = readable.filter(({ isMoving }) => isMoving).map(({ name }) => name);
    return { archived: { files: source, moving: moving.length === 0 ? null : files.source(moving) } };
  }

  #readable(listed: readonly ArchivedFile[]): readonly ArchivedFile[] {
    if (listed.length === 0) return listed;
    const names = listed.map(({ name }) => name);
    const missing = new Set(this.#options.files?.missing(names) ?? names);
    const lost = listed.filter((file) => missing.has(file.name) && !this.coverage.isUnreadable(file));
    if (lost.length > 0) this.#giveUp(lost);
    return listed.filter((file) => !this.coverage.isUnreadable(file));
  }

  #giveUp(files: readonly ArchivedFile[]): void {
    this.coverage.addUnreadable(files);
    this.#options.onUnreadable(files.map(({ name }) => name));
  }
}

/** The log store is always asked. */
function asked<T>(answer: T | null): T {
  if (answer === null) throw new TypeError("the log store was not asked");
  return answer;
}

/**
 * Whether ClickHouse says that a statement can never succeed. It says so of a column that the table has not, and, where it reads some
 * columns later than others, of one that a part lacks: it does not read then what that would be made of.
 */
function isFault(error: unknown): boolean {
  return (
    error instanceof DependencyError &&
    error.cause instanceof ClickHouseQueryError &&
    classifyClickHouseError(error.cause) === "fault"
  );
}

/** The files that ClickHouse names when it says that it cannot read something. */
function blamedFor(error: unknown, files: readonly ArchivedFile[]): readonly ArchivedFile[] {
  if (!(error instanceof DependencyError && error.cause instanceof ClickHouseQueryError)) return [];
  const { cause } = error;
  if (classifyClickHouseError(cause) !== "fault") return [];
  return files.filter(({ name }) => cause.message.includes(name));
}
