import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { HEADER_BYTES } from "../../../ingest/wal/format.ts";
import type { Wal } from "../../../ingest/wal/wal.ts";
import { appendOf, DIRECTORY, idsIn, openOn, readAll, recoveredKeysOf } from "./fixture.ts";
import { MemoryDisk } from "./memory-disk.ts";

const SEGMENT = `${DIRECTORY}/0000000000000000.wal`;

/** A log of one segment whose records were each synced on their own, after the death of its process. */
async function diskWith(
  count: number,
  bytes = 100,
  keys = 1,
): Promise<{ disk: MemoryDisk; starts: number[] }> {
  const disk = new MemoryDisk();
  const { wal } = await openOn(disk);
  const starts: number[] = [];
  for (let id = 0; id < count; id++) starts.push((await wal.append(appendOf(id, bytes, keys))).start);
  starts.push(wal.durableEnd);
  disk.kill();
  return { disk, starts };
}

async function reopened(disk: MemoryDisk): Promise<Wal> {
  return (await openOn(disk)).wal;
}

describe("torn end", () => {
  test("at every byte of the last record: cut, the rest recovered, and the log goes on", async () => {
    const { disk, starts } = await diskWith(3);
    const whole = disk.bytesOf(SEGMENT);
    const lastStart = starts[2] ?? 0;
    for (let length = lastStart; length < whole.length; length++) {
      disk.put(SEGMENT, whole.subarray(0, length));
      const wal = await reopened(disk);
      expect(wal.recovery).toMatchObject({
        recordsRecovered: 2,
        recordsDamaged: 0,
        recordsTorn: length > lastStart ? 1 : 0,
        bytesCut: length - lastStart,
      });
      const { start } = await wal.append(appendOf(7));
      expect(start).toBeGreaterThanOrEqual(length);
      expect(await idsIn(wal)).toEqual([0, 1, 7]);
      disk.kill();
      for (const path of disk.paths(/\.wal$|damaged/)) disk.remove(path);
    }
  });

  test("a last record of which sectors are missing is cut, and kept in damaged/ because it might have been whole", async () => {
    const { disk, starts } = await diskWith(3, 1000, 0);
    const whole = disk.bytesOf(SEGMENT);
    whole.fill(0, (starts[2] ?? 0) + 512, (starts[2] ?? 0) + 1024);
    disk.put(SEGMENT, whole);
    const wal = await reopened(disk);
    expect(wal.recovery).toMatchObject({ recordsRecovered: 2, recordsTorn: 1, recordsDamaged: 0 });
    expect(await idsIn(wal)).toEqual([0, 1]);
    expect(disk.paths(/damaged\/.*\.torn$/)).toHaveLength(1);
  });

  test("a group whose beginning is lost keeps its end, and the loss is not called damage later", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    await wal.append(appendOf(0));
    const group = await Promise.all([1, 2, 3].map((id) => wal.append(appendOf(id, 500))));
    disk.kill();
    const bytes = disk.bytesOf(SEGMENT);
    bytes.fill(0, group[0]?.start, group[1]?.start);
    disk.put(SEGMENT, bytes);
    for (let start = 0; start < 2; start++) {
      const again = await reopened(disk);
      expect(again.recovery).toMatchObject({ recordsDamaged: 0, recordsTorn: start === 0 ? 1 : 0 });
      expect(await idsIn(again)).toEqual(start === 0 ? [0, 2, 3] : [0, 2, 3, 9]);
      await again.append(appendOf(9));
      await again.ledger.setIntent(again.durableEnd);
      disk.kill();
    }
  });

  test("a segment without a readable record is removed", async () => {
    const { disk } = await diskWith(2);
    disk.put(`${DIRECTORY}/0000000000009000.wal`, new Uint8Array(300));
    const wal = await reopened(disk);
    expect(await idsIn(wal)).toEqual([0, 1]);
    expect(disk.paths(/9000\.wal$/)).toEqual([]);
    expect((await wal.append(appendOf(2))).start).toBeGreaterThanOrEqual(9300);
  });
});

