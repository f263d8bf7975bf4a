import { join } from "node:path";
import { writeFileAtomically } from "./atomic-file.ts";
import { assertInvariant } from "./errors.ts";
import { type RecordBody, recordOf, sealRecord } from "./format.ts";
import { removeIfPresent, type WalFile, type WalIo } from "./io.ts";
import { KeyPacker } from "./key-packer.ts";
import { KEY_FILE_OVERHEAD_BYTES, SEGMENT_KEY_BYTES_MAX, SURVEY_WINDOW_BYTES } from "./limits.ts";
import { scanFile } from "./segment-scan.ts";
import { positionText, type Segment, segmentEnd } from "./segments.ts";
import type { WalKeys } from "./types.ts";

const NAME = /^(\d{16})-(\d+)\.keys$/;

/** The longest key file: what `Reserve` keeps free for it. */
const KEY_FILE_BYTES_MAX = SEGMENT_KEY_BYTES_MAX + KEY_FILE_OVERHEAD_BYTES;

interface KeyFile {
  readonly path: string;
  readonly base: number;
  readonly bytes: number;
  readonly newestMs: number;
}

/**
 * The keys of released segments. A key file has the format of a segment, with records that hold keys only, so it is
 * checked, repaired and read by the same code. Its name is the segment's base and the newest time in it.
 */
export class KeyFiles {
  readonly #io: WalIo;
  readonly #directory: string;
  readonly #identity: bigint;

  constructor(io: WalIo, directory: string, identity: bigint) {
    this.#io = io;
    this.#directory = directory;
    this.#identity = identity;
  }

  /** Makes the keys of a segment, those received at `cutoffMs` or later, durable in a file of their own. */
  async keep(segment: Segment, cutoffMs: number): Promise<void> {
    const packer = new KeyPacker();
    for await (const { keys, receivedAtMs } of this.readSegment(segment, cutoffMs))
      packer.add(keys, receivedAtMs);
    const bodies = packer.finish();
    if (bodies.length === 0) return;
    const bytes = this.#encode(segment.base, bodies);
    assertInvariant(bytes.length <= KEY_FILE_BYTES_MAX, 5, `a key file of ${bytes.length} bytes`);
    const newestMs = bodies.reduce((newest, body) => Math.max(newest, body.receivedAtMs), 0);
    await writeFileAtomically(
      this.#io,
      this.#directory,
      `${positionText(segment.base)}-${newestMs}.keys`,
      bytes,
    );
  }

  /** The keys in a segment's records, those received at `cutoffMs` or later. */
  async *readSegment(segment: Segment, cutoffMs: number): AsyncGenerator<WalKeys> {
    if (segment.keyBytes === 0 || segment.newestMs < cutoffMs) return;
    yield* this.#read(segment.path, segment.base, segmentEnd(segment), cutoffMs);
  }

  /** The keys of released segments, those received at `cutoffMs` or later. */
  async *readKept(cutoffMs: number): AsyncGenerator<WalKeys> {
    for (const { path, base, bytes, newestMs } of await listKeyFiles(this.#io, this.#directory)) {
      if (newestMs >= cutoffMs) yield* this.#read(path, base, base + bytes, cutoffMs);
    }
  }

  /** Removes the files whose newest key is older than `cutoffMs`. */
  async expire(cutoffMs: number): Promise<void> {
    for (const { path, newestMs } of await listKeyFiles(this.#io, this.#directory)) {
      if (newestMs < cutoffMs) await removeIfPresent(this.#io, path);
    }
  }

  async *#read(path: string, base: number, end: number, cutoffMs: number): AsyncGenerator<WalKeys> {
    const file: WalFile = await this.#io.open(path, "read");
    try {
      for await (const items of scanFile(
        file,
        { base, from: base, end },
        this.#identity,
        SURVEY_WINDOW_BYTES,
      )) {
        for (const item of items) {
          if (item.kind === "hole") continue;
          const { keyBytes, receivedAtMs } = item.header;
          if (keyBytes > 0 && receivedAtMs >= cutoffMs) {
            yield { keys: item.payload.subarray(0, keyBytes), receivedAtMs };
          }
        }
      }
    } finally {
      await file.close();
    }
  }

  #encode(base: number, bodies: readonly RecordBody[]): Uint8Array {
    let position = base;
    const parts = bodies.map((body) => {
      const record = recordOf(body);
      sealRecord(record, { position, identity: this.#identity, durableBefore: position, behind: null });
      position += record.bytes.length;
      return record.bytes;
    });
    return Buffer.concat(parts);
  }
}

/** The key files of a directory in ascending order of position. */
export async function listKeyFiles(io: WalIo, directory: string): Promise<KeyFile[]> {
  const files: KeyFile[] = [];
  for (const { name, bytes } of await io.list(directory)) {
    const match = NAME.exec(name);
    if (match === null) continue;
    files.push({ path: join(directory, name), bytes, base: Number(match[1]), newestMs: Number(match[2]) });
  }
  return files.sort((a, b) => a.base - b.base);
}
