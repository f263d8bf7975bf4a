/** The promise of `POST /config/apply` under kill -9: what was not answered has left nothing, however far it had come. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../harness/server-process.ts";
import { openTestStores, type TestStores } from "../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../harness/temporary-directory.ts";

const RESOURCES = {
  monitors: {
    web: { name: "Web", url: "https://example.org/", type: "https", intervalSec: 60, timeoutMs: 5000 },
    api: { name: "API", url: "https://example.org/api", type: "https", intervalSec: 60, timeoutMs: 5000 },
  },
  "log-alerts": { failed: { name: "Payments fail", query: "payment failed", threshold: 5 } },
  "saved-searches": { failed: { name: "Failed", query: "failed" } },
  iocs: { evil: { type: "domain", value: "evil.example", severity: "high" } },
};

let stores: TestStores;
let directory: TemporaryDirectory;
let server: ServerProcess;
let token: string;
const start = (port?: number): Promise<ServerProcess> =>
  startServer({
    ...{ dataDirectory: directory.path, ...(port !== undefined && { port }) },
    // A Postgres that outlives the server, so that it can be held still in the middle of the transaction.
    env: { DATABASE_URL: stores.postgresUrl, CLICKHOUSE_URL: stores.clickhouseUrl },
  });
beforeAll(async () => {
  stores = await openTestStores();
  directory = temporaryDirectory();
  server = await start();
  token = await makeToken(server.url);
});
afterAll(async () => {
  await server.stop();
  directory[Symbol.dispose]();
  await stores.close();
});

async function ask(method: "GET" | "POST", path: string) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(method === "POST" && { body: JSON.stringify({ resources: RESOURCES }) }),
  });
  expect(response.status).toBe(200);
  return JSON.parse(await response.text());
}

/** Whoever waits to write into a table and has written monitors already. */
async function waitingWriter(table: string): Promise<number | null> {
  const [found] = await stores.postgres<{ pid: number }[]>`
    SELECT waiting.pid FROM pg_locks waiting
    JOIN pg_locks held ON held.pid = waiting.pid AND held.granted AND held.mode = 'RowExclusiveLock'
    WHERE NOT waiting.granted AND waiting.relation = ${table}::regclass AND held.relation = 'monitors'::regclass`;
  return found?.pid ?? null;
}

// The last kind of the files, what keys stand for, and the audit log, which is written last.
test.each(["iocs", "config_bindings", "audit_log"])(
  "a server killed while an apply is about to write %s leaves nothing of it",
  async (table) => {
    const before = await ask("GET", "/audit-logs?limit=1");
    const held = await stores.postgres.reserve();
    await held`BEGIN`;
    await held.unsafe(`LOCK TABLE ${table} IN SHARE MODE`);
    const applied = ask("POST", "/config/apply").then(
      () => "answered",
      () => "cut off",
    );
    const writer = await eventually("the apply is in the middle", () => waitingWriter(table));
    server.kill("SIGKILL");
    await server.exited;
    expect(await applied).toBe("cut off");
    await held`ROLLBACK`;
    held.release();
    await eventually("its transaction has ended", async () => {
      const found = await stores.postgres`SELECT 1 FROM pg_stat_activity WHERE pid = ${writer}`;
      return found.length === 0;
    });
    server = await start(server.port);
    expect((await ask("GET", "/config")).resources).toEqual({});
    expect(await ask("GET", "/config/drift")).toMatchObject({ drift: [], checked: 0 });
    expect(await ask("GET", "/audit-logs?limit=1")).toEqual(before);
  },
);

test("what was cut off is done by the same call again, whole", async () => {
  expect(await ask("POST", "/config/apply")).toMatchObject({ summary: { create: 5, unchanged: 0 } });
  expect(await ask("POST", "/config/plan")).toMatchObject({ hasChanges: false, summary: { unchanged: 5 } });
});
