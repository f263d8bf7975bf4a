/** Starting, stopping and being started twice, with the real program. */
import { describe, expect, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/eventually.ts";
import {
  engineProcess,
  isReady,
  makeToken,
  type ServerProcess,
  spawnServer,
  startServer,
} from "../harness/server-process.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A second server on the same data directory ends with one clear line. */
async function refusesSecond(first: ServerProcess, dataDirectory: string): Promise<void> {
  const second = await spawnServer({ dataDirectory });
  expect(await second.exited).toBe(1);
  expect(second.output().trim().split("\n")).toHaveLength(1);
  expect(second.output()).toContain(dataDirectory);
  expect(second.output()).toContain(String(first.pid));
  expect(await isReady(first.url)).toBe(true);
}

/** A server on the port of another one ends with one line that names both, and touches nothing. */
async function refusesPort(first: ServerProcess, dataDirectory: string): Promise<void> {
  const second = await spawnServer({ dataDirectory, port: first.port });
  expect(await second.exited).toBe(1);
  expect(second.output().trim().split("\n")).toHaveLength(1);
  expect(second.output()).toContain(`port ${first.port} `);
  if (process.platform === "linux") expect(second.output()).toContain(`process ${first.pid} (`);
  expect(existsSync(dataDirectory)).toBe(false);
  expect(await isReady(first.url)).toBe(true);
}

/** Requests under way are answered when the server is told to stop, and no new ones are taken. */
async function answersWhatIsUnderWay(server: ServerProcess, token: string): Promise<void> {
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
}

describe("the server", () => {
  test("starts on an empty directory, says how to go on, lets no second one in, stops on SIGTERM with 0 and leaves no process behind", async () => {
    using directory = temporaryDirectory();
    using other = temporaryDirectory();
    const server = await startServer({ dataDirectory: directory.path });
    for (const hint of [server.url, "obs login", "obs ship", "/docs"])
      expect(server.output()).toContain(hint);
    await refusesSecond(server, directory.path);
    await refusesPort(server, join(other.path, "data"));
    const engines = [engineProcess(server.pid, "clickhouse"), engineProcess(server.pid, "postgres")];
    expect(await server.stop()).toBe(0);
    for (const pid of engines) expect(pid !== null && isAlive(pid)).toBe(false);
  });

  test("names a lock that is no lock, and what to do about it; takes a free port when it may choose, and says which", async () => {
    using directory = temporaryDirectory();
    const lock = join(directory.path, "server.lock");
    writeFileSync(lock, "not a lock at all ".repeat(100));
    const server = await spawnServer({ dataDirectory: directory.path });
    expect(await server.exited).toBe(1);
    expect(server.output().trim().split("\n")).toHaveLength(1);
    expect(server.output()).toContain(lock);
    expect(server.output()).toContain("remove this file");
    rmSync(lock);
    const again = await spawnServer({ dataDirectory: directory.path, port: 0 });
    const url = await eventually(
      "it says where it listens",
      () => /listens on (http:\S+)/.exec(again.output())?.[1],
    );
    expect(await isReady(url)).toBe(true);
    expect(await again.stop()).toBe(0);
  });

  test("takes its engines along when it is killed, starts again without a hand, and answers what is under way when it is told to stop", async () => {
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
    await answersWhatIsUnderWay(second, token);
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
