/** A write-ahead log that met a full disk, a torn end or a flipped byte while the store was away. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { storedMessages } from "../harness/stored-messages.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { openTcpProxy, type TcpProxy } from "../harness/tcp-proxy.ts";
import { temporaryDirectory } from "../harness/temporary-directory.ts";

const TMPFS_MIB = 24;
let stores: TestStores;
let proxy: TcpProxy;

beforeAll(async () => {
  stores = await openTestStores();
  const { hostname, port } = new URL(stores.clickhouseEndpoint.origin);
  proxy = await openTcpProxy({ host: hostname, port: Number(port) });
});

beforeEach(async () => {
  proxy.restore();
  await stores.clickhouse.command({ query: "TRUNCATE TABLE logs" });
});

afterAll(async () => {
  await proxy.close();
  await stores.close();
});

async function start(
  dataDirectory: string,
  env: Record<string, string> = {},
): Promise<{ server: ServerProcess; token: string }> {
  const clickhouseUrl = new URL(stores.clickhouseUrl);
  clickhouseUrl.port = String(proxy.port);
  const server = await startServer({
    dataDirectory,
    env: { CLICKHOUSE_URL: clickhouseUrl.href, DATABASE_URL: stores.postgresUrl, ...env },
  });
  return { server, token: await makeToken(server.url) };
}

async function send(server: ServerProcess, token: string, messages: readonly string[]): Promise<Response> {
  return fetch(`${server.url}/api/v1/logs/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(messages.map((message) => ({ message }))),
  });
}

interface Health {
  readonly status: number;
  /** By the name of the dependency. */
  readonly states: ReadonlyMap<string, string>;
}

async function health(server: ServerProcess, of: "ready" | "ingest"): Promise<Health> {
  const response = await fetch(`${server.url}/health/${of}`);
  const { dependencies }: { dependencies: { name: string; state: string }[] } = JSON.parse(
    await response.text(),
  );
  return {
    status: response.status,
    states: new Map(dependencies.map(({ name, state }) => [name, state])),
  };
}

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix} ${i}`);

async function expectStored(messages: readonly string[]): Promise<void> {
  await eventually(
    "the log is flushed",
    async () => (await storedMessages(stores.clickhouse)).size >= messages.length,
  );
  const stored = await storedMessages(stores.clickhouse);
  expect([...stored.keys()].sort()).toEqual([...messages].sort());
  expect([...stored.values()].every((count) => count === 1)).toBe(true);
}

/** The newest segment of the log, with its path and content. */
function newestSegment(dataDirectory: string): { path: string; bytes: Buffer } {
  const directory = join(dataDirectory, "wal");
  const name = readdirSync(directory)
    .filter((file) => file.endsWith(".wal"))
    .sort()
    .at(-1);
  if (name === undefined) throw new Error("the log has no segment");
  return { path: join(directory, name), bytes: readFileSync(join(directory, name)) };
}

/** Sends entries that cannot reach the store and kills the server: they are in the log and nowhere else. */
async function leaveInLog(dataDirectory: string, messages: readonly string[]): Promise<void> {
  const { server, token } = await start(dataDirectory);
  proxy.cut();
  expect((await send(server, token, messages)).status).toBe(202);
  server.kill("SIGKILL");
  await server.exited;
  proxy.restore();
}

describe("after kill -9", () => {
  test("a flipped byte anywhere in the log costs no acknowledged entry", async () => {
    using directory = temporaryDirectory();
    const messages = numbered("flipped", 50);
    await leaveInLog(directory.path, messages);
    const { path, bytes } = newestSegment(directory.path);
    const at = bytes.indexOf("flipped 25");
    expect(at).toBeGreaterThan(0);
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    writeFileSync(path, bytes);
    const { server } = await start(directory.path);
    await expectStored(messages);
    expect(await server.stop()).toBe(0);
  });

  test("a torn write at the end of the log is cut off, and everything before it is kept", async () => {
    using directory = temporaryDirectory();
    const messages = numbered("torn", 50);
    await leaveInLog(directory.path, messages);
    const { path, bytes } = newestSegment(directory.path);
    // The first part of a record that was being written: the beginning of the one that is there.
    appendFileSync(path, bytes.subarray(0, 300));
    const { server, token } = await start(directory.path);
    expect((await send(server, token, ["after"])).status).toBe(202);
    await expectStored([...messages, "after"]);
    expect(await server.stop()).toBe(0);
  });

  test("a ledger that is gone doubles nothing, and the server says what it does about it", async () => {
    using directory = temporaryDirectory();
    const messages = numbered("known", 50);
    const { server, token } = await start(directory.path);
    expect((await send(server, token, messages)).status).toBe(202);
    await expectStored(messages);
    proxy.cut();
    expect((await send(server, token, ["not yet stored"])).status).toBe(202);
    server.kill("SIGKILL");
    await server.exited;
    proxy.restore();
    rmSync(join(directory.path, "wal", "ledger"));
    const next = await start(directory.path);
    await expectStored([...messages, "not yet stored"]);
    expect(next.server.output()).toContain("the ledger of the write-ahead log was missing or unreadable");
    expect(await next.server.stop()).toBe(0);
  });
});

describe("a full log", () => {
  test("at its bound is answered with 503 and Retry-After, and empties when the store is back", async () => {
    using directory = temporaryDirectory();
    const { server, token } = await start(directory.path, { WAL_MAX_BYTES: "64MiB" });
    await expectRefusalAndRecovery(server, token, "write-ahead-log");
  });

  test("because the disk is full is answered the same way and loses nothing", async () => {
    using directory = temporaryDirectory();
    const mount = join(directory.path, "disk");
    mkdirSync(mount);
    const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${TMPFS_MIB}m`, "tmpfs", mount]);
    if (mounted.exitCode !== 0) {
      process.stderr.write("left out: a small file system cannot be mounted here\n");
      return;
    }
    try {
      const { server, token } = await start(join(mount, "data"), { WAL_MAX_BYTES: "1GiB" });
      await expectRefusalAndRecovery(server, token, "disk");
    } finally {
      Bun.spawnSync(["umount", "-l", mount]);
    }
  });
});

