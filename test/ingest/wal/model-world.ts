import { expect } from "bun:test";
import {
  WalFailedError,
  WalFullError,
  WalRecordTooLargeError,
  WalWriteError,
} from "../../../ingest/wal/errors.ts";
import type { Wal } from "../../../ingest/wal/wal.ts";
import {
  appendOf,
  idOf,
  openOn,
  randomFrom,
  readAll,
  recoveredKeysOf,
  SEGMENT_BYTES,
  START_MS,
} from "./fixture.ts";
import { MemoryDisk } from "./memory-disk.ts";
import type { Action } from "./model-actions.ts";

const MAX_BYTES = 8 * SEGMENT_BYTES;
const KEY_RETENTION_MS = 10_000;

interface Acknowledged {
  readonly id: number;
  /** Where the append begins that it belongs to. */
  readonly start: number;
  readonly keys: number;
  readonly receivedAtMs: number;
}

/** The log, its disk, and what must be true of them. `reached` names the faults that really happened. */
export class World {
  readonly disk = new MemoryDisk();
  readonly reached = new Set<string>();
  #wal: Wal | undefined;
  #dead = false;
  #nowMs = START_MS;
  #nextId = 0;
  readonly #acknowledged: Acknowledged[] = [];
  /** What was appended together. */
  readonly #together: (readonly number[])[] = [];
  /** Which record a position was ever seen to mean. */
  readonly #idAt = new Map<number, number>();

  async run(each: Action): Promise<void> {
    const wal = this.#wal ?? (await this.#open());
    this.#wal = wal;
    switch (each.kind) {
      case "append":
        await this.#append(wal, each.sizes, each.keys);
        break;
      case "appendTogether":
        await this.#appendTogether(wal, each.sizes, each.keys);
        break;
      case "flush":
        await this.#flush(wal, each);
        break;
      case "intent":
        await this.#declareIntent(wal, each.maxBytes);
        break;
      case "wait":
        this.#nowMs += each.ms;
        break;
      case "diskFull":
        this.disk.capacityBytes = this.disk.usedBytes + each.room;
        break;
      case "diskFree":
        this.disk.capacityBytes = Number.POSITIVE_INFINITY;
        break;
      case "shortWrites":
        this.disk.writeBytesMax = each.bytes;
        break;
      case "failSync":
        this.disk.failNext("sync", /\.wal$/, "EIO");
        break;
      case "close":
        await wal.close();
        this.#restart(() => this.disk.kill());
        break;
      case "kill":
        this.#restart(() => this.disk.kill());
        break;
      case "cutPower":
        this.#restart(() => this.#cutPower(each));
        break;
      case "die":
        await this.#die(wal, each);
        break;
    }
    // A failed sync must be followed by the end of the process, and the disk may really have lost the data.
    if (this.#dead) this.#restart(() => this.#cutPower({ seed: this.#nextId, keep: 0.5 }));
    if (this.#wal !== undefined) this.#checkBounds(this.#wal);
  }

  async finish(): Promise<void> {
    this.disk.capacityBytes = Number.POSITIVE_INFINITY;
    const wal = this.#wal ?? (await this.#open());
    await this.#append(wal, [10], 1);
    await this.#checkRecords(wal);
    await wal.close();
  }

  #restart(end: () => void): void {
    end();
    this.#wal = undefined;
    this.#dead = false;
  }

  #cutPower({ seed, keep }: { seed: number; keep: number }): void {
    const random = randomFrom(seed);
    this.disk.cutPower(() => random() < keep);
  }

