import type { TimeRange } from "../../../../query/index.ts";
import type { ArchivedFile } from "../../../archive/reading/store.ts";
import { LIKELY_PAGES, LIKELY_PARTS_MIN } from "./limits.ts";

/**
 * The end of a range in which files have several times as many entries as a page, if they lie evenly: little of them has to be
 * read to see whether there is the page. Null where it is no small part of them, or they are of one moment.
 */
export function likelyTime(
  { from, to }: TimeRange,
  files: readonly Pick<ArchivedFile, "minTs" | "maxTs" | "rows">[],
  order: "newestFirst" | "oldestFirst",
  entries: number,
): TimeRange | null {
  const first = order === "newestFirst" ? latest(files) : earliest(files);
  if (first === undefined) return null;
  const span = first.maxTs - first.minTs;
  const width = (span * BigInt(entries * LIKELY_PAGES)) / BigInt(Math.max(first.rows, 1));
  if (span === 0n || width * LIKELY_PARTS_MIN > span) return null;
  if (order === "newestFirst") {
    const end = to === null || to > first.maxTs ? first.maxTs : to;
    return from !== null && from >= end - width ? null : { from: end - width, to };
  }
  const end = from === null || from < first.minTs ? first.minTs : from;
  return to !== null && to <= end + width ? null : { from, to: end + width };
}

function latest<T extends Pick<ArchivedFile, "maxTs">>(files: readonly T[]): T | undefined {
  return files.reduce<T | undefined>((a, b) => (a === undefined || b.maxTs > a.maxTs ? b : a), undefined);
}

function earliest<T extends Pick<ArchivedFile, "minTs">>(files: readonly T[]): T | undefined {
  return files.reduce<T | undefined>((a, b) => (a === undefined || b.minTs < a.minTs ? b : a), undefined);
}
