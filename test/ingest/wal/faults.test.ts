import { describe, expect, test } from "bun:test";
import { WalFailedError, WalWriteError } from "../../../ingest/wal/errors.ts";
import { appendOf, flushAll, idsIn, openOn, recoveredKeysOf, SEGMENT_BYTES } from "./fixture.ts";
import { MemoryDisk } from "./memory-disk.ts";

describe("full disk", () => {
  test("rejects what does not fit, keeps what was acknowledged, and goes on when there is space again", async () => {
    const disk = new MemoryDisk();
    const { wal, fatal } = await openOn(disk);
    await wal.append(appendOf(0));
    disk.capacityBytes = disk.usedBytes + 100;
    const used = disk.usedBytes;
    await expect(wal.append(appendOf(1, 500))).rejects.toBeInstanceOf(WalWriteError);
    await expect(wal.append(appendOf(2, 500))).rejects.toBeInstanceOf(WalWriteError);
    expect(disk.usedBytes).toBe(used);
    expect(await idsIn(wal)).toEqual([0]);
    disk.capacityBytes = Number.POSITIVE_INFINITY;
    await wal.append(appendOf(3, 500));
    expect(fatal).toEqual([]);
    disk.cutPower(() => false);
    const again = (await openOn(disk)).wal;
    expect(await idsIn(again)).toEqual([0, 3]);
    expect(again.recovery).toMatchObject({ recordsDamaged: 0, recordsTorn: 0, bytesCut: 0 });
  });

  test("ledger and release need no space: with keys to keep and not a byte free, flushing frees the log", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    for (let id = 0; id < 8; id++) await wal.append(appendOf(id, 1000, 60));
    disk.capacityBytes = disk.usedBytes;
    await expect(wal.append(appendOf(8, 1000))).rejects.toBeInstanceOf(WalWriteError);
    await flushAll(wal);
    await wal.append(appendOf(9, 1000));
    disk.cutPower(() => false);
    const again = (await openOn(disk)).wal;
    expect(await idsIn(again)).toEqual([9]);
    expect((await recoveredKeysOf(again)).reduce((sum, { keys }) => sum + keys.length, 0)).toBe(8 * 60 * 16);
  });

  test("opens with not a byte free, also when the end is torn", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    await wal.append(appendOf(0, 1000));
    disk.operationsUntilDeath = 1;
    await Promise.race([wal.append(appendOf(1, 1000)), Bun.sleep(0)]);
    disk.cutPower(() => true);
    disk.capacityBytes = disk.usedBytes;
    const again = (await openOn(disk)).wal;
    expect(await idsIn(again)).toContain(0);
  });

  test("short writes are carried on with", async () => {
    const disk = new MemoryDisk();
    disk.writeBytesMax = 37;
    const { wal } = await openOn(disk);
    for (let id = 0; id < 10; id++) await wal.append(appendOf(id, 700));
    await flushAll(wal);
    await wal.append(appendOf(10));
    disk.cutPower(() => false);
    expect(await idsIn((await openOn(disk)).wal)).toEqual([10]);
  });
});

describe("failing operations", () => {
  test("a failed sync fails the log: pending and later appends reject, the process is told once", async () => {
    const disk = new MemoryDisk();
    const { wal, fatal } = await openOn(disk);
    await wal.append(appendOf(0));
    disk.failNext("sync", /\.wal$/, "EIO");
    const first = wal.append(appendOf(1)).catch((error: unknown) => error);
    await Promise.resolve();
    await Promise.resolve();
    const second = wal.append(appendOf(2)).catch((error: unknown) => error);
    expect(await first).toBeInstanceOf(WalFailedError);
    expect(await second).toBeInstanceOf(WalFailedError);
    await expect(wal.append(appendOf(3))).rejects.toBeInstanceOf(WalFailedError);
    await expect(wal.release(0)).rejects.toBeInstanceOf(WalFailedError);
    await expect(wal.waitFor(1_000_000)).rejects.toBeInstanceOf(WalFailedError);
    expect(fatal).toHaveLength(1);
    expect(await idsIn(wal)).toEqual([0]);
  });

  test("what a failed sync left in the page cache is written again before a restart trusts it", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    await wal.append(appendOf(0));
    disk.failNext("sync", /\.wal$/, "EIO");
    await expect(wal.append(appendOf(1))).rejects.toBeInstanceOf(WalFailedError);
    disk.kill();
    expect(await idsIn((await openOn(disk)).wal)).toEqual([0, 1]);
    disk.cutPower(() => false);
    expect(await idsIn((await openOn(disk)).wal)).toEqual([0, 1]);
  });

  test("a failed cut or a failed directory sync fails the log", async () => {
    for (const [operation, path] of [
      ["truncate", /\.wal$/],
      ["syncDirectory", /wal$/],
    ] as const) {
      const disk = new MemoryDisk();
      const { wal, fatal } = await openOn(disk);
      if (operation === "truncate") disk.failNext("write", /\.wal$/, "ENOSPC");
      disk.failNext(operation, path, "EIO");
      await expect(wal.append(appendOf(0))).rejects.toBeInstanceOf(WalFailedError);
      expect(fatal).toHaveLength(1);
    }
  });

  test("a segment that cannot be created rejects the appends of now, not those of later", async () => {
    const disk = new MemoryDisk();
    const { wal, fatal } = await openOn(disk);
    disk.failNext("open", /\.wal$/, "EMFILE");
    await expect(wal.append(appendOf(0))).rejects.toBeInstanceOf(WalWriteError);
    await wal.append(appendOf(1));
    expect(await idsIn(wal)).toEqual([1]);
    expect(fatal).toEqual([]);
  });

  test("a release that cannot keep the keys keeps the segment, and works later", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    for (let id = 0; id < 3; id++) await wal.append(appendOf(id, SEGMENT_BYTES - 200, 1));
    await wal.ledger.setFlushed(wal.durableEnd);
    const before = disk.paths(/\.wal$/);
    disk.failNext("rename", /keys/, "EIO");
    await expect(wal.release(wal.durableEnd)).rejects.toBeInstanceOf(WalWriteError);
    expect(disk.paths(/\.wal$/)).toEqual(before);
    await wal.release(wal.durableEnd);
    expect(disk.paths(/\.wal$/)).toHaveLength(1);
  });
});
