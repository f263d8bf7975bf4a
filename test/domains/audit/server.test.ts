/** The audit log of the real program: written, anchored, verified, and whole after a kill. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AuditRow, Verdict } from "../../audit/audited-organization.ts";
import { eventually } from "../../harness/eventually.ts";
import { makeToken, type ServerProcess, startServer } from "../../harness/server-process.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../harness/temporary-directory.ts";

let stores: TestStores;
let directory: TemporaryDirectory;
let server: ServerProcess;
let token: string;

beforeAll(async () => {
  stores = await openTestStores();
  directory = temporaryDirectory();
  server = await start();
  token = await makeToken(server.url);
});
afterAll(async () => {
  await server.stop();
  await stores.close();
  directory[Symbol.dispose]();
});

function start(port?: number): Promise<ServerProcess> {
  return startServer({
    dataDirectory: directory.path,
    env: { DATABASE_URL: stores.postgresUrl, CLICKHOUSE_URL: stores.clickhouseUrl },
    ...(port !== undefined && { port }),
  });
}

async function get<T>(path: string): Promise<T> {
  const response = await fetch(`${server.url}/api/v1/audit-logs${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return JSON.parse(await response.text());
}

function makeSearch(name: string): Promise<number> {
  return fetch(`${server.url}/api/v1/saved-searches`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "user-agent": "suite/3.0",
    },
    body: JSON.stringify({ name }),
  }).then(
    ({ status }) => status,
    () => 0,
  );
}

function verified(): Promise<Verdict> {
  return eventually("the log is intact and anchored to its end", async () => {
    const verdict = await get<Verdict>("/verify");
    return verdict.ok && verdict.checkedRows > 0 && verdict.anchoredThrough === verdict.checkedRows
      ? verdict
      : null;
  });
}

test("calls are in the log within their answer, and anchored soon afterwards", async () => {
  expect(await makeSearch("first")).toBe(201);
  const { items } = await get<{ items: AuditRow[] }>("?limit=1");
  expect(items[0]).toMatchObject({
    action: "CREATE_SAVED_SEARCH",
    actorEmail: expect.stringContaining("@example.com"),
    actorPatId: expect.any(Number),
    meta: { ip: "127.0.0.1", ua: "suite/3.0" },
  });
  await verified();
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/^obs_audit_anchor_lag_seconds \d/m);
  expect(metrics).toMatch(/^obs_audit_anchors_total\{outcome="written"\} [1-9]/m);
});

test("a kill in the middle of changes leaves a log that is whole: a row for each change, and no other", async () => {
  const calls = Array.from({ length: 40 }, (_, n) => makeSearch(`killed ${n}`));
  const made = async (): Promise<number> => {
    const [row] = await stores.postgres<{ searches: number }[]>`
      SELECT count(*)::integer AS searches FROM saved_searches WHERE name LIKE 'killed %'`;
    return row?.searches ?? 0;
  };
  await eventually("some are made", async () => (await made()) > 2 || null);
  server.kill("SIGKILL");
  await server.exited;
  const acknowledged = (await Promise.all(calls)).filter((status) => status === 201).length;
  server = await start(server.port);
  await verified();
  const { items } = await get<{ items: AuditRow[] }>("?action=CREATE_SAVED_SEARCH&limit=1000");
  const told = items.filter(({ meta }) => JSON.stringify(meta.diff).includes('"killed '));
  expect(told.length).toBe(await made());
  expect(told.length).toBeGreaterThanOrEqual(acknowledged);
});

test("an export whose client goes away ends, and the server stops in time", async () => {
  const gone = new AbortController();
  const response = await fetch(`${server.url}/api/v1/audit-logs/export`, {
    headers: { authorization: `Bearer ${token}` },
    signal: gone.signal,
  });
  await response.body?.getReader().read();
  gone.abort();
  expect(await makeSearch("last")).toBe(201);
  expect(await server.stop()).toBe(0);
  const result = await stores.clickhouse.query({
    query: "SELECT max(seq) AS seq FROM audit_anchors",
    format: "JSONEachRow",
  });
  const [anchor] = await result.json<{ seq: string }>();
  const [head] = await stores.postgres<{ seq: string }[]>`SELECT max(seq) AS seq FROM audit_heads`;
  expect(anchor?.seq).toBe(head?.seq ?? "none");
  server = await start(server.port);
});
