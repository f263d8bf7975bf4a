import type { DamagedRegions } from "./damaged-regions.ts";
import { HEADER_BYTES } from "./format.ts";
import type { WalFile, WalIo } from "./io.ts";
import type { ScannedHole, ScannedRecord } from "./scan.ts";
import { scanFile } from "./segment-scan.ts";
import { type Segment, type Segments, segmentEnd } from "./segments.ts";
import { Serial } from "./serial.ts";
import type { WalBatch, WalDamage, WalReadLimits, WalRecord } from "./types.ts";

interface ReaderOptions {
  readonly io: WalIo;
  readonly segments: Segments;
  readonly identity: bigint;
  readonly damagedRegions: DamagedRegions;
  readonly durableEnd: () => number;
  readonly onDamage: (damage: WalDamage) => void;
}

/** What is still allowed in one batch, and what is in it. */
interface Filling {
  readonly records: WalRecord[];
  /** Position up to which the log was looked at. */
  at: number;
  readonly limit: number;
  budgetBytes: number;
  readonly maxRecords: number;
  /** Where the last append ends that the batch has begun: of it the batch takes everything. */
  appendEnd: number;
}

/** Reads the log in order for the flusher: few large reads, every record checked, and repaired where it must be. */
export class Reader {
  readonly #options: ReaderOptions;
  readonly #serial = new Serial();
  readonly stats = { recordsRepaired: 0, recordsDamaged: 0 };
  /** Kept from one read to the next, which nearly always goes on in the same segment. */
  #open: { readonly segment: Segment; readonly file: WalFile } | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  read(position: number, limits: WalReadLimits): Promise<WalBatch> {
    return this.#serial.run(() => this.#read(position, limits));
  }

  /** Closes the segment's file if it is open, so that its removal frees the space. */
  leave(segment: Segment): Promise<void> {
    return this.#serial.run(async () => {
      if (this.#open?.segment === segment) await this.#closeFile();
    });
  }

  close(): Promise<void> {
    return this.#serial.run(() => this.#closeFile());
  }

  async #read(position: number, limits: WalReadLimits): Promise<WalBatch> {
    const limit = Math.min(this.#options.durableEnd(), limits.through ?? Number.POSITIVE_INFINITY);
    const filling: Filling = {
      records: [],
      at: position,
      limit,
      budgetBytes: limits.maxBytes,
      maxRecords: limits.maxRecords,
      appendEnd: position,
    };
    while (filling.at < limit && hasRoom(filling)) {
      const segment = this.#options.segments.firstAfter(filling.at);
      if (segment === undefined || segment.base >= limit) {
        filling.at = limit;
        break;
      }
      await this.#readSegment(segment, filling);
    }
    return { records: filling.records, end: filling.at };
  }

  /** Takes one window of records from a segment; holes before it are passed over. */
  async #readSegment(segment: Segment, filling: Filling): Promise<void> {
    const file = await this.#fileOf(segment);
    const from = Math.max(filling.at, segment.base);
    const end = Math.min(segmentEnd(segment), filling.limit);
    const windowBytes = Math.max(1, filling.budgetBytes);
    filling.at = from;
    for await (const items of scanFile(
      file,
      { base: segment.base, from, end },
      this.#options.identity,
      windowBytes,
    )) {
      const before = filling.records.length;
      for (const item of items) {
        if (item.kind === "hole") await this.#skip(item, file, segment, filling);
        else if (!this.#take(item, filling)) return;
      }
      if (filling.records.length > before) return;
    }
    // A file that ends early was cut by someone else.
    const { at } = filling;
    if (at < end)
      await this.#skip({ kind: "hole", start: at, end, reason: "header" }, file, segment, filling);
  }

  /** Adds a record to the batch; answers whether to go on. A void record is passed over. */
  #take(item: ScannedRecord, filling: Filling): boolean {
    const { start, end, rows, receivedAtMs, keyBytes, blockBytes, append } = item.header;
    if (rows === 0) {
      filling.at = end;
      return true;
    }
    if (start >= filling.appendEnd) {
      const isFirst = filling.records.length === 0;
      if (!hasRoom(filling) || (!isFirst && append.end - start > filling.budgetBytes)) {
        filling.budgetBytes = 0;
        return false;
      }
      filling.appendEnd = append.end;
    }
    if (item.repaired) this.stats.recordsRepaired++;
    const keys = item.payload.subarray(0, keyBytes);
    const block = item.payload.subarray(keyBytes, keyBytes + blockBytes);
    filling.records.push({ start, end, rows, receivedAtMs, block, keys });
    filling.budgetBytes -= end - start;
    filling.at = end;
    return true;
  }

  /** Damage met while running. What opening the log found is known already and not reported again. */
  async #skip(hole: ScannedHole, file: WalFile, segment: Segment, filling: Filling): Promise<void> {
    const { start, end, reason } = hole;
    if (reason === "incomplete" && end < segmentEnd(segment))
      throw new RangeError("`through` lies within a record");
    filling.at = end;
    const { damagedRegions, onDamage } = this.#options;
    if (damagedRegions.isKnown(start)) return;
    this.stats.recordsDamaged++;
    const preserved = await damagedRegions.preserve(file, {
      base: segment.base,
      start,
      end,
      kind: "damaged",
    });
    onDamage({ start, end, kind: "damaged", preserved });
  }

  async #fileOf(segment: Segment): Promise<WalFile> {
    if (this.#open?.segment === segment) return this.#open.file;
    await this.#closeFile();
    const file = await this.#options.io.open(segment.path, "read");
    this.#open = { segment, file };
    return file;
  }

  async #closeFile(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.file.close();
  }
}

function hasRoom(filling: Filling): boolean {
  return (
    filling.at < filling.appendEnd ||
    (filling.records.length < filling.maxRecords &&
      (filling.records.length === 0 || filling.budgetBytes >= HEADER_BYTES))
  );
}
