import { keep, type TimeRange } from "../../../query/index.ts";
import { STATEMENT_MAX_FILES } from "../../archive/reading/limits.ts";
import type { LogStatement, RangeReading } from "../../archive/reading/range-reading.ts";
import { tooManyFiles } from "../../archive/reading/refusals.ts";
import type { ArchivedFile } from "../../archive/reading/store.ts";
import { mapInSlices } from "../../concurrency/thread-turns.ts";
import type { StatementCost } from "../../storage/statement-wire.ts";
import type { Row, StoredRows } from "../../storage/stored-rows.ts";
import { fileBatches } from "./archive/file-batches.ts";
import { likelyTime } from "./archive/likely-time.ts";
import { RemainingBudget } from "./archive/remaining-budget.ts";
import { type EntryPosition, positionOf } from "./entry-json.ts";

type PageOrder = "newestFirst" | "oldestFirst";

/** A question for the first entries in an order, whose plan says that order and that number; each row begins with id and time. */
interface PageQuestion extends LogStatement {
  readonly maxEntries: number;
  readonly order: PageOrder;
  /** Whether it depends on nothing but an entry itself if it is let through. */
  readonly judgesApart: boolean;
  /** Of more bytes the first rows. */
  readonly maxBytes?: number;
}

/** Rows that can be read once. */
export interface RowPage extends StatementCost {
  readonly count: number;
  /** Whether there are more within the page than its bytes allow. */
  readonly isCut: boolean;
  readonly rows: Iterable<Row>;
}

/**
 * The page, from the log store and as few archived files as it takes: a page is in the order of time, and so are the
 * times of files, so that most pages need none of them or one.
 */
export async function readPage(logs: RangeReading, question: PageQuestion): Promise<RowPage> {
  const options = question.maxBytes === undefined ? {} : { maxBytes: question.maxBytes };
  if (!question.judgesApart) return asPage(await logs.read(question, options));
  const budget = new RemainingBudget(question.budget);
  const page = new MergedPage(question);
  const [hot, hasArchived] = await Promise.all([
    logs.readHot(question, options),
    addArchivedBeside(logs, question, page, budget),
  ]);
  if (!hasArchived && !(await logs.archived.isInArchive(question))) return asPage(hot);
  await page.add(hot.rows);
  budget.spend(hot);
  const span = await logs.archived.span();
  if (!hasArchived && span !== null && !page.endsBefore({ minTs: span.from, maxTs: span.to }))
    await addArchived(logs, question, page, budget);
  return { ...page.finish(logs), rowsRead: budget.rowsRead, bytesRead: budget.bytesRead };
}

/** Adds what the archive has where the page is of its time, whatever the log store has: then neither waits for the other. */
async function addArchivedBeside(
  logs: RangeReading,
  question: PageQuestion,
  page: MergedPage,
  budget: RemainingBudget,
): Promise<boolean> {
  const span = await logs.archived.span();
  if (span === null || !beginsBefore(question, span.to)) return false;
  await addArchived(logs, question, page, budget);
  return true;
}

/** Whether the newest entries that are asked for would be no newer than a time. */
function beginsBefore({ order, timeRange: { to } }: PageQuestion, timeNs: bigint): boolean {
  return order === "newestFirst" && to !== null && to <= timeNs;
}

async function addArchived(
  logs: RangeReading,
  question: PageQuestion,
  page: MergedPage,
  budget: RemainingBudget,
): Promise<void> {
  const newestFirst = await logs.archived.filesFor(question);
  const isCut = newestFirst.length > STATEMENT_MAX_FILES;
  if (isCut && question.order === "oldestFirst") throw tooManyFiles();
  const files = question.order === "newestFirst" ? newestFirst : newestFirst.toSorted(byFirstTime);
  for (const batch of fileBatches(files)) {
    const [next] = batch;
    if (next === undefined || page.endsBefore(next)) return;
    const timeRange = await foundTime(
      logs,
      { ...question, timeRange: page.narrowed(question.timeRange) },
      batch,
      budget,
    );
    if (timeRange === null) continue;
    const { maxBytes } = question;
    const statement = { ...question, timeRange, budget: budget.rest() };
    const found = await logs.readFiles(statement, batch, maxBytes === undefined ? {} : { maxBytes });
    if (found === null) continue;
    budget.spend(found);
    await page.add(found.rows);
  }
  if (isCut && !page.isFull) throw tooManyFiles();
}

/**
 * The time of the entries that files have for the page; null where they have none. ClickHouse reads whatever an answer
 * shows of every entry that it sorts: of a file it has to sort the times first, and then to read what lies among them. It
 * reads all times for that, too, unless the page is found where it is likely to be.
 */
