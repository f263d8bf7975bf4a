/** What a log is called: the same for as long as it stays where it is, and in a copy something else. */

import { expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { Wal } from "../../../ingest/wal/wal.ts";
import { openWal } from "../../../ingest/wal/wal.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { appendOf, DIRECTORY, flushAll, openOn, readAll, SEGMENT_BYTES } from "./fixture.ts";
import { MemoryDisk } from "./memory-disk.ts";

async function filledDisk(): Promise<{ disk: MemoryDisk; wal: Wal }> {
  const disk = new MemoryDisk();
  const { wal } = await openOn(disk);
  await wal.append(appendOf(1));
  await wal.append(appendOf(2));
  return { disk, wal };
}

test("a log has one name and one token for a range over restarts and losses of power", async () => {
  const { disk, wal } = await filledDisk();
  const { present } = wal.names;
  const token = wal.token(0, wal.durableEnd);
  for (const end of [() => disk.kill(), () => disk.cutPower(() => false)]) {
    end();
    const { wal: again } = await openOn(disk);
    expect([again.names.present, again.names.earlier]).toEqual([present, []]);
    expect(again.token(0, again.durableEnd)).toBe(token);
  }
});

test("a copy has a name of its own for what it writes, and keeps that of what it found", async () => {
  const { disk, wal } = await filledDisk();
  const original = wal.names.present;
  const end = wal.durableEnd;
  const token = wal.token(0, end);
  disk.kill();
  disk.place = "2-2";
  const { wal: copy } = await openOn(disk);
  expect(copy.names.present).not.toBe(original);
  expect(copy.names.earlier).toEqual([original]);
  expect(copy.token(0, end)).toBe(token);
  const own = await copy.append(appendOf(3));
  expect(copy.token(own.start, own.end)).toStartWith(`${copy.names.present}:`);
  const batch = await copy.read(0, { maxBytes: 1_000_000, maxRecords: 100 });
  expect([batch.records.length, batch.end]).toEqual([2, copy.recoveredEnd]);
  expect(await readAll(copy, 0)).toHaveLength(3);

  disk.kill();
  const { wal: again } = await openOn(disk);
  expect(again.names.present).toBe(copy.names.present);
  expect([again.token(0, end), again.token(own.start, own.end)]).toEqual([
    token,
    copy.token(own.start, own.end),
  ]);
  await flushAll(again);
  disk.kill();
  disk.place = "3-3";
  const { wal: ofCopy } = await openOn(disk);
  expect(ofCopy.names.earlier).toEqual([original, copy.names.present]);
});

test("a log whose names cannot be read takes a new one; one that never had any keeps its identity", async () => {
  const { disk, wal } = await filledDisk();
  const { present } = wal.names;
  const path = join(DIRECTORY, "names");
  disk.kill();
  disk.flip(path, 30, 1);
  const { wal: renamed } = await openOn(disk);
  expect(renamed.names.present).not.toBe(present);
  disk.kill();
  disk.remove(path);
  disk.place = "2-2";
  const { wal: older } = await openOn(disk);
  expect(older.names.present).toBe(present);
});

test("where directories cannot be told apart a log keeps its name", async () => {
  const { disk, wal } = await filledDisk();
  disk.kill();
  disk.place = null;
  const { wal: again } = await openOn(disk);
  expect(again.names.present).toBe(wal.names.present);
});

test("two copies of a real directory and the directory itself make three names", async () => {
  using directory = temporaryDirectory();
  const open = (name: string): Promise<Wal> =>
    openWal({
      directory: join(directory.path, name),
      maxBytes: 64 * SEGMENT_BYTES,
      segmentBytes: SEGMENT_BYTES,
      keyRetentionMs: 60_000,
      clock: Date.now,
      onFatal: (error) => {
        throw error;
      },
    });
  const original = await open("original");
  await original.append(appendOf(1));
  const names = [original.names.present];
  for (const copy of ["one", "two"]) {
    cpSync(join(directory.path, "original"), join(directory.path, copy), { recursive: true });
    const wal = await open(copy);
    names.push(wal.names.present);
    expect(wal.token(0, 8)).toBe(original.token(0, 8));
    await wal.close();
  }
  expect(new Set(names).size).toBe(3);
  await original.close();
  const again = await open("original");
  expect(again.names.present).toBe(original.names.present);
  await again.close();
});
