import { writeFileAtomically } from "./atomic-file.ts";
import { isOutOfSpace, readFully, type WalFile, type WalIo } from "./io.ts";
import { DAMAGED_BYTES_MAX } from "./limits.ts";
import { positionText } from "./segments.ts";
import type { WalDamage } from "./types.ts";

const NAME = /^(\d{16})-(\d{16})\.(damaged|torn)$/;

/** Copies of the regions of the log that could not be read, one file each, named by position and kind. */
export class DamagedRegions {
  readonly #io: WalIo;
  readonly #directory: string;
  /** Starts of all regions met, with or without a copy. */
  readonly #starts = new Set<number>();
  #bytes = 0;

  constructor(io: WalIo, directory: string) {
    this.#io = io;
    this.#directory = directory;
  }

  /** Reads which regions are kept already. */
  async load(): Promise<void> {
    for (const { name, bytes } of await this.#io.list(this.#directory)) {
      const match = NAME.exec(name);
      if (match === null) continue;
      this.#starts.add(Number(match[1]));
      this.#bytes += bytes;
    }
  }

  /** Whether a region that starts there was met before. */
  isKnown(start: number): boolean {
    return this.#starts.has(start);
  }

  /**
   * Copies `start`..`end` of a file whose first byte has position `base`. Answers whether a copy exists: not when the
   * bound for them is reached or the disk is full.
   */
  async preserve(
    file: WalFile,
    region: {
      readonly base: number;
      readonly start: number;
      readonly end: number;
      readonly kind: WalDamage["kind"];
    },
  ): Promise<boolean> {
    const { base, start, end, kind } = region;
    if (this.#starts.has(start)) return true;
    this.#starts.add(start);
    if (this.#bytes + (end - start) > DAMAGED_BYTES_MAX) return false;
    const name = `${positionText(start)}-${positionText(end)}.${kind}`;
    try {
      const bytes = await readFully(file, start - base, end - start);
      await writeFileAtomically(this.#io, this.#directory, name, bytes);
    } catch (error) {
      if (!isOutOfSpace(error)) throw error;
      return false;
    }
    this.#bytes += end - start;
    return true;
  }
}
