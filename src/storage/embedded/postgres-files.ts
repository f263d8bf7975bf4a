import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Where program files go that the account of Postgres cannot reach where they were installed. */
const SYSTEM_PROGRAM_DIRECTORY = "/var/lib/obs";

/** True when every folder above `path` may be entered by any user. */
function isReachableByOthers(path: string): boolean {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

function packageVersion(native: string): string {
  const parsed: unknown = JSON.parse(readFileSync(join(native, "..", "package.json"), "utf8"));
  const version =
    typeof parsed === "object" && parsed !== null && "version" in parsed ? parsed.version : null;
  if (typeof version !== "string") throw new Error(`${native} is not part of a package with a version.`);
  return version;
}

/**
 * A folder with Postgres' program files that another account can reach: the installed one or, when it lies under a
 * private folder such as root's home, a copy of it. Postgres resolves its own path, so no shorter way works.
 */
export function reachableProgramFiles(native: string, copiesDirectory = SYSTEM_PROGRAM_DIRECTORY): string {
  if (isReachableByOthers(native)) return native;
  const copy = join(copiesDirectory, `postgres-${packageVersion(native)}`);
  if (existsSync(copy)) return copy;
  mkdirSync(copiesDirectory, { recursive: true, mode: 0o755 });
  const temporary = mkdtempSync(join(copiesDirectory, "copying-"));
  try {
    cpSync(native, join(temporary, "native"), { recursive: true });
    renameSync(join(temporary, "native"), copy);
  } catch (error) {
    // Another server may have been faster.
    if (!existsSync(copy)) throw error;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return copy;
}

function readLibraryLinks(native: string): { source: string; target: string }[] {
  const listing = join(native, "pg-symlinks.json");
  if (!existsSync(listing)) return [];
  const parsed: unknown = JSON.parse(readFileSync(listing, "utf8"));
  if (!Array.isArray(parsed)) throw new Error(`${listing} is not a list.`);
  return parsed.map((entry: unknown) => {
    if (typeof entry !== "object" || entry === null || !("source" in entry) || !("target" in entry)) {
      throw new Error(`${listing} has an entry without source and target.`);
    }
    return { source: String(entry.source), target: String(entry.target) };
  });
}

/**
 * Fills `directory` with the links that give the shared libraries the names the programs ask for. An npm package
 * cannot hold links; its own install script would make them, but package managers do not run it unasked.
 */
export function linkLibraries(native: string, directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  for (const { source, target } of readLibraryLinks(native)) {
    symlinkSync(join(native, source.replace(/^native\//, "")), join(directory, basename(target)));
  }
}
