import { LINGER_MS } from "../limits.ts";
import { type ByteSource, fileSource } from "./byte-source.ts";
import { type UnpackedSource, unpackedSource } from "./compression.ts";
import { FollowedSource } from "./followed-source.ts";
import type { InputFile } from "./input-file.ts";
import type { InputRules } from "./input-rules.ts";
import { freshState, ResumeFile, type ResumeState } from "./resume-file.ts";
import { type ShipOptions, type ShipResult, ship } from "./ship.ts";
import { takeShipLock } from "./ship-lock.ts";

interface FileShipperOptions
  extends Pick<ShipOptions, "sender" | "maxEntries" | "concurrency" | "interrupted"> {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly stateDirectory: string;
  readonly baseUrl: string;
  readonly rulesOf: (file: string, sinceMs: number | null) => InputRules;
  /** Entries that are older are left out, in milliseconds since 1970. */
  readonly sinceMs: number | null;
  /** Told of the bytes of the file that are behind, and the lines that were shipped. */
  readonly onProgress: (bytes: number, lines: number) => void;
}

interface FileShipped extends ShipResult {
  /** It was cut or written anew while it was followed. */
  readonly isTruncated: boolean;
}

interface Manner {
  /** Whatever was shipped of it before. */
  readonly fromStart: boolean;
  /** Goes on at its end until it is finished. */
  readonly follow: boolean;
}

/** Ships files, each from where the last run ended. */
export class FileShipper {
  readonly #options: FileShipperOptions;

  constructor(options: FileShipperOptions) {
    this.#options = options;
  }

  /** What is remembered of a file; null when nothing is. */
  async stateOf(input: InputFile): Promise<ResumeState | null> {
    return (await this.#resumeFileOf(input)).load();
  }

  /** Ships a file to its end. Throws CliError, a FileProblem where it lies in this file alone. */
  async ship(input: InputFile, { fromStart, follow }: Manner): Promise<FileShipped> {
    const { now, rulesOf, sinceMs, interrupted, onProgress } = this.#options;
    const resumeFile = await this.#resumeFileOf(input);
    using _ = takeShipLock(resumeFile.lockPath, new Date(now()));
    const fresh = freshState(input.path, sinceMs);
    const known = fromStart ? null : await resumeFile.load();
    // Asked for in the same words, an age means what it meant to the run that is gone on with.
    const resume =
      known === null ? fresh : { ...known, sinceMs: sinceMs === null ? null : (known.sinceMs ?? sinceMs) };
    const { openSession, digest } = rulesOf(resume.file, resume.sinceMs);
    const sources = new InputSources(input, follow);
    const { sender, maxEntries, concurrency } = this.#options;
    try {
      const result = await ship({
        sender,
        maxEntries,
        concurrency,
        interrupted,
        open: (offset, end, stop) => sources.open(offset, end, stop),
        resume,
        record: async (state) => {
          // Of a file that was written anew nothing of the old one may be believed.
          if (!sources.isTruncated) await resumeFile.save(state);
        },
        openSession,
        modifiedMs: input.modifiedMs,
        optionsDigest: digest,
        lingerMs: follow ? LINGER_MS : Number.POSITIVE_INFINITY,
        onProgress: ({ position, tally }) => onProgress(sources.packedBytes ?? position.offset, tally.lines),
      });
      return { ...result, isTruncated: sources.isTruncated };
    } finally {
      sources.close();
    }
  }

  #resumeFileOf({ file, compression }: InputFile): Promise<ResumeFile> {
    const { stateDirectory, baseUrl } = this.#options;
    return ResumeFile.of(stateDirectory, { file, isCompressed: compression !== null }, baseUrl);
  }
}

/** Opens the bytes of a file as they are to be read. */
class InputSources {
  readonly #input: InputFile;
  readonly #follow: boolean;
  #unpacked: UnpackedSource | null = null;
  #followed: FollowedSource | null = null;

  constructor(input: InputFile, follow: boolean) {
    this.#input = input;
    this.#follow = follow;
  }

  /** Bytes read of a compressed file; null of any other. */
  get packedBytes(): number | null {
    return this.#unpacked?.packedBytes ?? null;
  }

  get isTruncated(): boolean {
    return this.#followed?.isTruncated === true;
  }

  open(offset: number, end: number | null, stop: AbortSignal): ByteSource {
    const { file, compression } = this.#input;
    if (compression !== null) {
      this.close();
      this.#unpacked = unpackedSource(this.#input, compression, offset, end);
      return this.#unpacked;
    }
    if (!this.#follow || end !== null) return fileSource(file, offset, end);
    this.#followed = new FollowedSource(this.#input, offset, stop);
    return this.#followed;
  }

  close(): void {
    this.#unpacked?.close();
  }
}
