/** Starting, stopping and being started twice, with the real program. */
import { describe, expect, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/eventually.ts";
import { engineProcess, isReady, makeToken, spawnServer, startServer } from "../harness/server-process.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("the server", () => {
  test("starts on an empty directory, says how to go on, stops on SIGTERM with 0 and leaves no process behind", async () => {
    using directory = temporaryDirectory();
    const server = await startServer({ dataDirectory: directory.path });
    for (const hint of [server.url, "obs login", "obs ship", "/docs"])
      expect(server.output()).toContain(hint);
    const engines = [engineProcess(server.pid, "clickhouse"), engineProcess(server.pid, "postgres")];
    expect(await server.stop()).toBe(0);
    for (const pid of engines) expect(pid !== null && isAlive(pid)).toBe(false);
  });

  test("refuses a second server on its data directory with one clear line", async () => {
    using directory = temporaryDirectory();
    const first = await startServer({ dataDirectory: directory.path });
    const second = await spawnServer({ dataDirectory: directory.path });
    expect(await second.exited).toBe(1);
    expect(second.output().trim().split("\n")).toHaveLength(1);
    expect(second.output()).toContain(directory.path);
    expect(second.output()).toContain(String(first.pid));
    expect(await isReady(first.url)).toBe(true);
    await first.stop();
  });

  test("refuses a port that another server has, with one line that names both, and touches nothing", async () => {
    using directory = temporaryDirectory();
    using other = temporaryDirectory();
    const first = await startServer({ dataDirectory: directory.path });
    const dataDirectory = join(other.path, "data");
    const second = await spawnServer({ dataDirectory, port: first.port });
    expect(await second.exited).toBe(1);
    expect(second.output().trim().split("\n")).toHaveLength(1);
    expect(second.output()).toContain(`port ${first.port} `);
    if (process.platform === "linux") expect(second.output()).toContain(`process ${first.pid} (`);
    expect(existsSync(dataDirectory)).toBe(false);
    expect(await isReady(first.url)).toBe(true);
    await first.stop();
    const third = await startServer({ dataDirectory, port: first.port });
    expect(await third.stop()).toBe(0);
  });

  test("takes a free port when it may choose, and says which", async () => {
    using directory = temporaryDirectory();
    const server = await spawnServer({ dataDirectory: directory.path, port: 0 });
    const url = await eventually(
      "it says where it listens",
      () => /listens on (http:\S+)/.exec(server.output())?.[1],
    );
    expect(await isReady(url)).toBe(true);
    expect(await server.stop()).toBe(0);
  });

  test("names a lock that is no lock, and what to do about it", async () => {
    using directory = temporaryDirectory();
    const lock = join(directory.path, "server.lock");
    writeFileSync(lock, "not a lock at all ".repeat(100));
    const server = await spawnServer({ dataDirectory: directory.path });
    expect(await server.exited).toBe(1);
    expect(server.output().trim().split("\n")).toHaveLength(1);
    expect(server.output()).toContain(lock);
    expect(server.output()).toContain("remove this file");
    rmSync(lock);
    expect(await (await startServer({ dataDirectory: directory.path })).stop()).toBe(0);
  });

  test("takes its engines along when it is killed, and starts again without a hand", async () => {
    using directory = temporaryDirectory();
    const first = await startServer({ dataDirectory: directory.path });
    const token = await makeToken(first.url);
    const engines = [engineProcess(first.pid, "clickhouse"), engineProcess(first.pid, "postgres")];
    first.kill("SIGKILL");
    await first.exited;
    const second = await startServer({ dataDirectory: directory.path });
    await eventually("the old engines are gone", () => engines.every((pid) => pid !== null && !isAlive(pid)));
    const response = await fetch(`${second.url}/api/v1/me`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    await second.stop();
  });

  test("answers requests under way when it is told to stop, and takes no new ones", async () => {
    using directory = temporaryDirectory();
    const server = await startServer({ dataDirectory: directory.path });
    const token = await makeToken(server.url);
    const send = (message: string): Promise<number> =>
      fetch(`${server.url}/api/v1/logs/ingest`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ message }),
      }).then(
        (response) => response.status,
        () => 0,
      );
    const underWay = Promise.all(Array.from({ length: 20 }, (_, i) => send(`m${i}`)));
    const statuses = await Promise.race([underWay, server.stop().then(() => underWay)]);
    // Those that arrived are answered; those that came too late find nobody or are told so.
    expect(statuses.filter((status) => ![202, 503, 0].includes(status))).toEqual([]);
    await server.exited;
    expect(await send("late")).toBe(0);
  });

  test.each([
    ["HOST", "no such host!"],
    ["OBS_COLOUR", "blue"],
    ["CLICKHOUSE_URL", "not a url"],
  ])("refuses to start with %s=%s and says why in one line", async (name, value) => {
    using directory = temporaryDirectory();
    const server = await spawnServer({ dataDirectory: directory.path, env: { [name]: value } });
    expect(await server.exited).toBe(1);
    expect(server.output().trim().split("\n")).toHaveLength(1);
    expect(server.output()).toContain(name);
  });
});
