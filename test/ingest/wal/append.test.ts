import { describe, expect, test } from "bun:test";
import { WalClosedError, WalFullError, WalRecordTooLargeError } from "../../../ingest/wal/errors.ts";
import { appendOf, flushAll, idOf, idsIn, openOn, readAll, SEGMENT_BYTES, START_MS } from "./fixture.ts";
import { MemoryDisk } from "./memory-disk.ts";

describe("append", () => {
  test("what was appended at once goes out with one sync", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    disk.operations.length = 0;
    await Promise.all([1, 2, 3].map((id) => wal.append(appendOf(id))));
    const onSegment = disk.operations
      .filter(({ path }) => path.endsWith(".wal"))
      .map(({ operation }) => operation);
    expect(onSegment).toEqual(["open", "write", "write", "write", "sync"]);
    expect(wal.stats.syncs).toBe(1);
  });

  test("what arrives while a sync runs is the next group", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    const first = wal.append(appendOf(0));
    await Promise.resolve();
    await Promise.resolve();
    const rest = [1, 2, 3].map((id) => wal.append(appendOf(id)));
    await Promise.all([first, ...rest]);
    expect(wal.stats.syncs).toBe(2);
    expect(await idsIn(wal)).toEqual([0, 1, 2, 3]);
  });

  test("positions follow the order of the calls, are multiples of 8 and do not overlap", async () => {
    const { wal } = await openOn(new MemoryDisk());
    const ranges = await Promise.all(
      Array.from({ length: 60 }, (_, id) => wal.append(appendOf(id, id * 13))),
    );
    for (const [index, { start, end }] of ranges.entries()) {
      expect(start % 8).toBe(0);
      expect(start).toBeGreaterThanOrEqual(ranges[index - 1]?.end ?? 0);
      expect(end).toBeGreaterThan(start);
    }
    expect(wal.durableEnd).toBe(ranges.at(-1)?.end ?? -1);
  });

  test("an empty block, no keys, many keys and the largest record come back", async () => {
    const { wal } = await openOn(new MemoryDisk());
    await wal.append(appendOf(0, 0));
    await wal.append(appendOf(1, 0, 100));
    await wal.append(appendOf(2, SEGMENT_BYTES - 64));
    expect(await idsIn(wal)).toEqual([0, 1, 2]);
  });

  test("a record larger than a segment is refused, one byte less is taken", async () => {
    const { wal } = await openOn(new MemoryDisk());
    await expect(wal.append(appendOf(0, SEGMENT_BYTES - 63))).rejects.toBeInstanceOf(WalRecordTooLargeError);
    await wal.append(appendOf(1, SEGMENT_BYTES - 64));
  });

  test("arguments outside the contract are refused at once", async () => {
    const { wal } = await openOn(new MemoryDisk());
    for (const rows of [0, -1, 1.5, 2 ** 32])
      expect(() => wal.append({ ...appendOf(0), rows })).toThrow(RangeError);
    for (const receivedAtMs of [-1, Number.NaN, 2 ** 53]) {
      expect(() => wal.append({ ...appendOf(0), receivedAtMs })).toThrow(RangeError);
    }
    for (const wrong of [{ keyBytes: 15 }, { keyBytes: 16 }, { blockBytes: 300 }])
      expect(() => wal.append({ ...appendOf(0), ...wrong })).toThrow(RangeError);
    expect(() => wal.append()).toThrow(RangeError);
  });

  test("options outside the contract are refused", async () => {
    const wrong = [{ segmentBytes: 4092 }, { segmentBytes: 4104, maxBytes: 8200 }, { segmentBytes: 1024 }];
    for (const options of wrong)
      await expect(openOn(new MemoryDisk(), options)).rejects.toBeInstanceOf(RangeError);
  });
});

describe("records of one append", () => {
  test("lie one behind the other with one sync, and nothing else shares their group", async () => {
    const { wal } = await openOn(new MemoryDisk());
    const ranges = await Promise.all([
      wal.append(appendOf(0)),
      wal.append(appendOf(1, 300), appendOf(2, 0, 3), appendOf(3, 17)),
      wal.append(appendOf(4)),
    ]);
    expect(await idsIn(wal)).toEqual([0, 1, 2, 3, 4]);
    expect(wal.stats).toMatchObject({ syncs: 3, recordsAppended: 5 });
    expect(ranges.map(({ start }) => start)).toEqual([0, ...ranges.slice(0, 2).map(({ end }) => end)]);
  });

  test("are refused together when they are larger than a segment, or than what the log has room for", async () => {
    const { wal } = await openOn(new MemoryDisk(), { maxBytes: 2 * SEGMENT_BYTES });
    const half = SEGMENT_BYTES / 2 - 64;
    await expect(wal.append(appendOf(0, half), appendOf(1, half + 1))).rejects.toBeInstanceOf(
      WalRecordTooLargeError,
    );
    for (const id of [2, 4]) await wal.append(appendOf(id, half), appendOf(id + 1, half));
    await expect(wal.append(appendOf(6), appendOf(7))).rejects.toBeInstanceOf(WalFullError);
    expect(wal.stats.recordsRejected).toBe(2);
    expect(await idsIn(wal)).toEqual([2, 3, 4, 5]);
  });

  test("come back in one batch, however little one may hold", async () => {
    const { wal } = await openOn(new MemoryDisk());
    await wal.append(appendOf(0));
    await wal.append(appendOf(1), appendOf(2), appendOf(3));
    await wal.append(appendOf(4));
    const batches: number[][] = [];
    for (let at = 0; at < wal.durableEnd; ) {
      const { records, end } = await wal.read(at, { maxBytes: 400, maxRecords: 2 });
      batches.push(records.map(idOf));
      at = end;
    }
    expect(batches).toEqual([[0], [1, 2, 3], [4]]);
  });
});