describe("an append of several records", () => {
  /** Records 1 to 3 were appended together behind 0, and the process died; `next` tells whether 4 was synced behind them. */
  async function diskWithAppend(next: boolean): Promise<{ disk: MemoryDisk; starts: number[] }> {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    await wal.append(appendOf(0));
    await wal.append(appendOf(1, 100, 1), appendOf(2, 100, 1), appendOf(3, 100, 1));
    if (next) await wal.append(appendOf(4));
    const { records } = await wal.read(0, { maxBytes: 10_000, maxRecords: 10 });
    disk.kill();
    return { disk, starts: records.map(({ start }) => start) };
  }

  test("is cut as a whole wherever its write was torn, and nothing of it comes back later", async () => {
    const { disk, starts } = await diskWithAppend(false);
    const whole = disk.bytesOf(SEGMENT);
    const [, start = 0] = starts;
    for (let length = start; length < whole.length; length++) {
      disk.put(SEGMENT, whole.subarray(0, length));
      const wal = await reopened(disk);
      expect(wal.recovery).toMatchObject({
        recordsRecovered: 1,
        recordsDamaged: 0,
        bytesCut: length - start,
      });
      expect(await recoveredKeysOf(wal)).toEqual([]);
      expect(await idsIn(wal)).toEqual([0]);
      await wal.append(appendOf(7));
      disk.kill();
      const again = await reopened(disk);
      expect(await idsIn(again)).toEqual([0, 7]);
      disk.kill();
      for (const path of disk.paths(/\.wal$|damaged/)) disk.remove(path);
    }
  });

  test.each([1, 2, 3])(
    "of which record %d never reached the disk is cut as a whole, and kept in damaged/",
    async (id) => {
      const { disk, starts } = await diskWithAppend(false);
      const bytes = disk.bytesOf(SEGMENT);
      bytes.fill(0, starts[id], starts[id + 1]);
      disk.put(SEGMENT, bytes);
      const wal = await reopened(disk);
      expect(wal.recovery).toMatchObject({ recordsRecovered: 1, recordsDamaged: 0 });
      expect(await idsIn(wal)).toEqual([0]);
      expect(wal.oldestUnflushedMs).toBeDefined();
      expect(disk.paths(/damaged\/.*\.torn$/).length).toBeGreaterThan(0);
      expect(disk.paths(/damaged\/.*\.damaged$/)).toEqual([]);
    },
  );

  test.each([1, 2, 3])("that was durable is read without its damaged record %d", async (id) => {
    const { disk, starts } = await diskWithAppend(true);
    const bytes = disk.bytesOf(SEGMENT);
    bytes.fill(0, starts[id], starts[id + 1]);
    disk.put(SEGMENT, bytes);
    const wal = await reopened(disk);
    expect(wal.recovery).toMatchObject({
      recordsRecovered: 4,
      recordsDamaged: 1,
      recordsTorn: 0,
      bytesCut: 0,
    });
    expect(await idsIn(wal)).toEqual([0, 1, 2, 3, 4].filter((each) => each !== id));
    expect(await recoveredKeysOf(wal)).toHaveLength(2);
  });

  test("counts when nothing but the ledger proves that it was durable", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    const { end } = await wal.append(appendOf(1), appendOf(2), appendOf(3));
    await wal.ledger.setIntent(end);
    const { records } = await wal.read(0, { maxBytes: 10_000, maxRecords: 10 });
    disk.kill();
    const bytes = disk.bytesOf(SEGMENT);
    bytes.fill(0, records[1]?.start, records[1]?.end);
    disk.put(SEGMENT, bytes);
    const again = await reopened(disk);
    expect(again.recovery).toMatchObject({ recordsRecovered: 2, recordsDamaged: 1, recordsTorn: 0 });
    expect(await idsIn(again)).toEqual([1, 3]);
  });
});

describe("one wrong byte", () => {
  test("anywhere in a record, header and padding included, is set right", async () => {
    const { disk, starts } = await diskWith(3, 101);
    const [, from = 0, to = 0] = starts;
    for (let offset = from; offset < to; offset++) {
      const xor = 1 + ((offset * 37) % 255);
      disk.flip(SEGMENT, offset, xor);
      const wal = await reopened(disk);
      expect(wal.recovery).toMatchObject({
        recordsRecovered: 3,
        recordsRepaired: 1,
        recordsDamaged: 0,
        bytesCut: 0,
      });
      expect(await idsIn(wal)).toEqual([0, 1, 2]);
      disk.kill();
      disk.flip(SEGMENT, offset, xor);
    }
  });

  test("anywhere in the last record, too", async () => {
    const { disk, starts } = await diskWith(2, 60);
    for (let offset = starts[1] ?? 0; offset < (starts[2] ?? 0); offset++) {
      disk.flip(SEGMENT, offset, 0x41);
      expect(await idsIn(await reopened(disk))).toEqual([0, 1]);
      disk.kill();
      disk.flip(SEGMENT, offset, 0x41);
    }
  });

  test("in every record at once", async () => {
    const { disk, starts } = await diskWith(10, 150, 2);
    for (const start of starts.slice(0, -1)) disk.flip(SEGMENT, start + (start % 200), 0x10);
    const wal = await reopened(disk);
    expect(wal.recovery.recordsRepaired).toBe(10);
    expect(await idsIn(wal)).toEqual(Array.from({ length: 10 }, (_, id) => id));
  });

  test("that appears while running is set right when the record is read", async () => {
    const disk = new MemoryDisk();
    const { wal, damage } = await openOn(disk);
    for (let id = 0; id < 3; id++) await wal.append(appendOf(id));
    disk.flip(SEGMENT, 250, 2);
    expect(await idsIn(wal)).toEqual([0, 1, 2]);
    expect(wal.stats.recordsRepaired).toBe(1);
    expect(damage).toEqual([]);
  });
});

