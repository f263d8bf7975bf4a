import { describe, expect, test } from "bun:test";
import { WalFailedError, WalWriteError } from "../../../ingest/wal/errors.ts";
import { appendOf, DIRECTORY, idsIn, openOn, randomFrom } from "./fixture.ts";
import { MemoryDisk } from "./memory-disk.ts";

const LEDGER = `${DIRECTORY}/ledger`;

describe("ledger", () => {
  test("what was declared is there after a power cut", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    const ends = [];
    for (let id = 0; id < 4; id++) ends.push((await wal.append(appendOf(id))).end);
    const [first = 0, second = 0, , last = 0] = ends;
    await wal.ledger.setIntent(second);
    await wal.ledger.setFlushed(first);
    expect(wal.ledger).toMatchObject({ flushedThrough: first, intentEnd: second });
    disk.cutPower(() => false);
    const again = (await openOn(disk)).wal;
    expect(again.ledger).toMatchObject({ flushedThrough: first, intentEnd: second });
    expect(again.recovery.ledgerLost).toBe(false);
    await again.ledger.setFlushed(last);
    expect(again.ledger.intentEnd).toBe(last);
  });

  test("a write torn anywhere leaves the old state or the new one", async () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = randomFrom(seed);
      const disk = new MemoryDisk();
      const { wal } = await openOn(disk);
      const { end } = await wal.append(appendOf(0));
      const { end: next } = await wal.append(appendOf(1));
      await wal.ledger.setFlushed(end);
      disk.writeBytesMax = 1 + Math.floor(random() * 64);
      disk.operationsUntilDeath = Math.floor(random() * 12);
      await Promise.race([wal.ledger.setFlushed(next), Bun.sleep(0)]);
      disk.cutPower(() => random() < 0.5);
      const state = (await openOn(disk)).wal.ledger;
      expect([end, next]).toContain(state.flushedThrough);
    }
  });

  test("a refused write leaves the old state in force, also on the disk, and the next one works", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    const { end } = await wal.append(appendOf(0));
    disk.failNext("write", /ledger$/, "EIO");
    await expect(wal.ledger.setFlushed(end)).rejects.toBeInstanceOf(WalWriteError);
    expect(wal.ledger.flushedThrough).toBe(0);
    await wal.ledger.setFlushed(end);
    disk.cutPower(() => false);
    expect((await openOn(disk)).wal.ledger.flushedThrough).toBe(end);
  });

  test("a failed sync fails the log", async () => {
    const disk = new MemoryDisk();
    const { wal, fatal } = await openOn(disk);
    const { end } = await wal.append(appendOf(0));
    disk.failNext("sync", /ledger$/, "EIO");
    await expect(wal.ledger.setFlushed(end)).rejects.toBeInstanceOf(WalFailedError);
    await expect(wal.append(appendOf(1))).rejects.toBeInstanceOf(WalFailedError);
    expect(fatal).toHaveLength(1);
  });

  test("a wrong byte in either slot changes nothing", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    const { end } = await wal.append(appendOf(0));
    await wal.ledger.setIntent(end);
    await wal.ledger.setFlushed(end);
    for (const slot of [0, 4096]) disk.flip(LEDGER, slot + 30, 0x55);
    disk.kill();
    expect((await openOn(disk)).wal.ledger.flushedThrough).toBe(end);
  });

  test("lost altogether: every record is still there, and positions of the past do not come back", async () => {
    for (const lose of [
      (disk: MemoryDisk) => disk.remove(LEDGER),
      (disk: MemoryDisk) => disk.put(LEDGER, new Uint8Array(8192)),
    ]) {
      const disk = new MemoryDisk();
      const { wal } = await openOn(disk);
      const { end } = await wal.append(appendOf(0));
      await wal.ledger.setFlushed(end);
      await wal.append(appendOf(1));
      disk.kill();
      lose(disk);
      const again = (await openOn(disk)).wal;
      expect(again.recovery.ledgerLost).toBe(true);
      expect(again.names.present).toBe(wal.names.present);
      expect(again.ledger.flushedThrough).toBe(0);
      expect(await idsIn(again)).toEqual([0, 1]);
      disk.kill();
      const third = (await openOn(disk)).wal;
      expect(third.recovery.ledgerLost).toBe(false);
      expect((await third.append(appendOf(2))).start).toBeGreaterThanOrEqual(2 ** 40);
      expect(await idsIn(third)).toEqual([0, 1, 2]);
    }
  });
});
