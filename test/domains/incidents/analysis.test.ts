/** What changed when an incident began, from each store by itself: what is away says so, and the rest is there. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { incidentAnalysisRoutes } from "../../../src/domains/incidents/analysis/routes.ts";
import { IncidentAnalysis, IncidentContext } from "../../../src/domains/incidents/analysis/types.ts";
import { readErrorChanges } from "../../../src/domains/log-errors/domain.ts";
import { readPatternChanges } from "../../../src/domains/logs/patterns/pattern-changes.ts";
import { readReleases } from "../../../src/domains/logs/releases/read-releases.ts";
import { createClickHouse } from "../../../src/storage/clickhouse.ts";
import { logRanges } from "../../harness/log-ranges.ts";
import { serverPort } from "../../harness/server-port.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { bodyOf } from "../../identity/identity-server.ts";
import { queryRunner } from "../../query/query-store.ts";
import { logApp } from "../logs/log-app.ts";
import { idAt, insertRows } from "../logs/stored-rows.ts";
import {
  INCIDENTS,
  type IncidentServer,
  incidentServer,
  MINUTE_MS,
  makeMonitor,
  makeOrganization,
  makePerson,
  START_MS,
} from "./incident-server.ts";

let stores: TestStores;
let sql: TestStores["postgres"];
let person: number;
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  person = await makePerson(sql);
});
afterAll(() => stores.close());

const BUDGET = {
  maxExecutionMs: 30_000,
  maxReadBytes: 2 ** 33,
  maxMemoryBytes: 2 ** 30,
  maxResultBytes: 2 ** 27,
};
const at = (minutes: number): number => START_MS + minutes * MINUTE_MS;
const iso = (minutes: number): string => new Date(at(minutes)).toISOString();

function analysisServer(clickhouseEndpoint = stores.clickhouseEndpoint): IncidentServer {
  const ranges = logRanges(stores, { runner: queryRunner({ ...stores, clickhouseEndpoint }) });
  return incidentServer(sql, {
    person,
    clock: { nowMs: at(30) },
    moreRoutes: ({ now }) =>
      incidentAnalysisRoutes({
        sql,
        now,
        clickhouse: createClickHouse(clickhouseEndpoint),
        readPatternChanges: (caller, times) => readPatternChanges({ ranges, budget: BUDGET }, caller, times),
        readReleases: (caller, times) => readReleases({ ranges, budget: BUDGET }, caller, times),
        readErrorChanges: (organizationId, times) => readErrorChanges({ sql }, organizationId, times),
        readOnCall: async () => null,
      }),
  });
}

async function opened(
  server: IncidentServer,
  organizationId: number,
  monitorIds: number[] = [],
): Promise<number> {
  await server.raise(organizationId, { since: iso(0), monitorIds });
  await server.deliver();
  return (await server.list(organizationId)).items[0]?.id ?? 0;
}

async function analysis(
  server: IncidentServer,
  organizationId: number,
  id: number,
  options: { role?: string; scopes?: string } = {},
): Promise<IncidentAnalysis> {
  const answer = await server.send(organizationId, "GET", `${INCIDENTS}/${id}/analysis`, undefined, options);
  expect(answer.status).toBe(200);
  return bodyOf(answer, IncidentAnalysis);
}

async function log(
  organizationId: number,
  minute: number,
  count: number,
  message: (n: number) => string,
  more = {},
) {
  const rows = Array.from({ length: count }, (_, n) => ({
    ...more,
    organizationId,
    ts: BigInt(at(minute)) * 1_000_000n + BigInt(n),
    id: idAt(at(minute), n),
    message: message(n),
  }));
  await insertRows(stores.clickhouse, rows);
}

async function fail(
  organizationId: number,
  monitorId: number,
  [from, to]: [number, number | null],
  status = "down",
): Promise<void> {
  await sql`
    INSERT INTO monitor_periods (organization_id, monitor_id, status, started_at, ended_at)
    VALUES (${organizationId}, ${monitorId}, ${status}, ${iso(from)}, ${to === null ? null : iso(to)})`;
}

async function check(organizationId: number, monitorId: number, minute: number, region: string, error = "") {
  await stores.clickhouse.insert({
    table: "monitor_checks",
    format: "JSONEachRow",
    values: [
      {
        organization_id: organizationId,
        monitor_id: monitorId,
        started_at: iso(minute).replace("Z", "").replace("T", " "),
        region,
        slot: iso(minute).replace("Z", "").replace("T", " "),
        status: error === "" ? "up" : "down",
        error,
      },
    ],
    clickhouse_settings: { insert_deduplicate: 0 },
  });
}

describe("patterns", () => {
  test("that are new, more, less or gone, the most surprising first, with a query that finds their rows", async () => {
    const server = analysisServer();
    const organizationId = await makeOrganization(sql);
    const foreign = await makeOrganization(sql);
    await log(foreign, 1, 500, (n) => `secret of others ${n}`);
    await log(organizationId, -30, 600, (n) => `GET /cart/${n} 200`);
    await log(organizationId, -20, 200, (n) => `heartbeat ${n} of worker`);
    await log(organizationId, -10, 20, (n) => `cache miss for key k${n}`);
    await log(organizationId, 2, 350, (n) => `GET /cart/${n} 200`);
    await log(organizationId, 3, 120, (n) => `upstream "pay" timed out order=${n}`, {
      level: "error",
      service: "checkout",
    });
    await log(organizationId, 4, 90, (n) => `cache miss for key k${n}`);
    const id = await opened(server, organizationId);
    const { patterns, from, to } = await analysis(server, organizationId, id);
    expect([from, to]).toEqual([iso(-5), iso(30)]);
    expect(patterns.unavailable).toBeNull();
    expect(patterns.items).toMatchObject([
      {
        pattern: 'upstream "pay" timed out order=<*>',
        kind: "new",
        count: 120,
        previousCount: 0,
        levels: ["error"],
        services: ["checkout"],
      },
      { pattern: "heartbeat <*> of worker", kind: "gone", count: 0, previousCount: 200 },
      { kind: "more", count: 90, previousCount: 20 },
    ]);
    expect(JSON.stringify(patterns)).not.toContain("secret");
    for (const { count, previousCount, rows } of patterns.items) {
      expect(await countRows(organizationId, rows)).toBe(count === 0 ? previousCount : count);
    }
  });

  test("of a moment ago are compared with an hour, and nothing is surprising without a log", async () => {
    const server = analysisServer();
    server.clock.nowMs = at(0);
    const organizationId = await makeOrganization(sql);
    const id = await opened(server, organizationId);
    expect((await analysis(server, organizationId, id)).patterns).toEqual({ items: [], unavailable: null });
  });
});

test("what changed is the same whenever it is asked of the same logs, and in whatever order they were stored", async () => {
  const logs = [
    [-30, 300, (n: number) => `GET /cart/${n} 200`],
    [-20, 40, (n: number) => `heartbeat ${n} of worker`],
    [2, 60, (n: number) => `upstream pay timed out order=${n}`],
    // As surprising as each other.
    [3, 30, (n: number) => `disk sda${n} is full`],
    [3, 30, (n: number) => `queue q${n} is stuck`],
    [3, 30, (n: number) => `cache c${n} is cold`],
  ] as const;
  const answers = new Set<string>();
  for (const order of [logs, logs.toReversed()]) {
    const server = analysisServer();
    const organizationId = await makeOrganization(sql);
    for (const [minute, count, message] of order) await log(organizationId, minute, count, message);
    const id = await opened(server, organizationId);
    // It is about the hour around the beginning: once that is over, time changes nothing.
    for (const minutes of [55, 56, 600]) {
      server.clock.nowMs = at(minutes);
      const { incidentId: _, ...answer } = await analysis(server, organizationId, id);
      expect(answer.patterns.items).toHaveLength(6);
      answers.add(JSON.stringify(answer));
    }
  }
  expect([...answers]).toHaveLength(1);
});

/** The rows that a query finds, as the console asks for them. */
async function countRows(
  organizationId: number,
  { query, from, to }: { query: string; from: string; to: string },
): Promise<number> {
  const answer = await logApp(stores).query(organizationId, { query: `${query} | count`, from, to });
  const { rows }: { rows: number[][] } = JSON.parse(await answer.text());
  return rows[0]?.[0] ?? -1;
}

