import type { ArchiveFiles } from "../../src/archive/files/archive-files.ts";
import { ArchiveIndex } from "../../src/archive/reading/archive-index.ts";
import { LogRanges } from "../../src/archive/reading/log-ranges.ts";
import type { RangeReadingOptions } from "../../src/archive/reading/range-reading.ts";
import type { QueryRunner } from "../../src/storage/query-runner.ts";
import { queryRunner } from "../query/query-store.ts";
import type { TestStores } from "./stores.ts";

/** How long test archivers wait before they delete; answers are trusted for less, as in a server. */
export const TEST_DELETION_WAIT_MS = 300;
const TEST_TRUSTED_MS = 150;

interface RangesChoices {
  /** Where archived entries lie; nowhere when absent. */
  readonly files?: ArchiveFiles | null;
  readonly runner?: Pick<QueryRunner, "run" | "read">;
  readonly index?: ArchiveIndex;
  /** Attributes with columns of their own; none when absent. */
  readonly attributes?: RangeReadingOptions["attributes"];
  /** Whether messages have an index of words; not when absent. */
  readonly words?: RangeReadingOptions["words"];
}

/** The stored entries of a suite, wherever they lie. */
export function logRanges(
  stores: Pick<TestStores, "clickhouseEndpoint" | "postgres">,
  choices: RangesChoices = {},
): LogRanges {
  return new LogRanges({
    runner: choices.runner ?? queryRunner(stores),
    index: choices.index ?? new ArchiveIndex(stores.postgres, TEST_TRUSTED_MS),
    files: choices.files ?? null,
    ...(choices.attributes !== undefined && { attributes: choices.attributes }),
    ...(choices.words !== undefined && { words: choices.words }),
    onUnreadable: () => undefined,
  });
}