describe("damage", () => {
  test("of a payload costs exactly that record, is copied, reported once and passed over", async () => {
    const { disk, starts } = await diskWith(4);
    const [, start = 0, end = 0] = starts;
    disk.flip(SEGMENT, start + 70, 1);
    disk.flip(SEGMENT, start + 90, 1);
    const { wal, damage } = await openOn(disk);
    expect(wal.recovery).toMatchObject({
      recordsRecovered: 3,
      recordsDamaged: 1,
      bytesDamaged: end - start,
      recordsTorn: 0,
      bytesCut: 0,
    });
    expect(await idsIn(wal)).toEqual([0, 2, 3]);
    const [copy = ""] = disk.paths(/damaged\/.*\.damaged$/);
    expect(copy).toContain(String(start));
    expect(disk.bytesOf(copy)).toEqual(disk.bytesOf(SEGMENT).slice(start, end));
    expect(damage).toEqual([]);
  });

  test("of a header costs what it hides, up to the next header", async () => {
    const { disk, starts } = await diskWith(4);
    const [, start = 0] = starts;
    for (const offset of [0, 9, 30]) disk.flip(SEGMENT, start + offset, 0xff);
    const wal = await reopened(disk);
    expect(wal.recovery).toMatchObject({
      recordsRecovered: 3,
      recordsDamaged: 1,
      recordsTorn: 0,
      bytesCut: 0,
    });
    expect(await idsIn(wal)).toEqual([0, 2, 3]);
  });

  test("of the last record is damage, not a torn end, when the ledger shows that it was durable", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    await wal.append(appendOf(0));
    const { start, end } = await wal.append(appendOf(1));
    await wal.ledger.setIntent(end);
    disk.kill();
    disk.flip(SEGMENT, start + 70, 1);
    disk.flip(SEGMENT, start + 99, 1);
    const again = await reopened(disk);
    expect(again.recovery).toMatchObject({ recordsDamaged: 1, recordsTorn: 0, bytesCut: 0 });
    const batch = await again.read(0, { maxBytes: 10_000, maxRecords: 10, through: end });
    expect(batch.records).toHaveLength(1);
    expect(batch.end).toBe(end);
  });

  test("met while running is copied, reported once and passed over", async () => {
    const disk = new MemoryDisk();
    const { wal, damage } = await openOn(disk);
    const ranges = [];
    for (let id = 0; id < 4; id++) ranges.push(await wal.append(appendOf(id)));
    const { start = 0, end = 0 } = ranges[2] ?? {};
    disk.flip(SEGMENT, start + 70, 1);
    disk.flip(SEGMENT, start + 99, 1);
    expect(await idsIn(wal)).toEqual([0, 1, 3]);
    expect(await idsIn(wal)).toEqual([0, 1, 3]);
    expect(damage).toEqual([{ start, end, kind: "damaged", preserved: true }]);
    expect(wal.stats.recordsDamaged).toBe(1);
  });

  test("a file cut by someone else while the log runs is reported and passed over", async () => {
    const disk = new MemoryDisk();
    const { wal, damage } = await openOn(disk);
    for (let id = 0; id < 3; id++) await wal.append(appendOf(id));
    disk.put(SEGMENT, disk.bytesOf(SEGMENT).subarray(0, 168));
    const batch = await wal.read(0, { maxBytes: 10_000, maxRecords: 10 });
    expect(batch.records).toHaveLength(1);
    expect((await wal.read(batch.end, { maxBytes: 10_000, maxRecords: 10 })).end).toBe(wal.durableEnd);
    expect(damage).toMatchObject([{ start: 168, end: wal.durableEnd, kind: "damaged" }]);
  });

  test("of any bytes never stops the log from opening, and never changes a record that is read", async () => {
    const { disk } = await diskWith(12, 200);
    const whole = disk.bytesOf(SEGMENT);
    const burst = fc.record({
      at: fc.integer({ min: 0, max: whole.length - 1 }),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 600 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(burst, { minLength: 1, maxLength: 4 }), async (bursts) => {
        const bytes = whole.slice();
        for (const { at, bytes: noise } of bursts) bytes.set(noise.subarray(0, bytes.length - at), at);
        for (const path of disk.paths(/\.wal$|damaged/)) disk.remove(path);
        disk.put(SEGMENT, bytes);
        const wal = await reopened(disk);
        const ids = await idsIn(wal);
        expect(ids.length).toBe(wal.recovery.recordsRecovered);
        expect([...new Set(ids)].sort((a, b) => a - b)).toEqual(ids);
        await wal.append(appendOf(50));
        expect(await idsIn(wal)).toEqual([...ids, 50]);
        disk.kill();
      }),
      { numRuns: 300 },
    );
  });

  test("that leaves the CRC as it was is noticed: the 64-bit hash decides", async () => {
    const { disk, starts } = await diskWith(3);
    // The generator of the CRC itself: a CRC is linear, and this is its zero.
    const unnoticed = (0xedb88320n << 1n) | 1n;
    const payload = (starts[1] ?? 0) + HEADER_BYTES;
    const before = Bun.hash.crc32(disk.bytesOf(SEGMENT).slice(payload, starts[2]));
    for (let i = 0; i < 5; i++)
      disk.flip(SEGMENT, payload + 20 + i, Number((unnoticed >> BigInt(8 * i)) & 0xffn));
    expect(Bun.hash.crc32(disk.bytesOf(SEGMENT).slice(payload, starts[2]))).toBe(before);
    const wal = await reopened(disk);
    expect(wal.recovery).toMatchObject({ recordsRecovered: 2, recordsRepaired: 0, recordsDamaged: 1 });
    expect(await idsIn(wal)).toEqual([0, 2]);
  });

  test("records of another log are not ours", async () => {
    const { disk } = await diskWith(2);
    const { disk: other } = await diskWith(3);
    disk.put(`${DIRECTORY}/0000000000000000.wal`, other.bytesOf(SEGMENT));
    expect((await readAll(await reopened(disk))).length).toBe(0);
  });
});