describe("monitors", () => {
  test("that fail within five minutes or at the same host, each once, and no others", async () => {
    const server = analysisServer();
    const organizationId = await makeOrganization(sql);
    const foreign = await makeOrganization(sql);
    const monitor = (name: string, url: string, of = organizationId) => makeMonitor(sql, of, { name, url });
    const own = await monitor("own", "https://Shop.example.com/health");
    const near = await monitor("near", "https://pay.example.com/");
    const host = await monitor("host", "shop.example.com:5432");
    const both = await monitor("both", "tcp://shop.example.com:6379");
    const over = await monitor("over", "https://old.example.com/");
    const late = await monitor("late", "https://late.example.com/");
    const theirs = await monitor("theirs", "https://shop.example.com/", foreign);
    await fail(organizationId, own, [0, null]);
    await fail(organizationId, near, [-4, null]);
    await fail(organizationId, host, [-300, null], "degraded");
    await fail(organizationId, both, [3, 4]);
    await fail(organizationId, both, [4.5, null]);
    await fail(organizationId, over, [-60, -50]);
    await fail(organizationId, late, [20, null]);
    await fail(foreign, theirs, [0, null]);
    const id = await opened(server, organizationId, [own]);
    const { monitors } = await analysis(server, organizationId, id);
    expect(monitors.items).toEqual([
      {
        monitorId: both,
        name: "both",
        status: "down",
        since: iso(4.5),
        endedAt: null,
        together: ["time", "host"],
      },
      { monitorId: near, name: "near", status: "down", since: iso(-4), endedAt: null, together: ["time"] },
      {
        monitorId: host,
        name: "host",
        status: "degraded",
        since: iso(-300),
        endedAt: null,
        together: ["host"],
      },
    ]);
  });
});

