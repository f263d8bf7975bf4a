import { existsSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeDirectoryDurably } from "../../storage/write-durably.ts";
import { FILE_STRUCTURE } from "../columns.ts";
import { type ArchiveFiles, checkedName, patternOf } from "./archive-files.ts";

/** What ClickHouse takes for a pattern in a path, and what separates its alternatives. */
const PATTERN_CHARACTERS = /[*?{}[\],]/;

/**
 * A directory that ClickHouse and the server see under the same path. Throws a RangeError for a path that ClickHouse
 * would take for a pattern.
 */
export class DirectoryFiles implements ArchiveFiles {
  readonly #root: string;

  constructor(root: string) {
    if (PATTERN_CHARACTERS.test(root))
      throw new RangeError(`the path of the archive cannot have any of * ? { } [ ] and comma in it: ${root}`);
    this.#root = root;
  }

  /** Makes the directory; only the server's own user gets into it, unless it was there before. */
  async prepare(): Promise<void> {
    makeDirectoryDurably(this.#root);
  }

  source(names: readonly string[]): ReturnType<ArchiveFiles["source"]> {
    return { kind: "directory", pattern: `${this.#root}/${patternOf(names)}`, structure: FILE_STRUCTURE };
  }

  /** ClickHouse leaves it to the system when a file gets to the disk. */
  async settle(name: string): Promise<void> {
    const path = join(this.#root, checkedName(name));
    // The file, and the entries of the directories that may be as new as it is.
    for (const part of [path, dirname(path), dirname(dirname(path)), this.#root]) await synchronize(part);
  }

  missing(names: readonly string[]): readonly string[] {
    return names.filter((name) => !existsSync(join(this.#root, name)));
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#root, checkedName(name)), { force: true });
  }
}

async function synchronize(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
