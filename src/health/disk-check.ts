import { statfs } from "node:fs/promises";
import type { Logger } from "../log.ts";
import type { DependencyCheck, DependencyState } from "./readiness.ts";

const MIB = 1024 * 1024;

/** Below it a write of the log may be refused any moment: they are of a megabyte, and the stores write beside it. */
export const DISK_FULL_BYTES = 4 * MIB;

/** Below it somebody should look: at full speed of ingest this is gone within minutes. */
export const DISK_LOW_BYTES = 256 * MIB;

interface DiskCheckOptions {
  readonly directory: string;
  readonly log: Logger;
  /** Bytes that are left where the directory lies; the file system's own by default. */
  readonly freeBytes?: (directory: string) => Promise<number>;
}

/** Whether there is room where the data directory lies. Its path is for the log only: everybody may ask for health. */
export function diskCheck({ directory, log, freeBytes = availableBytes }: DiskCheckOptions): DependencyCheck {
  let wasFull = false;
  return {
    name: "disk",
    check: async () => {
      const free = await freeBytes(directory);
      const isFull = free < DISK_FULL_BYTES;
      if (isFull && !wasFull) log.error({ directory, freeBytes: free }, "the disk is full");
      if (!isFull && wasFull) log.info({ directory, freeBytes: free }, "the disk has room again");
      wasFull = isFull;
      return statusOf(free);
    },
  };
}

function statusOf(free: number): { state: DependencyState; detail?: string } {
  if (free < DISK_FULL_BYTES)
    return { state: "down", detail: "The disk of the data directory is full: new entries are refused." };
  if (free >= DISK_LOW_BYTES) return { state: "up" };
  return {
    state: "degraded",
    detail: `The disk of the data directory has less than ${DISK_LOW_BYTES / MIB} MiB left.`,
  };
}

async function availableBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