describe("changes", () => {
  test("that people made in the hour before, and neither what they read nor what others did", async () => {
    const server = analysisServer();
    const organizationId = await makeOrganization(sql);
    const foreign = await makeOrganization(sql);
    const audit = (of: number, minute: number, action: string, resource: string) =>
      server.changes
        .inChange(
          {
            organizationId: of,
            actor: { kind: "person", userId: person, email: "ana@example.com" },
            origin: { ip: "", userAgent: null },
          },
          action,
          async (change) => {
            change.record({ resource, before: { timeoutMs: 5000 }, after: { timeoutMs: 2000 } });
          },
        )
        .then(
          () =>
            sql`UPDATE audit_log SET created_at = ${iso(minute)} WHERE organization_id = ${of} AND resource = ${resource}`,
        );
    await audit(organizationId, -61, "UPDATE_MONITOR", "monitor:1");
    await audit(organizationId, -59, "UPDATE_MONITOR", "monitor:2");
    await audit(organizationId, 4, "UPDATE_MONITOR", "monitor:3");
    await audit(organizationId, 6, "UPDATE_MONITOR", "monitor:4");
    await audit(organizationId, -1, "READ_MONITOR_SECRETS", "monitor:5");
    await audit(organizationId, -1, "LOGIN", "user:5");
    await audit(organizationId, -1, "ACKNOWLEDGE_INCIDENT", "incident:5");
    await audit(foreign, -1, "UPDATE_MONITOR", "monitor:6");
    const id = await opened(server, organizationId);
    const { changes } = await analysis(server, organizationId, id);
    expect(changes.items).toMatchObject([
      {
        at: iso(4),
        actor: "ana@example.com",
        action: "UPDATE_MONITOR",
        resource: "monitor:3",
        changedFields: ["timeoutMs"],
      },
      { at: iso(-59), resource: "monitor:2" },
    ]);
  });
});

describe("regions", () => {
  test("that checked it within five minutes, and what they found", async () => {
    const server = analysisServer();
    const organizationId = await makeOrganization(sql);
    const monitorId = await makeMonitor(sql, organizationId);
    const other = await makeMonitor(sql, organizationId);
    const foreign = await makeOrganization(sql);
    await check(organizationId, monitorId, -1, "weur");
    await check(organizationId, monitorId, 0, "weur", "timeout");
    await check(organizationId, monitorId, 1, "weur", "connection_refused");
    await check(organizationId, monitorId, 1, "enam");
    await check(organizationId, monitorId, -10, "apac", "timeout");
    await check(organizationId, other, 0, "weur", "timeout");
    await check(foreign, monitorId, 0, "weur", "timeout");
    const id = await opened(server, organizationId, [monitorId]);
    const { regions } = await analysis(server, organizationId, id);
    expect(regions).toEqual({
      items: [
        { monitorId, region: "enam", checks: 1, failed: 0, error: null },
        { monitorId, region: "weur", checks: 3, failed: 2, error: "connection_refused" },
      ],
      unavailable: null,
    });
  });
});

