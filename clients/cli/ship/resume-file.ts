import { createHash } from "node:crypto";
import { type FileHandle, readdir, readFile, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { RecogniserState } from "../../../ingest/recognise/index.ts";
import { isRecord, parseJsonOrUndefined } from "../../api/json.ts";
import { CliError } from "../cli-error.ts";
import { writePrivateFile } from "../config/private-file.ts";
import { FINGERPRINT_BYTES, RESUME_MAX_AGE_MS } from "../limits.ts";
import { type Position, START } from "./position.ts";

const RESUME_FOLDER = "ship";
const LOCK_FOLDER = "ship-locks";
const VERSION = 2;

/** What is known about shipping one file to one server. */
export interface ResumeState {
  /** Names this shipping of the file; part of the key of every request, so that repetitions are recognised. */
  run: string;
  /** Everything before it is acknowledged. */
  position: Readonly<Position>;
  /**
   * Places behind the position where a batch ended because the input did or rested, in their order, noted when the batch
   * was about to be sent. Whatever has come since, batches are cut there once more, as they were.
   */
  cuts: readonly number[];
  /** Entries that are older are left out, in milliseconds since 1970; as the first run understood what it was told. */
  sinceMs: number | null;
  /**
   * By which the last line was written, in milliseconds since 1970, as the run understood it that may have left requests on
   * their way; null when none did.
   */
  yearReferenceMs: number | null;
  /** The name under which the file was found when its shipping began. */
  file: string;
}

/** The state of an input of which nothing has been shipped. */
export function freshState(file: string, sinceMs: number | null): ResumeState {
  return { run: crypto.randomUUID(), position: START, cuts: [], sinceMs, yearReferenceMs: null, file };
}

/** What tells a file from another one under the same name. */
interface FileIdentity {
  device: string;
  inode: string;
  /** Bytes of the beginning that `fingerprint` covers, beside as many before the position. */
  fingerprintBytes: number;
  fingerprint: string;
}

/** Remembers across runs how far a file was shipped to a server; a file is known by itself, whatever its name is now. */
export class ResumeFile {
  readonly #path: string;
  readonly #url: string;
  readonly #file: FileHandle;
  readonly #isCompressed: boolean;

  private constructor(path: string, url: string, { file, isCompressed }: RememberedFile) {
    this.#path = path;
    this.#url = url;
    this.#file = file;
    this.#isCompressed = isCompressed;
  }

  /** What a run of this file holds while it lasts. */
  get lockPath(): string {
    return join(dirname(dirname(this.#path)), LOCK_FOLDER, basename(this.#path, ".json"));
  }

  /** The resume file of an open file and `url`, under `stateDirectory`. */
  static async of(stateDirectory: string, remembered: RememberedFile, url: string): Promise<ResumeFile> {
    const { dev, ino } = await remembered.file.stat({ bigint: true });
    const name = createHash("sha256").update(`${url}\n${dev}\n${ino}`).digest("hex").slice(0, 32);
    return new ResumeFile(join(stateDirectory, RESUME_FOLDER, `${name}.json`), url, remembered);
  }

  /** Where to go on; null when nothing is known or the file is another one by now or has been cut. */
  async load(): Promise<ResumeState | null> {
    const text = await readFile(this.#path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw new CliError(`cannot read ${this.#path}`, { cause: error });
    });
    const stored = text === null ? null : parseStored(text);
    if (stored === null) return null;
    const { state, identity } = stored;
    const found = await this.#identity(identity.fingerprintBytes, state);
    return (await this.#holds(state)) && sameIdentity(identity, found) ? state : null;
  }

  /** Replaces what is remembered; durable when it resolves. */
  async save(state: ResumeState): Promise<void> {
    const { size } = await this.#file.stat();
    const identity = await this.#identity(Math.min(FINGERPRINT_BYTES, size), state);
    const content = JSON.stringify({ version: VERSION, url: this.#url, identity, ...state });
    await writePrivateFile(this.#path, content).catch((error: unknown) => {
      throw new CliError(`cannot write ${this.#path}`, { cause: error });
    });
  }

  async #holds({ position, cuts }: ResumeState): Promise<boolean> {
    if (this.#isCompressed) return true;
    const { size } = await this.#file.stat();
    return size >= Math.max(position.offset, ...cuts);
  }

  /** Positions of a compressed file are none in the file itself: it is told by its beginning. */
  #identity(bytes: number, { position }: ResumeState): Promise<FileIdentity> {
    return identityOf(this.#file, bytes, this.#isCompressed ? 0 : position.offset);
  }
}

/** An open file, for which it is remembered how far it was shipped. */
interface RememberedFile {
  readonly file: FileHandle;
  readonly isCompressed: boolean;
}

/** Removes what nobody has touched for months: resume files, locks, and what a killed run left half written. */
export async function removeOldResumeFiles(stateDirectory: string, nowMs: number): Promise<void> {
  for (const folder of [RESUME_FOLDER, LOCK_FOLDER]) {
    const directory = join(stateDirectory, folder);
    for (const name of await readdir(directory).catch(() => [])) {
      const path = join(directory, name);
      // Another run may be removing it too.
      const found = await stat(path).catch(() => null);
      if (found !== null && nowMs - found.mtimeMs > RESUME_MAX_AGE_MS) await rm(path, { force: true });
    }
  }
}

async function identityOf(file: FileHandle, fingerprintBytes: number, offset: number): Promise<FileIdentity> {
  const { dev, ino } = await file.stat({ bigint: true });
  const hash = createHash("sha256");
  const bytes = Buffer.alloc(fingerprintBytes);
  for (const at of [0, Math.max(0, offset - fingerprintBytes)]) {
    const { bytesRead } = await file.read(bytes, 0, fingerprintBytes, at);
    hash.update(bytes.subarray(0, bytesRead));
  }
  return { device: String(dev), inode: String(ino), fingerprintBytes, fingerprint: hash.digest("hex") };
}

function sameIdentity(a: FileIdentity, b: FileIdentity): boolean {
  return a.device === b.device && a.inode === b.inode && a.fingerprint === b.fingerprint;
}

/** Null for a file of another version or one that is damaged: then the file is shipped from its start. */
function parseStored(text: string): { state: ResumeState; identity: FileIdentity } | null {
  const stored = parseJsonOrUndefined(text);
  if (!isRecord(stored) || stored.version !== VERSION) return null;
  const { run, position, cuts, file, identity } = stored;
  if (typeof run !== "string" || typeof file !== "string") return null;
  if (!isPosition(position) || !isIdentity(identity)) return null;
  if (!Array.isArray(cuts) || !cuts.every(isCount)) return null;
  const sinceMs = numberOrNull(stored.sinceMs);
  const yearReferenceMs = numberOrNull(stored.yearReferenceMs);
  return { state: { run, position, cuts, sinceMs, yearReferenceMs, file }, identity };
}

function isPosition(value: unknown): value is Position {
  if (!isRecord(value)) return false;
  const { offset, lineStart, part, line, recogniser } = value;
  if (recogniser !== undefined && !isRecogniserState(recogniser)) return false;
  return isCount(offset) && isCount(lineStart) && isCount(part) && isCount(line) && lineStart <= offset;
}

function isRecogniserState(value: unknown): value is RecogniserState {
  if (!isRecord(value) || !isCount(value.headsInARow)) return false;
  const { columns } = value;
  return (
    columns === null || (Array.isArray(columns) && columns.every((column) => typeof column === "string"))
  );
}

function numberOrNull(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function isIdentity(value: unknown): value is FileIdentity {
  return (
    isRecord(value) &&
    typeof value.device === "string" &&
    typeof value.inode === "string" &&
    isCount(value.fingerprintBytes) &&
    value.fingerprintBytes <= FINGERPRINT_BYTES &&
    typeof value.fingerprint === "string"
  );
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