/**
 * Fills the log while the store is away, then lets the store back: everything acknowledged is stored once, and health
 * says as long as it lasts what is `full`.
 */
async function expectRefusalAndRecovery(server: ServerProcess, token: string, full: string): Promise<void> {
  proxy.cut();
  // Entries are acknowledged without the store, so whoever sends them has no reason to go elsewhere.
  await eventually(
    "the store is seen to be away",
    async () => (await health(server, "ready")).status === 503,
  );
  expect(await health(server, "ingest")).toMatchObject({ status: 200 });
  const messages = await fillUntilRefused(server, token);
  const isFull = (found: Health) => found.status === 503 && found.states.get(full) === "down";
  await eventually("health of ingest says it", async () => isFull(await health(server, "ingest")));
  await eventually("health of everything says it", async () => isFull(await health(server, "ready")));
  proxy.restore();
  await eventually(
    "entries are taken again",
    async () => (await send(server, token, ["after"])).status === 202,
  );
  await eventually("ingest is healthy again", async () => (await health(server, "ingest")).status === 200);
  await expectStored([...messages, "after"]);
  expect(await server.stop()).toBe(0);
}

/** Sends large entries until one request is refused as it should be; the messages that were acknowledged. */
async function fillUntilRefused(server: ServerProcess, token: string): Promise<string[]> {
  const acknowledged: string[] = [];
  const filler = "x".repeat(8000);
  for (let i = 0; i < 400; i++) {
    const messages = numbered(`${filler}${i}`, 25);
    const response = await send(server, token, messages);
    const body: unknown = await response.json();
    if (response.status !== 202) {
      expect(response.status).toBe(503);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(body).toMatchObject({ code: "UNAVAILABLE" });
      return acknowledged;
    }
    acknowledged.push(...messages);
  }
  throw new Error("the log never filled up");
}