describe("a whole record of this log in a wrong place", () => {
  test("of its own segment is not taken for one, whichever it overwrites, nor is it repaired into one", async () => {
    const count = 4;
    const copies = Array.from(
      { length: count * count },
      (_, i) => [i % count, Math.floor(i / count)] as const,
    );
    for (const [from, to] of copies.filter(([a, b]) => a !== b)) {
      const { disk, starts } = await diskWith(count);
      const bytes = disk.bytesOf(SEGMENT);
      bytes.copyWithin(starts[to] ?? 0, starts[from] ?? 0, starts[from + 1]);
      disk.put(SEGMENT, bytes);
      const wal = await reopened(disk);
      expect(wal.recovery).toMatchObject({ recordsRecovered: count - 1, recordsRepaired: 0 });
      expect(await idsIn(wal)).toEqual([0, 1, 2, 3].filter((id) => id !== to));
    }
  });

  test("behind the end of its segment is cut off", async () => {
    const { disk, starts } = await diskWith(2);
    const bytes = disk.bytesOf(SEGMENT);
    disk.put(SEGMENT, Buffer.concat([bytes, bytes.subarray(0, starts[1])]));
    const wal = await reopened(disk);
    expect(wal.recovery).toMatchObject({ recordsRecovered: 2, bytesCut: starts[1] ?? 0 });
    expect(await idsIn(wal)).toEqual([0, 1]);
  });

  test("of another segment is not taken for one, on opening or while running", async () => {
    const disk = new MemoryDisk();
    const { wal, damage } = await openOn(disk);
    for (let id = 0; id < 6; id++) await wal.append(appendOf(id, 1500, 0));
    const [first = "", second = ""] = disk.paths(/\.wal$/).sort();
    const record = disk.bytesOf(first).subarray(0, HEADER_BYTES + 1504);
    const bytes = disk.bytesOf(second);
    bytes.set(record);
    disk.put(second, bytes);
    expect(await idsIn(wal)).toEqual([0, 1, 3, 4, 5]);
    expect(damage).toHaveLength(1);
    disk.kill();
    expect(await idsIn(await reopened(disk))).toEqual([0, 1, 3, 4, 5]);
  });
});
