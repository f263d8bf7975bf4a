import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize } from "node:path";

export const ROOT = normalize(join(import.meta.dir, "../.."));

/** A copy of the working tree under the system's folder for temporary files, with the installed packages of the original. */
export class Checkout implements Disposable {
  readonly path: string;
  readonly #remove = (): void => rmSync(this.path, { recursive: true, force: true });

  constructor() {
    this.path = mkdtempSync(join(tmpdir(), "obs-mutants-"));
    for (const file of listFiles()) {
      mkdirSync(dirname(join(this.path, file)), { recursive: true });
      cpSync(join(ROOT, file), join(this.path, file));
    }
    symlinkSync(join(ROOT, "node_modules"), join(this.path, "node_modules"));
    // Also when the run is interrupted.
    process.once("exit", this.#remove);
  }

  /** Calls `work` while a file has other contents. */
  async with<T>(file: string, text: string, work: () => Promise<T>): Promise<T> {
    const path = join(this.path, file);
    const before = readFileSync(path);
    writeFileSync(path, text);
    try {
      return await work();
    } finally {
      writeFileSync(path, before);
    }
  }

  [Symbol.dispose](): void {
    process.off("exit", this.#remove);
    this.#remove();
  }
}

function listFiles(): string[] {
  const { stdout, exitCode } = Bun.spawnSync(["git", "ls-files", "-z", "-co", "--exclude-standard"], {
    cwd: ROOT,
  });
  if (exitCode !== 0) throw new Error("git could not list the files");
  const deleted = Bun.spawnSync(["git", "ls-files", "-z", "-d"], { cwd: ROOT }).stdout.toString().split("\0");
  return stdout
    .toString()
    .split("\0")
    .filter((file) => file !== "" && !deleted.includes(file));
}
