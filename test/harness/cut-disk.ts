import { mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { eventually } from "./eventually.ts";

const COPY_ATTEMPTS = 50;

/** A file system of its own, ext4 in a file, whose power can be cut: it comes back with what had reached the disk. */
export interface CutDisk {
  /** Where it is mounted. */
  readonly path: string;
  /** Remembers what the disk holds at this moment. Whoever uses the file system has to stand still. */
  freeze(): Promise<void>;
  /** Goes on from the moment of the last `freeze`. Nobody may use the file system any more. */
  restore(): Promise<void>;
  close(): void;
}

/** Makes the disk in a directory, or says on standard error that this system mounts none and answers null. */
export function openCutDisk(directory: string, bytes: number): CutDisk | null {
  const image = join(directory, "image");
  const copy = join(directory, "copy");
  const path = join(directory, "disk");
  mkdirSync(path);
  writeFileSync(image, "");
  truncateSync(image, bytes);
  if (!succeeds("mkfs.ext4", "-q", "-F", image) || !succeeds("mount", "-o", "loop", image, path)) {
    process.stderr.write("left out: a file system in a file cannot be mounted here\n");
    return null;
  }
  const unmount = (): boolean => succeeds("umount", path);
  return {
    path,
    freeze: async () => {
      for (let attempt = 0; attempt < COPY_ATTEMPTS; attempt++) {
        const before = writesTo(path);
        run("cp", "--sparse=always", image, copy);
        // The kernel writes when it likes; a copy during which it did is of no moment.
        if (before.endsWith(" 0") && writesTo(path) === before) return;
        await Bun.sleep(50);
      }
      throw new Error("the disk never stood still");
    },
    restore: async () => {
      await eventually("the disk can be taken out", unmount);
      renameSync(copy, image);
      run("mount", "-o", "loop", image, path);
    },
    close: () => {
      if (!unmount()) succeeds("umount", "-l", path);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** How much was written to the device below a mount, and what is under way: requests, sectors, requests in flight. */
function writesTo(path: string): string {
  const device = basename(run("findmnt", "-n", "-o", "SOURCE", path).trim());
  const fields = readFileSync(`/sys/block/${device}/stat`, "utf8").trim().split(/\s+/);
  return `${fields[4]} ${fields[6]} ${fields[8]}`;
}

function succeeds(...command: string[]): boolean {
  return Bun.spawnSync(command).exitCode === 0;
}

function run(...command: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
  return stdout.toString();
}
