import { assertInvariant, WalWriteError } from "./errors.ts";
import type { WalIo } from "./io.ts";
import type { KeyFiles } from "./key-files.ts";
import type { Reader } from "./reader.ts";
import type { Reserve } from "./reserve.ts";
import { type Segment, type Segments, segmentEnd } from "./segments.ts";
import { Serial } from "./serial.ts";

interface ReleaserOptions {
  readonly io: WalIo;
  readonly directory: string;
  readonly segments: Segments;
  readonly keyFiles: KeyFiles;
  readonly reserve: Reserve;
  readonly reader: Reader;
  readonly activeSegment: () => Segment | undefined;
  readonly flushedThrough: () => number;
  /** Keys received before this time, epoch ms, are no longer kept. */
  readonly keyCutoffMs: () => number;
}

/** Removes flushed segments. What fails leaves the segment in place; the next release tries again. */
export class Releaser {
  readonly #options: ReleaserOptions;
  readonly #serial = new Serial();

  constructor(options: ReleaserOptions) {
    this.#options = options;
  }

  release(through: number): Promise<void> {
    return this.#serial.run(async () => {
      try {
        await this.#release(through);
      } catch (error) {
        throw new WalWriteError(error);
      }
    });
  }

  /** Resolves when no release is under way. */
  idle(): Promise<void> {
    return this.#serial.run(() => Promise.resolve());
  }

  async #release(through: number): Promise<void> {
    const { io, directory, segments, keyFiles, reserve, keyCutoffMs } = this.#options;
    const cutoffMs = keyCutoffMs();
    let removed = 0;
    for (const segment of segments.snapshot()) {
      if (segmentEnd(segment) > through || segment === this.#options.activeSegment()) break;
      await this.#remove(segment, cutoffMs);
      removed++;
    }
    await keyFiles.expire(cutoffMs);
    if (removed > 0) await io.syncDirectory(directory);
    await reserve.fill();
  }

  async #remove(segment: Segment, cutoffMs: number): Promise<void> {
    const { io, segments, keyFiles, reserve, reader, flushedThrough } = this.#options;
    assertInvariant(segmentEnd(segment) <= flushedThrough(), 7, "a segment is released before it is flushed");
    await reserve.spend(() => keyFiles.keep(segment, cutoffMs));
    await reader.leave(segment);
    await io.unlink(segment.path);
    segments.remove(segment);
  }
}