describe("bounds", () => {
  test("the log is full at its byte bound, counts what is queued, and takes more after a release", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk, { maxBytes: 2 * SEGMENT_BYTES });
    const attempts = await Promise.allSettled(
      Array.from({ length: 30 }, (_, id) => wal.append(appendOf(id, 448))),
    );
    const refused = attempts.filter((each) => each.status === "rejected");
    expect(refused).toHaveLength(30 - 16);
    for (const each of refused) expect(each.reason).toBeInstanceOf(WalFullError);
    expect(wal.bytes).toBe(2 * SEGMENT_BYTES);
    expect(await idsIn(wal)).toEqual(Array.from({ length: 16 }, (_, id) => id));
    await flushAll(wal);
    await wal.append(appendOf(99, 448));
    expect(wal.bytes).toBeLessThanOrEqual(2 * SEGMENT_BYTES);
    expect(wal.stats.recordsRejected).toBe(14);
  });

  test("the queue in memory is bounded on its own", async () => {
    const megabyte = 1024 * 1024;
    const { wal } = await openOn(new MemoryDisk(), { segmentBytes: 8 * megabyte, maxBytes: 1024 * megabyte });
    const append = appendOf(0, 4 * megabyte - 64);
    const attempts = await Promise.allSettled(Array.from({ length: 18 }, () => wal.append(append)));
    const refused = attempts.filter((each) => each.status === "rejected");
    expect(refused.map(({ reason }) => reason instanceof WalFullError && reason.reason)).toEqual([
      "queue",
      "queue",
    ]);
    expect(wal.queuedBytes).toBe(0);
  });

  test("no segment passes its size, and records never span two", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    for (let id = 0; id < 40; id++) await wal.append(appendOf(id, (id * 377) % 2000));
    const paths = disk.paths(/\.wal$/);
    expect(paths.length).toBeGreaterThan(5);
    for (const path of paths) expect(disk.bytesOf(path).length).toBeLessThanOrEqual(SEGMENT_BYTES);
    expect(await idsIn(wal)).toEqual(Array.from({ length: 40 }, (_, id) => id));
  });
});

describe("close", () => {
  test("what was queued is durable, what comes later is refused, waits end", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    const waiting = wal.waitFor(1_000_000).catch((error: unknown) => error);
    const queued = Promise.all([1, 2, 3].map((id) => wal.append(appendOf(id))));
    await Promise.all([wal.close(), wal.close()]);
    await queued;
    expect(await waiting).toBeInstanceOf(WalClosedError);
    await expect(wal.append(appendOf(4))).rejects.toBeInstanceOf(WalClosedError);
    await expect(wal.ledger.setFlushed(0)).rejects.toBeInstanceOf(WalClosedError);
    await expect(wal.read(0, { maxBytes: 1, maxRecords: 1 })).rejects.toBeInstanceOf(WalClosedError);
    disk.cutPower(() => false);
    expect(await idsIn((await openOn(disk)).wal)).toEqual([1, 2, 3]);
  });
});

describe("age", () => {
  test("the age of the oldest unflushed record follows appends, flushes and a restart", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    expect(wal.oldestUnflushedMs).toBeUndefined();
    const ends: number[] = [];
    for (let id = 0; id < 5; id++)
      ends.push((await wal.append(appendOf(id, 10, 0, START_MS + id * 2000))).end);
    expect(wal.oldestUnflushedMs).toBe(START_MS);
    await wal.ledger.setFlushed(ends[1] ?? 0);
    expect(wal.oldestUnflushedMs).toBe(START_MS + 4000);
    await wal.close();
    disk.kill();
    const again = (await openOn(disk)).wal;
    expect(again.oldestUnflushedMs).toBe(START_MS + 4000);
    await again.ledger.setFlushed(again.durableEnd);
    expect(again.oldestUnflushedMs).toBeUndefined();
    expect((await readAll(again)).length).toBe(0);
  });
});