describe("releases", () => {
  test("whose entries came first in the hour before or since, with the one before them, the latest first", async () => {
    const server = analysisServer();
    const organizationId = await makeOrganization(sql);
    const foreign = await makeOrganization(sql);
    const of = (service: string, version: string, environment = "prod") => ({
      service,
      attrs: [
        ["service.version", version],
        ["deployment.environment", environment],
      ],
    });
    await log(foreign, 1, 5, () => "x", of("checkout", "secret"));
    await log(organizationId, -100, 5, () => "x", of("checkout", "1.4"));
    await log(organizationId, -90, 5, () => "x", of("stock", "7"));
    await log(organizationId, -90, 5, () => "x", of("checkout", "1.5", "staging"));
    await log(organizationId, -20, 7, () => "x", of("checkout", "1.5"));
    await log(organizationId, -10, 5, () => "x", of("stock", "7"));
    await log(organizationId, 2, 3, () => "x", of("checkout", "1.6"));
    await log(organizationId, 3, 2, () => "x", { service: "nameless" });
    await log(organizationId, 4, 2, () => "x", of("new", 'a "quoted" one', ""));
    const id = await opened(server, organizationId);
    const { releases } = await analysis(server, organizationId, id);
    expect(releases).toMatchObject({
      unavailable: null,
      items: [
        { service: "new", version: 'a "quoted" one', environment: null, previousVersion: null, count: 2 },
        { service: "checkout", version: "1.6", previousVersion: "1.5", at: iso(2), count: 3 },
        { service: "checkout", version: "1.5", environment: "prod", previousVersion: "1.4", at: iso(-20) },
      ],
    });
    expect(releases.items).toHaveLength(3);
    for (const { count, rows } of releases.items) expect(await countRows(organizationId, rows)).toBe(count);
  });
});

describe("what is missing", () => {
  test("because the log store is away says so, and the rest is there", async () => {
    const organizationId = await makeOrganization(sql);
    const away = { ...stores.clickhouseEndpoint, origin: `http://127.0.0.1:${await serverPort()}` };
    const server = analysisServer(away);
    const monitorId = await makeMonitor(sql, organizationId);
    const near = await makeMonitor(sql, organizationId);
    await fail(organizationId, near, [1, null]);
    const id = await opened(server, organizationId, [monitorId]);
    const found = await analysis(server, organizationId, id);
    const missing = { items: [], unavailable: "The log store does not answer." };
    expect(found).toMatchObject({ patterns: missing, releases: missing, regions: missing });
    expect(found.monitors).toMatchObject({ items: [{ monitorId: near }], unavailable: null });
    expect(found.changes.unavailable).toBeNull();
  });

  test("because the caller may not read it says so: incidents open no other door", async () => {
    const server = analysisServer();
    const organizationId = await makeOrganization(sql);
    await log(organizationId, 1, 100, (n) => `password of ${n} was wrong`);
    const monitorId = await makeMonitor(sql, organizationId);
    const id = await opened(server, organizationId, [monitorId]);
    const scopes = { scopes: "incidents:read" };
    const { patterns, monitors, changes, regions } = await analysis(server, organizationId, id, scopes);
    expect([patterns, monitors, changes, regions].map(({ items }) => items)).toEqual([[], [], [], []]);
    expect([patterns, monitors, changes, regions].map(({ unavailable }) => unavailable)).toEqual(
      ["logs:read", "monitors:read", "audit:read", "monitors:read"].map(
        (scope) => `The token lacks the scope ${scope}.`,
      ),
    );
    const viewer = await analysis(server, organizationId, id, { role: "viewer" });
    expect(viewer.changes.unavailable).toBe("Only the role admin may read this.");
    const narrow = await server.send(organizationId, "GET", `${INCIDENTS}/${id}/context`, undefined, scopes);
    expect(JSON.stringify(await bodyOf(narrow, IncidentContext))).not.toContain("checkout.example.com");
  });
});

describe("the context", () => {
  test("has the monitors that still exist, a query that runs, and who is on call", async () => {
    const server = analysisServer();
    const organizationId = await makeOrganization(sql);
    const monitorId = await makeMonitor(sql, organizationId, { url: 'https://shop.example.com/"health' });
    await log(organizationId, 1, 2, (n) => `failed ${n}`, { level: "error" });
    await log(organizationId, 1, 1, () => "GET shop.example.com ok", { level: "info" });
    await log(organizationId, 2, 1, () => "elsewhere", { level: "info" });
    const id = await opened(server, organizationId, [monitorId, 999_999_999]);
    const answer = await server.send(organizationId, "GET", `${INCIDENTS}/${id}/context`);
    const context = await bodyOf(answer, IncidentContext);
    expect(context).toMatchObject({
      incidentId: id,
      monitors: { items: [{ id: monitorId, name: "Checkout", status: null }], unavailable: null },
      logs: { from: iso(-5), to: iso(30) },
      onCall: null,
    });
    expect(await countRows(organizationId, context.logs)).toBe(3);
  });

  test("and the analysis of another organisation's incident are nobody's", async () => {
    const server = analysisServer();
    const [organizationId, foreign] = [await makeOrganization(sql), await makeOrganization(sql)];
    const id = await opened(server, organizationId);
    for (const part of ["analysis", "context"])
      expect((await server.send(foreign, "GET", `${INCIDENTS}/${id}/${part}`)).status).toBe(404);
  });
});
