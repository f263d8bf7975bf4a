import { describe, expect, test } from "bun:test";
import { SEGMENT_KEY_BYTES_MAX } from "../../../ingest/wal/limits.ts";
import { appendOf, flushAll, keysOf, openOn, recoveredKeysOf, START_MS } from "./fixture.ts";
import { MemoryDisk } from "./memory-disk.ts";

const MINUTE_MS = 60_000;

async function idsOfKeys(disk: MemoryDisk, nowMs: number): Promise<number[]> {
  const { wal } = await openOn(disk, { clock: () => nowMs });
  const ids = new Set<number>();
  for (const { keys } of await recoveredKeysOf(wal)) {
    const view = new DataView(keys.buffer, keys.byteOffset, keys.byteLength);
    for (let at = 0; at < keys.length; at += 16) ids.add(view.getUint32(at, true));
  }
  disk.kill();
  return [...ids].sort((a, b) => a - b);
}

describe("keys", () => {
  test("of live and of released segments are known after a power cut, with the time they came", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    for (let id = 0; id < 8; id++) await wal.append(appendOf(id, 1400, 3));
    await flushAll(wal);
    for (let id = 8; id < 10; id++) await wal.append(appendOf(id, 1400, 3));
    expect(disk.paths(/\.keys$/).length).toBeGreaterThan(1);
    disk.cutPower(() => false);
    const again = (await openOn(disk)).wal;
    const found = await recoveredKeysOf(again);
    expect(found.every(({ receivedAtMs }) => receivedAtMs === START_MS)).toBe(true);
    const all = Buffer.concat(found.map(({ keys }) => keys));
    for (let id = 0; id < 10; id++) expect(all.includes(keysOf(id, 3))).toBe(true);
  });

  test("are forgotten after their retention, and their files removed", async () => {
    const disk = new MemoryDisk();
    let nowMs = START_MS;
    const { wal } = await openOn(disk, { clock: () => nowMs });
    for (let id = 0; id < 4; id++) await wal.append(appendOf(id, 3500, 1, START_MS));
    await flushAll(wal);
    nowMs += 30_000;
    for (let id = 4; id < 8; id++) await wal.append(appendOf(id, 3500, 1, nowMs));
    await flushAll(wal);
    disk.kill();
    expect(await idsOfKeys(disk, START_MS + MINUTE_MS)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await idsOfKeys(disk, START_MS + MINUTE_MS + 1)).toEqual([4, 5, 6, 7]);
    const again = (await openOn(disk, { clock: () => START_MS + MINUTE_MS + 1 })).wal;
    const before = disk.paths(/\.keys$/).length;
    await again.release(again.ledger.flushedThrough);
    expect(disk.paths(/\.keys$/).length).toBeLessThan(before);
    disk.kill();
    expect(await idsOfKeys(disk, START_MS + MINUTE_MS + 1)).toEqual([4, 5, 6, 7]);
  });

  test("that nobody wants any more are forgotten before their retention is over, and their files removed", async () => {
    const disk = new MemoryDisk();
    let sinceMs = 0;
    const options = { clock: () => START_MS + 1_000, keysWantedSinceMs: () => sinceMs };
    const { wal } = await openOn(disk, options);
    for (let id = 0; id < 4; id++) await wal.append(appendOf(id, 3500, 1, START_MS));
    await flushAll(wal);
    for (let id = 4; id < 8; id++) await wal.append(appendOf(id, 3500, 1, START_MS + 500));
    await flushAll(wal);
    const before = disk.paths(/\.keys$/).length;
    sinceMs = START_MS + 1;
    await wal.release(wal.ledger.flushedThrough);
    expect(disk.paths(/\.keys$/).length).toBeLessThan(before);
    disk.kill();
    expect(await idsOfKeys(disk, START_MS + 1_000)).toEqual([4, 5, 6, 7]);
  });

  test("cost no file when there are none or they are too old", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    for (let id = 0; id < 4; id++) await wal.append(appendOf(id, 3500, id % 2, START_MS - 2 * MINUTE_MS));
    await flushAll(wal);
    expect(disk.paths(/\.keys$/)).toEqual([]);
  });

  test("in a key file with a wrong byte are read all the same", async () => {
    const disk = new MemoryDisk();
    const { wal } = await openOn(disk);
    for (let id = 0; id < 4; id++) await wal.append(appendOf(id, 3500, 2));
    await flushAll(wal);
    disk.kill();
    for (const path of disk.paths(/\.keys$/)) disk.flip(path, 70, 0x20);
    expect(await idsOfKeys(disk, START_MS)).toEqual([0, 1, 2, 3]);
  });

  test("fill a segment before its bytes do, so that its key file fits the reserve", async () => {
    const disk = new MemoryDisk();
    const megabyte = 1024 * 1024;
    const { wal } = await openOn(disk, { segmentBytes: 64 * megabyte, maxBytes: 128 * megabyte });
    for (let id = 0; id < 5; id++) await wal.append(appendOf(id, 100, (3 * megabyte) / 16));
    expect(disk.paths(/\.wal$/)).toHaveLength(3);
    await flushAll(wal);
    const [reserve = ""] = disk.paths(/reserve$/);
    for (const path of disk.paths(/\.keys$/)) {
      expect(disk.bytesOf(path).length).toBeLessThanOrEqual(disk.bytesOf(reserve).length);
      expect(disk.bytesOf(path).length).toBeGreaterThan(SEGMENT_KEY_BYTES_MAX / 2);
    }
  });
});
