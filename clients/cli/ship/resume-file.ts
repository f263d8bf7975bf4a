import { createHash } from "node:crypto";
import { type FileHandle, readdir, readFile, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isRecord, parseJsonOrUndefined } from "../../api/json.ts";
import { CliError } from "../cli-error.ts";
import { writePrivateFile } from "../config/private-file.ts";
import { FINGERPRINT_BYTES, RESUME_MAX_AGE_MS } from "../limits.ts";
import { type Position, START } from "./position.ts";

const RESUME_FOLDER = "ship";
const LOCK_FOLDER = "ship-locks";

/** What is known about shipping one file to one server. */
export interface ResumeState {
  /** Names this shipping of the file; part of the key of every request, so that repetitions are recognised. */
  run: string;
  /** Everything before it is acknowledged. */
  position: Readonly<Position>;
  /**
   * End of the input as the last batch before it saw it, when that batch was about to be sent. Should the file have
   * grown meanwhile, batches are cut there once more, as they were.
   */
  inputEnd: number | null;
}

/** What tells a file from another one under the same name. */
interface FileIdentity {
  device: string;
  inode: string;
  /** Bytes of the beginning that `fingerprint` covers, beside as many before the position. */
  fingerprintBytes: number;
  fingerprint: string;
}

/** Remembers across runs how far a file was shipped to a server. */
export class ResumeFile {
  readonly #path: string;
  readonly #description: { file: string; url: string };

  private constructor(path: string, description: { file: string; url: string }) {
    this.#path = path;
    this.#description = description;
  }

  /** What a run of this file holds while it lasts. */
  get lockPath(): string {
    return join(dirname(dirname(this.#path)), LOCK_FOLDER, basename(this.#path, ".json"));
  }

  /** The resume file of `file` (an absolute path) and `url`, under `stateDirectory`. */
  static at(stateDirectory: string, file: string, url: string): ResumeFile {
    const name = createHash("sha256").update(`${url}\n${file}`).digest("hex").slice(0, 32);
    return new ResumeFile(join(stateDirectory, RESUME_FOLDER, `${name}.json`), { file, url });
  }

  /** Where to go on, or the start when nothing is known or the file has been replaced or cut. */
  async load(file: FileHandle): Promise<ResumeState> {
    const fresh: ResumeState = { run: crypto.randomUUID(), position: START, inputEnd: null };
    const text = await readFile(this.#path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw new CliError(`cannot read ${this.#path}`, { cause: error });
    });
    const stored = text === null ? null : parseStored(text);
    if (stored === null) return fresh;
    const { size } = await file.stat();
    const { state, identity } = stored;
    const isSame =
      size >= Math.max(state.position.offset, state.inputEnd ?? 0) &&
      sameIdentity(identity, await identityOf(file, identity.fingerprintBytes, state.position.offset));
    return isSame ? state : fresh;
  }

  /** Replaces what is remembered; durable when it resolves. */
  async save(file: FileHandle, state: ResumeState): Promise<void> {
    const { size } = await file.stat({ bigint: false });
    const identity = await identityOf(file, Math.min(FINGERPRINT_BYTES, size), state.position.offset);
    const content = JSON.stringify({ version: 1, ...this.#description, identity, ...state });
    await writePrivateFile(this.#path, content).catch((error: unknown) => {
      throw new CliError(`cannot write ${this.#path}`, { cause: error });
    });
  }
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
  if (!isRecord(stored) || stored.version !== 1) return null;
  const { run, position, inputEnd, identity } = stored;
  if (typeof run !== "string" || !isPosition(position) || !isIdentity(identity)) return null;
  return { state: { run, position, inputEnd: typeof inputEnd === "number" ? inputEnd : null }, identity };
}

function isPosition(value: unknown): value is Position {
  if (!isRecord(value)) return false;
  const { offset, lineStart, part, line } = value;
  return isCount(offset) && isCount(lineStart) && isCount(part) && isCount(line) && lineStart <= offset;
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
