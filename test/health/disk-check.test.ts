import { expect, test } from "bun:test";
import { DISK_FULL_BYTES, DISK_LOW_BYTES, diskCheck } from "../../src/health/disk-check.ts";
import { LogWrites } from "../../src/health/log-writes.ts";
import { createLogger } from "../../src/log.ts";
import { createIngestObserver } from "../../src/receive/ingest-observer.ts";
import { createMetrics } from "../../src/server/metrics.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

test("a disk is degraded when it runs low and down when it is full, and the log names the directory once", async () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger("info", { write: (line) => lines.push(JSON.parse(line)) });
  let free = DISK_LOW_BYTES;
  const disk = diskCheck({ directory: "/var/lib/obs", log, freeBytes: async () => free });
  expect(await disk.check()).toEqual({ state: "up" });
  free = DISK_LOW_BYTES - 1;
  expect(await disk.check()).toMatchObject({ state: "degraded" });
  free = DISK_FULL_BYTES - 1;
  for (let i = 0; i < 3; i++) {
    const { state, detail } = await disk.check();
    expect(state).toBe("down");
    expect(detail).toContain("data directory is full");
    // Everybody may ask.
    expect(detail).not.toContain("/var/lib");
  }
  free = DISK_FULL_BYTES;
  expect(await disk.check()).toMatchObject({ state: "degraded" });
  expect(lines.map(({ msg, directory }) => [msg, directory])).toEqual([
    ["the disk is full", "/var/lib/obs"],
    ["the disk has room again", "/var/lib/obs"],
  ]);
});

test("the room on a real disk is found out, and a directory that is gone is no answer", async () => {
  using directory = temporaryDirectory();
  const log = createLogger("silent");
  expect(["up", "degraded", "down"]).toContain(
    (await diskCheck({ directory: directory.path, log }).check()).state,
  );
  expect(diskCheck({ directory: `${directory.path}/gone`, log }).check()).rejects.toThrow();
});

test("writes of the log fail until one succeeds, or nobody has tried for a while", () => {
  let nowMs = 0;
  const writes = new LogWrites(() => nowMs);
  const observer = writes.watch(createIngestObserver(createMetrics(), createLogger("silent")));
  expect(writes.isFailing).toBe(false);
  observer.commitFailed(1, new Error("ENOSPC"));
  expect(writes.isFailing).toBe(true);
  observer.committed(1, 1, 1);
  expect(writes.isFailing).toBe(false);
  observer.commitFailed(1, new Error("ENOSPC"));
  nowMs = 9_999;
  expect(writes.isFailing).toBe(true);
  nowMs = 10_000;
  expect(writes.isFailing).toBe(false);
});
