/** What is stored can be read while the disk is full. */
import { expect, test } from "bun:test";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/eventually.ts";
import { makeToken, startServer } from "../harness/server-process.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const TMPFS_MIB = 300;

test("searches and queries are answered on a full disk", async () => {
  using directory = temporaryDirectory();
  const mount = join(directory.path, "disk");
  mkdirSync(mount);
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${TMPFS_MIB}m`, "tmpfs", mount]);
  if (mounted.exitCode !== 0) {
    process.stderr.write("left out: a small file system cannot be mounted here\n");
    return;
  }
  try {
    const server = await startServer({ dataDirectory: join(mount, "data") });
    const headers = {
      authorization: `Bearer ${await makeToken(server.url)}`,
      "content-type": "application/json",
    };
    const entries = Array.from({ length: 200 }, (_, i) => ({ message: `entry ${i}` }));
    const post = (path: string, body: unknown) =>
      fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect((await post("/api/v1/logs/ingest", entries)).status).toBe(202);
    const search = () => fetch(`${server.url}/api/v1/logs/search?limit=1`, { headers });
    await eventually("everything is stored", async () =>
      (await (await search()).text()).includes('"total":200'),
    );
    fill(join(mount, "filler"));
    const found = await search();
    expect(await found.json()).toMatchObject({ total: 200, entries: [{ level: null }] });
    const counted = await post("/api/v1/logs/query", { query: "logs | summarize count()" });
    expect(await counted.json()).toMatchObject({ rows: [[200]] });
    rmSync(join(mount, "filler"));
    await server.stop();
  } finally {
    Bun.spawnSync(["umount", "-l", mount]);
  }
});

/** Writes until nothing fits any more. */
function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) {
      const piece = new Uint8Array(size);
      try {
        while (writeSync(file, piece) === size);
      } catch {
        // Full for pieces of this size.
      }
    }
  } finally {
    closeSync(file);
  }
}