  async #open(): Promise<Wal> {
    // A start on a disk without any room is another test; here the operator has made some.
    this.disk.capacityBytes = Number.POSITIVE_INFINITY;
    const { wal, fatal } = await openOn(this.disk, {
      maxBytes: MAX_BYTES,
      keyRetentionMs: KEY_RETENTION_MS,
      clock: () => this.#nowMs,
      onFatal: (error) => {
        expect(error).toBeInstanceOf(WalFailedError);
        this.#dead = true;
      },
    });
    expect(fatal).toEqual([]);
    expect(wal.recovery.recordsDamaged).toBe(0);
    expect(wal.recovery.ledgerLost).toBe(false);
    if (wal.recovery.bytesCut > 0) this.reached.add("a torn end was cut");
    if (wal.recovery.recordsTorn > 0) this.reached.add("a torn record was passed over");
    await this.#checkRecords(wal);
    await this.#checkKeys(wal);
    return wal;
  }

  async #append(wal: Wal, sizes: readonly number[], keys: number): Promise<void> {
    await Promise.all(sizes.map((bytes) => this.#appendTogether(wal, [bytes], keys)));
  }

  async #appendTogether(wal: Wal, sizes: readonly number[], keys: number): Promise<void> {
    const receivedAtMs = this.#nowMs;
    const ids = sizes.map(() => this.#nextId++);
    this.#together.push(ids);
    const records = ids.map((id, i) => appendOf(id, sizes[i], keys, receivedAtMs));
    try {
      const { start } = await wal.append(...records);
      let position = start;
      for (const [i, { bytes }] of records.entries()) {
        const id = ids[i] ?? -1;
        this.#see(position, id);
        this.#acknowledged.push({ id, start, keys, receivedAtMs });
        position += bytes.length;
      }
    } catch (error) {
      this.reached.add(error instanceof Error ? error.name : "?");
      const isRefused =
        error instanceof WalFullError ||
        error instanceof WalWriteError ||
        error instanceof WalRecordTooLargeError;
      if (!isRefused) expect(error).toBeInstanceOf(WalFailedError);
    }
  }

  async #die(wal: Wal, each: Extract<Action, { kind: "die" }>): Promise<void> {
    if (each.during === "open") this.disk.kill();
    this.disk.operationsUntilDeath = each.operations;
    // What a dead process does hangs for ever; more turns than the disk has operations are enough.
    const turns = async () => {
      for (let turn = 0; turn < 1000; turn++) await Promise.resolve();
    };
    await Promise.race([this.#lastDeed(wal, each), turns()]);
    this.reached.add(`died during ${each.during}`);
    this.#restart(() => (each.keep === 1 ? this.disk.kill() : this.#cutPower(each)));
  }

  async #lastDeed(wal: Wal, { during, sizes }: Extract<Action, { kind: "die" }>): Promise<void> {
    if (during === "append") await this.#append(wal, sizes, 1);
    else if (during === "appendTogether") await this.#appendTogether(wal, sizes.slice(0, 4), 1);
    else if (during === "flush") await this.#flush(wal, { maxBytes: 6000, release: true });
    else await this.#open();
  }

  async #flush(wal: Wal, { maxBytes, release }: { maxBytes: number; release: boolean }): Promise<void> {
    const { flushedThrough, intentEnd } = wal.ledger;
    const through = intentEnd > flushedThrough ? { through: intentEnd } : {};
    const batch = await wal.read(flushedThrough, { maxBytes, maxRecords: 100, ...through });
    for (const record of batch.records) this.#see(record.start, idOf(record));
    await this.#tolerate(async () => {
      await wal.ledger.setIntent(Math.max(batch.end, intentEnd));
      await wal.ledger.setFlushed(batch.end);
      if (release) await wal.release(batch.end);
    });
  }

  async #declareIntent(wal: Wal, maxBytes: number): Promise<void> {
    const { flushedThrough, intentEnd } = wal.ledger;
    const { end } = await wal.read(flushedThrough, { maxBytes, maxRecords: 100 });
    if (end > intentEnd) await this.#tolerate(() => wal.ledger.setIntent(end));
  }

  async #tolerate(task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      this.reached.add(`ledger or release: ${error instanceof Error ? error.name : "?"}`);
      expect(error).toBeInstanceOf(WalFailedError);
    }
  }

  #see(position: number, id: number): void {
    const known = this.#idAt.get(position);
    if (known !== undefined) expect(id).toBe(known);
    this.#idAt.set(position, id);
  }

  async #checkRecords(wal: Wal): Promise<void> {
    const records = await readAll(wal);
    const ids = records.map(idOf);
    for (const [index, record] of records.entries()) {
      this.#see(record.start, ids[index] ?? -1);
      expect(record.start % 8).toBe(0);
      expect(record.start).toBeGreaterThanOrEqual(records[index - 1]?.end ?? wal.ledger.flushedThrough);
    }
    expect([...ids].sort((a, b) => a - b)).toEqual(ids);
    expect(ids.every((id) => id < this.#nextId)).toBe(true);
    const unflushed = this.#acknowledged.filter(({ start }) => start >= wal.ledger.flushedThrough);
    const found = new Set(ids);
    expect(unflushed.filter(({ id }) => !found.has(id))).toEqual([]);
    for (const together of this.#together) {
      const count = together.filter((id) => found.has(id)).length;
      expect([0, together.length]).toContain(count);
      if (together.length > 1) this.reached.add(count > 0 ? "found together" : "missing together");
    }
  }

  async #checkKeys(wal: Wal): Promise<void> {
    const found = new Set<number>();
    for (const { keys } of await recoveredKeysOf(wal)) {
      const view = new DataView(keys.buffer, keys.byteOffset, keys.byteLength);
      for (let at = 0; at < keys.length; at += 16) found.add(view.getUint32(at, true));
    }
    const cutoffMs = this.#nowMs - KEY_RETENTION_MS;
    const due = this.#acknowledged.filter(({ keys, receivedAtMs }) => keys > 0 && receivedAtMs >= cutoffMs);
    expect(due.filter(({ id }) => !found.has(id))).toEqual([]);
  }

  #checkBounds(wal: Wal): void {
    const { flushedThrough, intentEnd } = wal.ledger;
    expect(flushedThrough).toBeGreaterThanOrEqual(0);
    expect(intentEnd).toBeGreaterThanOrEqual(flushedThrough);
    expect(wal.durableEnd).toBeGreaterThanOrEqual(intentEnd);
    expect(wal.bytes).toBeLessThanOrEqual(MAX_BYTES);
    expect(wal.queuedBytes).toBe(0);
    for (const path of this.disk.paths(/\.wal$/)) {
      expect(this.disk.bytesOf(path).length).toBeLessThanOrEqual(SEGMENT_BYTES);
    }
  }
}
