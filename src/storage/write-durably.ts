import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** Writes a file that only its owner reads, whole or not at all: it is there when this returns, also after a power cut. */
export function writeDurably(path: string, text: string): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncNow(dirname(path));
}

/** Makes a directory that only its owner enters, and those above it that are missing; also after a power cut they are there. */
export function makeDirectoryDurably(path: string): void {
  const firstMade = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (firstMade === undefined) return;
  // Every new level is an entry of the level above it.
  for (let level = resolve(path); ; level = dirname(level)) {
    syncNow(dirname(level));
    if (level === resolve(firstMade) || level === dirname(level)) return;
  }
}

/** Makes what was created, renamed and removed in the directory survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The same for every directory above `path` up to `top`, both absolute and without symbolic links. */
export async function syncDirectoriesAbove(path: string, top: string): Promise<void> {
  for (let level = path; level !== top && level !== dirname(level); level = dirname(level))
    await syncDirectory(dirname(level));
}

/** Makes what a file holds, or the names in a directory, survive a power cut, before this returns. */
export function syncNow(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
