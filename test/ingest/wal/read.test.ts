import { describe, expect, test } from "bun:test";
import { appendOf, flushAll, idOf, idsIn, openOn, SEGMENT_BYTES } from "./fixture.ts";
import { MemoryDisk } from "./memory-disk.ts";

describe("read", () => {
  test("keeps within its limits, but returns one record whatever its size", async () => {
    const { wal } = await openOn(new MemoryDisk());
    for (let id = 0; id < 10; id++) await wal.append(appendOf(id, 936));
    const one = await wal.read(0, { maxBytes: 1, maxRecords: 10 });
    expect(one.records.map(idOf)).toEqual([0]);
    const byBytes = await wal.read(one.end, { maxBytes: 3500, maxRecords: 10 });
    expect(byBytes.records.map(idOf)).toEqual([1, 2, 3]);
    const byCount = await wal.read(byBytes.end, { maxBytes: 1_000_000, maxRecords: 2 });
    expect(byCount.records.map(idOf)).toEqual([4, 5]);
    const rest = await wal.read(byCount.end, { maxBytes: 1_000_000, maxRecords: 100 });
    expect(rest.records.map(idOf)).toEqual([6, 7, 8, 9]);
    expect(rest.end).toBe(wal.durableEnd);
    expect(await wal.read(rest.end, { maxBytes: 1_000, maxRecords: 1 })).toEqual({
      records: [],
      end: rest.end,
    });
  });

  test("never passes the limit that repeats an intent", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    const ranges = [];
    for (let id = 0; id < 6; id++) ranges.push(await wal.append(appendOf(id, 1500)));
    const through = ranges[3]?.end ?? 0;
    await wal.ledger.setIntent(through);
    await wal.append(appendOf(6));
    disk.kill();
    const again = (await openOn(disk)).wal;
    expect(again.ledger.intentEnd).toBe(through);
    const batch = await again.read(0, { maxBytes: 1_000_000, maxRecords: 100, through });
    expect(batch.records.map(idOf)).toEqual([0, 1, 2, 3]);
    expect(batch.end).toBe(through);
    expect(again.token(0, through)).toBe(wal.token(0, through));
    await expect(again.read(0, { maxBytes: 1_000_000, maxRecords: 9, through: through - 8 })).rejects.toThrow(
      "within",
    );
  });

  test("never shows what is not yet synced", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    await wal.append(appendOf(0));
    const pending = wal.append(appendOf(1));
    const shown = await wal.read(0, { maxBytes: 10_000, maxRecords: 10 });
    expect(shown.end).toBeLessThanOrEqual(wal.durableEnd);
    expect(shown.records.map(idOf)).toEqual([0]);
    await pending;
  });

  test("positions given up after a refused write are a gap that reading passes over", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    await wal.append(appendOf(0));
    disk.failNext("write", /\.wal$/, "ENOSPC");
    await expect(wal.append(appendOf(1))).rejects.toThrow();
    const { start } = await wal.append(appendOf(2));
    const first = await wal.read(0, { maxBytes: 150, maxRecords: 1 });
    expect(first.end).toBeLessThan(start);
    expect(await idsIn(wal)).toEqual([0, 2]);
    await flushAll(wal);
    disk.kill();
    expect(await idsIn((await openOn(disk)).wal)).toEqual([]);
  });

  test("waitFor ends when the durable end passes the position", async () => {
    const { wal } = await openOn(new MemoryDisk());
    let woken = 0;
    const waits = [0, 150].map(async (position) => {
      await wal.waitFor(position);
      woken++;
    });
    await wal.append(appendOf(0, 50));
    await waits[0];
    expect(woken).toBe(1);
    await wal.append(appendOf(1, 50));
    await Promise.all(waits);
  });
});

describe("release", () => {
  test("removes flushed segments and nothing else; the bytes are free", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    const ranges = [];
    for (let id = 0; id < 12; id++) ranges.push(await wal.append(appendOf(id, 1400)));
    const through = ranges[5]?.end ?? 0;
    const before = disk.paths(/\.wal$/).length;
    await wal.ledger.setFlushed(through);
    await wal.release(through);
    expect(disk.paths(/\.wal$/).length).toBeLessThan(before);
    expect(await idsIn(wal)).toEqual([6, 7, 8, 9, 10, 11]);
    await flushAll(wal);
    expect(disk.paths(/\.wal$/)).toHaveLength(1);
    expect(wal.bytes).toBeLessThanOrEqual(SEGMENT_BYTES);
  });

  test("refuses what is not flushed", async () => {
    const { wal } = await openOn(new MemoryDisk());
    const { end } = await wal.append(appendOf(0));
    await expect(wal.release(end)).rejects.toBeInstanceOf(RangeError);
    await expect(wal.ledger.setFlushed(end + 8)).rejects.toBeInstanceOf(RangeError);
    await wal.ledger.setFlushed(end);
    await expect(wal.ledger.setIntent(end - 8)).rejects.toBeInstanceOf(RangeError);
  });

  test("positions go on after everything was released and the process restarted", async () => {
    const disk = new MemoryDisk();
    const positions = new Set<number>();
    let identity: string | undefined;
    for (let round = 0; round < 5; round++) {
      const { wal } = await openOn(disk);
      identity ??= wal.names.present;
      expect(wal.names.present).toBe(identity);
      await flushAll(wal);
      const { start } = await wal.append(appendOf(round));
      expect(positions.has(start)).toBe(false);
      positions.add(start);
      await flushAll(wal);
      await wal.close();
      disk.cutPower(() => false);
    }
  });
});
