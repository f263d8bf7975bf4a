import { afterAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WalWriteError } from "../../../ingest/wal/errors.ts";
import { openWal, type Wal } from "../../../ingest/wal/wal.ts";
import { appendOf, flushAll, idOf, idsIn, randomFrom, recoveredKeysOf } from "./fixture.ts";

const directories: string[] = [];
const mounted: string[] = [];

afterAll(async () => {
  for (const path of mounted) Bun.spawnSync(["umount", path]);
  for (const path of directories) await rm(path, { recursive: true, force: true });
});

async function temporaryDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "obs-wal-"));
  directories.push(path);
  return path;
}

function open(directory: string, segmentBytes = 1024 * 1024): Promise<Wal> {
  return openWal({
    directory,
    maxBytes: 1024 * 1024 * 1024,
    segmentBytes,
    keyRetentionMs: 600_000,
    clock: Date.now,
    onFatal: (error) => {
      throw error;
    },
  });
}

describe("real files", () => {
  test("kill -9 of an appending process: every acknowledged record is recovered where it was said to be", async () => {
    const directory = join(await temporaryDirectory(), "new", "wal");
    const random = randomFrom(Date.now());
    const acknowledged = new Map<number, number>();
    for (let round = 0; round < 5; round++) {
      const script = join(import.meta.dir, "appending-process.ts");
      const child = Bun.spawn([process.execPath, script, directory, String(round * 1_000_000)], {
        stdout: "pipe",
      });
      const wanted = 20 + Math.floor(random() * 300);
      let text = "";
      const decoder = new TextDecoder();
      for await (const chunk of child.stdout) {
        text += decoder.decode(chunk, { stream: true });
        if (text.split("\n").length > wanted) child.kill("SIGKILL");
      }
      await child.exited;
      for (const line of text.split("\n").slice(0, -1)) {
        const [id = "", start = ""] = line.split(" ");
        acknowledged.set(Number(start), Number(id));
      }
      const wal = await open(directory);
      expect(wal.recovery.recordsDamaged).toBe(0);
      const found = new Map<number, number>();
      for (let at = 0; ; ) {
        const { records, end } = await wal.read(at, { maxBytes: 4_000_000, maxRecords: 1000 });
        for (const record of records) found.set(record.start, idOf(record));
        if (end === at) break;
        at = end;
      }
      const missing = [...acknowledged].filter(([start, id]) => found.get(start) !== id);
      expect(missing).toEqual([]);
      expect(new Set(found.values()).size).toBe(found.size);
      await wal.close();
    }
    expect(acknowledged.size).toBeGreaterThan(100);
  });

  test("a whole life: append, read, flush, release, close, open again", async () => {
    const directory = await temporaryDirectory();
    const wal = await open(directory);
    await Promise.all(
      Array.from({ length: 50 }, (_, id) => wal.append(appendOf(id, 100_000, 2, Date.now()))),
    );
    expect(await idsIn(wal)).toEqual(Array.from({ length: 50 }, (_, id) => id));
    await flushAll(wal);
    await wal.append(appendOf(50));
    await wal.close();
    const again = await open(directory);
    expect(again.names.present).toBe(wal.names.present);
    expect(await idsIn(again)).toEqual([50]);
    expect((await recoveredKeysOf(again)).reduce((sum, { keys }) => sum + keys.length, 0)).toBe(50 * 32);
    await again.close();
  });

  test("a full disk: clear answers, nothing acknowledged lost, and flushing makes room", async () => {
    const directory = await temporaryDirectory();
    const mount = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", directory]);
    if (!mount.success) {
      process.stderr.write("skipped: a tmpfs cannot be mounted here\n");
      return;
    }
    mounted.push(directory);
    const wal = await open(join(directory, "wal"), 512 * 1024);
    const acknowledged: number[] = [];
    let refused: unknown;
    for (let id = 0; refused === undefined; id++) {
      await wal.append(appendOf(id, 50_000, 100, Date.now())).then(
        () => acknowledged.push(id),
        (error: unknown) => {
          refused = error;
        },
      );
    }
    expect(refused).toBeInstanceOf(WalWriteError);
    expect(acknowledged.length).toBeGreaterThan(50);
    expect(await idsIn(wal)).toEqual(acknowledged);
    // Someone else takes the last bytes as well.
    await writeFile(join(directory, "other"), new Uint8Array(8 * 1024 * 1024)).catch(() => undefined);
    await flushAll(wal);
    await wal.append(appendOf(9999, 50_000));
    await wal.close();
    const again = await open(join(directory, "wal"), 512 * 1024);
    expect(await idsIn(again)).toEqual([9999]);
    const keyBytes = (await recoveredKeysOf(again)).reduce((sum, { keys }) => sum + keys.length, 0);
    expect(keyBytes).toBe(acknowledged.length * 1600);
    await again.close();
  });
});
