import type { FileSource } from "../../../query/index.ts";

/** Where archived files lie. Names are paths below it, as `fileName` makes them. Every function may throw. */
export interface ArchiveFiles {
  /** What ClickHouse writes to, or reads; at least one name. */
  source(names: readonly string[]): FileSource;
  /** Resolves when a file that ClickHouse has written survives a power cut. */
  settle(name: string): Promise<void>;
  /** Those of the files that are known not to be there. */
  missing(names: readonly string[]): readonly string[];
  /** Also when there is no such file. */
  remove(name: string): Promise<void>;
}

const NAME = /^[0-9]+\/\d{4}-\d\d-\d\d\/[0-9]+-[0-9a-f]{16}\.parquet$/;

/** One that no attempt had before, nor has in another database that shares the place. */
export function fileName(organizationId: number, day: string, attempt: number, random: string): string {
  return checkedName(`${organizationId}/${day}/${attempt}-${random}.parquet`);
}

/** Throws a RangeError for what is no name of ours: it would be a part of a pattern. */
export function checkedName(name: string): string {
  if (!NAME.test(name)) throw new RangeError("not the name of an archived file");
  return name;
}

/** The names as one pattern of ClickHouse. */
export function patternOf(names: readonly string[]): string {
  const checked = names.map(checkedName);
  const [first, ...others] = checked;
  if (first === undefined) throw new RangeError("no file to read");
  return others.length === 0 ? first : `{${checked.join(",")}}`;
}