async function foundTime(
  logs: RangeReading,
  question: PageQuestion,
  files: readonly ArchivedFile[],
  budget: RemainingBudget,
): Promise<TimeRange | null> {
  const { timeRange, order, maxEntries } = question;
  const likely = likelyTime(timeRange, files, order, maxEntries);
  if (likely !== null) {
    const found = await foundIn(logs, { ...question, timeRange: likely }, overlapping(files, likely), budget);
    if (found !== null && found.count >= maxEntries) return found.time;
  }
  return (await foundIn(logs, question, files, budget))?.time ?? null;
}

function overlapping(files: readonly ArchivedFile[], { from, to }: TimeRange): readonly ArchivedFile[] {
  return files.filter(({ minTs, maxTs }) => (from === null || maxTs >= from) && (to === null || minTs <= to));
}

async function foundIn(
  logs: RangeReading,
  question: PageQuestion,
  files: readonly ArchivedFile[],
  budget: RemainingBudget,
): Promise<{ readonly time: TimeRange; readonly count: number } | null> {
  const statement = { ...question, plan: keep(question.plan, ["id", "ts"]), budget: budget.rest() };
  const found = await logs.readFiles(statement, files);
  if (found === null) return null;
  budget.spend(found);
  const times = [...found.rows].map((row) => positionOf(row).tsNs);
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return null;
  const time = first < last ? { from: first, to: last } : { from: last, to: first };
  return { time, count: times.length };
}

function asPage({ rows, rowsRead, bytesRead }: StatementCost & { readonly rows: StoredRows }): RowPage {
  return { count: rows.count, isCut: rows.isCut, rows, rowsRead, bytesRead };
}

function byFirstTime({ minTs: left }: ArchivedFile, { minTs: right }: ArchivedFile): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

interface PlacedRow {
  readonly row: Row;
  readonly position: EntryPosition;
}

/** The first rows of several answers, each of which has its own first ones. An entry that is in two of them is one. */
class MergedPage {
  readonly #maxEntries: number;
  readonly #order: PageOrder;
  #rows: PlacedRow[] = [];
  #bytes = 0;
  /** The nearest end of an answer that was cut: what is beyond it is not known. */
  #end: EntryPosition | null = null;

  constructor({ maxEntries, order }: Pick<PageQuestion, "maxEntries" | "order">) {
    this.#maxEntries = maxEntries;
    this.#order = order;
  }

  async add(rows: StoredRows): Promise<void> {
    const { bytes, isCut } = rows;
    const added = await mapInSlices(rows, (row) => ({ row, position: positionOf(row) }));
    this.#bytes += bytes;
    const last = added.at(-1)?.position;
    if (isCut && last !== undefined && (this.#end === null || this.#compare(last, this.#end) < 0))
      this.#end = last;
    const end = this.#end;
    const sorted = [...this.#rows, ...added].sort((a, b) => this.#compare(a.position, b.position));
    this.#rows = sorted
      .filter(({ position }, i) => i === 0 || position.id !== sorted[i - 1]?.position.id)
      .filter(({ position }) => end === null || this.#compare(position, end) <= 0)
      .slice(0, this.#maxEntries);
  }

  /** Whether no further row belongs to it but in place of one it has. */
  get isFull(): boolean {
    return this.#end !== null || this.#rows.length >= this.#maxEntries;
  }

  /** Whether it has everything that it will have, whatever entries there are in that time. */
  endsBefore({ minTs, maxTs }: Pick<ArchivedFile, "minTs" | "maxTs">): boolean {
    const last = this.isFull ? this.#rows.at(-1)?.position.tsNs : undefined;
    if (last === undefined) return false;
    return this.#order === "newestFirst" ? last > maxTs : last < minTs;
  }

  /** The part of the range in which there may be rows that it lacks. */
  narrowed({ from, to }: TimeRange): TimeRange {
    const last = this.isFull ? this.#rows.at(-1)?.position.tsNs : undefined;
    if (last === undefined) return { from, to };
    return this.#order === "newestFirst" ? { from: last, to } : { from, to: last };
  }

  finish(logs: RangeReading): Pick<RowPage, "count" | "isCut" | "rows"> {
    const rows = this.#rows.map(({ row }) => row);
    const release = logs.hold(this.#bytes);
    return { count: rows.length, isCut: this.#end !== null, rows: releasing(rows, release) };
  }

  #compare(left: EntryPosition, right: EntryPosition): number {
    const sign = this.#order === "newestFirst" ? 1 : -1;
    if (left.tsNs !== right.tsNs) return left.tsNs > right.tsNs ? -sign : sign;
    if (left.id === right.id) return 0;
    return left.id > right.id ? -sign : sign;
  }
}

function* releasing(rows: readonly Row[], release: () => void): Generator<Row> {
  try {
    yield* rows;
  } finally {
    release();
  }
}
