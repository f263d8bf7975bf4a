import { commonTime, type Relation, scannedTime, type TimeRange } from "../../../query/index.ts";
import { type ArchiveIndex, isUnanswered } from "./archive-index.ts";
import type { CoverageTally } from "./coverage.ts";
import { STATEMENT_MAX_FILES } from "./limits.ts";
import type { ArchivedFile, ArchiveExtent } from "./store.ts";

/** What is read, of which time. */
interface Scan {
  readonly plan: Relation;
  readonly timeRange: TimeRange;
}

/**
 * The files of one organisation for one try to read its entries: for the same time the same ones, however often it is
 * asked. While Postgres is away there are none, which the coverage says.
 */
export class ListedFiles {
  readonly #index: ArchiveIndex;
  readonly #organizationId: number;
  readonly #coverage: CoverageTally;
  readonly #listed = new Map<string, { timeRange: TimeRange; files: Promise<ArchivedFile[]> }>();
  #extent: Promise<ArchiveExtent | null> | null = null;
  #hasFiles = false;

  constructor(index: ArchiveIndex, organizationId: number, coverage: CoverageTally) {
    this.#index = index;
    this.#organizationId = organizationId;
    this.#coverage = coverage;
  }

  /** From the earliest to the latest archived entry; null for none. */
  async span(): Promise<ArchiveExtent["span"]> {
    return (await this.#readExtent())?.span ?? null;
  }

  /** Whether the archive has entries of the time that is looked at. */
  async isInArchive(scan: Scan): Promise<boolean> {
    const time = timeOf(scan);
    return time !== null && (await this.#overlaps(time));
  }

  /**
   * The files that can have entries which are looked at, those with the newest ones first; of more than
   * `STATEMENT_MAX_FILES` one more than that.
   */
  async filesFor(scan: Scan): Promise<readonly ArchivedFile[]> {
    const time = timeOf(scan);
    if (time === null) return [];
    const key = `${time.from} ${time.to}`;
    // Noted before anything is waited for: statements that run beside each other read by the same list.
    const known = this.#listed.get(key) ?? { timeRange: time, files: this.#listOverlapping(time) };
    this.#listed.set(key, known);
    return known.files;
  }

  /** The files with entries that were received on the days. */
  async filesOfDays(days: readonly [string, string]): Promise<readonly ArchivedFile[]> {
    if ((await this.span()) === null) return [];
    return this.#noted(() => this.#index.listDays(this.#organizationId, days, STATEMENT_MAX_FILES));
  }

  /** Whether the ledger names the same files as before; with `isAnyTime` also those that were not listed. */
  async areCurrent(isAnyTime: boolean): Promise<boolean> {
    const extent = await this.#readExtent();
    if (extent === null) return true;
    const isSame = (): Promise<boolean> =>
      this.#hasFiles
        ? this.#index.isCurrent(this.#organizationId, extent)
        : this.#index.isHotComplete(this.#organizationId, extent);
    if (await this.#asked(isSame, true)) return true;
    if (isAnyTime || this.#listed.size === 0) return false;
    for (const { timeRange, files } of this.#listed.values())
      if (namesOf(await files) !== namesOf(await this.#list(timeRange))) return false;
    return true;
  }

  async #listOverlapping(time: TimeRange): Promise<ArchivedFile[]> {
    return (await this.#overlaps(time)) ? this.#list(time) : [];
  }

  async #overlaps(time: TimeRange): Promise<boolean> {
    const span = await this.span();
    return span !== null && commonTime(time, span) !== null;
  }

  #list(timeRange: TimeRange): Promise<ArchivedFile[]> {
    return this.#noted(() => this.#index.list(this.#organizationId, timeRange, STATEMENT_MAX_FILES + 1));
  }

  async #noted(list: () => Promise<ArchivedFile[]>): Promise<ArchivedFile[]> {
    const files = await this.#asked(list, []);
    this.#hasFiles ||= files.length > 0;
    return files;
  }

  #readExtent(): Promise<ArchiveExtent | null> {
    this.#extent ??= this.#asked(() => this.#index.extent(this.#organizationId), null);
    return this.#extent;
  }

  async #asked<T>(ask: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      this.#coverage.setNotAsked();
      return otherwise;
    }
  }
}

function timeOf({ plan, timeRange }: Scan): TimeRange | null {
  const scanned = scannedTime(plan);
  return scanned === null ? null : commonTime(timeRange, scanned);
}

function namesOf(files: readonly ArchivedFile[]): string {
  return files.map(({ name }) => name).join();
}
