import { existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { CliError } from "../cli-error.ts";
import { FILES_MAX } from "../limits.ts";

const PATTERN = /[*?[\]{}]/;

/** Whether an argument stands for the files that match it; a file of that very name is meant as it is. */
function isPattern(name: string): boolean {
  return PATTERN.test(name) && !existsSync(name);
}

/**
 * The absolute paths that arguments name, each once, in the order of the arguments and those of a pattern sorted. `**` goes into
 * folders; hidden files match a pattern that begins with a dot only. Throws CliError for too many.
 */
export async function expandNames(names: readonly string[], directory: string): Promise<string[]> {
  const paths = new Set<string>();
  for (const name of names) {
    for (const path of isPattern(name) ? await matchesOf(name, directory) : [resolve(directory, name)])
      paths.add(path);
    if (paths.size > FILES_MAX)
      throw new CliError(`more than ${FILES_MAX} files match: name fewer at a time`);
  }
  return [...paths];
}

async function matchesOf(pattern: string, directory: string): Promise<string[]> {
  const found: string[] = [];
  // From the folder above the first wildcard on: a scan of an absolute pattern begins at the root.
  const parts = (isAbsolute(pattern) ? pattern : join(directory, pattern)).split("/");
  const first = parts.findIndex((part) => PATTERN.test(part));
  const folder = parts.slice(0, first).join("/") || "/";
  if (!existsSync(folder)) return [];
  for await (const match of new Bun.Glob(parts.slice(first).join("/")).scan({
    cwd: folder,
    onlyFiles: true,
  })) {
    found.push(join(folder, match));
    if (found.length > FILES_MAX) break;
  }
  return found.toSorted();
}
