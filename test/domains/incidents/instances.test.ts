/** One incident of a key, however many instances raise it, and whatever dies between two statements. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SERVER_ORIGIN } from "../../../src/changes/changes.ts";
import { clearProblem, raiseProblem } from "../../../src/domains/incidents/problems.ts";
import { createPostgres } from "../../../src/storage/postgres.ts";
import { eventually } from "../../harness/eventually.ts";
import { openStatementGate } from "../../harness/statement-gate.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import {
  INCIDENTS,
  type IncidentServer,
  incidentServer,
  KEY,
  MINUTE_MS,
  makeMonitor,
  makeOrganization,
  makePerson,
  problemOf,
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

const JOB = { kind: "job", name: "suite" } as const;

/** By the verb itself, as no order of events would let them: both at the same moment. */
function raiseNow(
  { changes }: IncidentServer,
  organizationId: number,
  severity: "high" | "low",
): Promise<void> {
  return changes.inChange({ organizationId, actor: JOB, origin: SERVER_ORIGIN }, null, (change) =>
    raiseProblem(change, problemOf({ severity }, START_MS)),
  );
}

test("two instances that raise a key at once open one incident, round after round", async () => {
  const other = createPostgres(stores.postgresUrl);
  try {
    const servers = [incidentServer(sql, { person }), incidentServer(other, { person })];
    for (let round = 0; round < 15; round += 1) {
      const organizationId = await makeOrganization(sql);
      await Promise.all([...servers, ...servers].map((server) => raiseNow(server, organizationId, "high")));
      const [first] = servers;
      expect((await first?.list(organizationId))?.total).toBe(1);
      const [told] = await sql<{ opened: number }[]>`
        SELECT count(*)::integer AS opened FROM events
        WHERE organization_id = ${organizationId} AND kind = 'incident.opened'`;
      expect(told?.opened).toBe(1);
    }
  } finally {
    await other.end();
  }
});

test("what two instances deliver at once becomes one incident of each key, in the order in which it happened", async () => {
  const other = createPostgres(stores.postgresUrl);
  try {
    const servers = [incidentServer(sql, { person }), incidentServer(other, { person })];
    const organizationId = await makeOrganization(sql);
    const keys = Array.from({ length: 8 }, (_, n) => `monitor:${n}`);
    const [first] = servers;
    for (const severity of ["low", "high", "medium"] as const)
      await Promise.all(keys.map((key) => first?.raise(organizationId, { key, severity })));
    await Promise.all(keys.slice(4).map((key) => first?.clear(organizationId, { key })));
    await Promise.all(servers.map((server) => server.deliver()));
    await Promise.all(servers.map((server) => server.deliver()));
    const { items } = (await first?.list(organizationId)) ?? { items: [] };
    expect(items).toHaveLength(8);
    expect(new Set(items.map(({ severity }) => severity))).toEqual(new Set(["medium"]));
    expect(items.filter(({ status }) => status === "resolved")).toHaveLength(4);
    const told = toldOf(organizationId, ...servers);
    expect(told.filter((kind) => kind === "incident.opened")).toHaveLength(8);
    expect(told.filter((kind) => kind === "incident.updated")).toHaveLength(16);
    expect(told.filter((kind) => kind === "incident.resolved")).toHaveLength(4);
  } finally {
    await other.end();
  }
});

test("a person and the source of an incident that act at once leave one story", async () => {
  for (let round = 0; round < 10; round += 1) {
    const server = incidentServer(sql, { person });
    const organizationId = await makeOrganization(sql);
    // Not the last of its key, so that only the key itself is what both touch.
    const ids: number[] = [];
    for (let n = 0; n < 2; n += 1) {
      await raiseNow(server, organizationId, "high");
      const [made] = (await server.list(organizationId, "?status=open")).items;
      ids.push(made?.id ?? 0);
      await server.send(organizationId, "POST", `${INCIDENTS}/${made?.id}/resolve`);
    }
    const path = `${INCIDENTS}/${ids[0]}`;
    const [reopening] = await Promise.all([
      server.send(organizationId, "POST", `${path}/updates`, { status: "identified", body: "Back." }),
      raiseNow(server, organizationId, "high"),
    ]);
    const { items } = await server.list(organizationId, "?status=open");
    expect(items).toHaveLength(1);
    expect(reopening.status).toBe(items[0]?.id === ids[0] ? 201 : 409);
  }
});

test("two instances settle what flapped once", async () => {
  const server = incidentServer(sql, { person });
  const organizationId = await makeOrganization(sql);
  for (const minute of [0, 2, 4]) {
    server.clock.nowMs = START_MS + minute * MINUTE_MS;
    await server.raise(organizationId, {});
    await server.clear(organizationId, {});
    await server.deliver();
  }
  await sql`UPDATE incidents SET settle_at = now() WHERE settle_at IS NOT NULL`;
  const signal = new AbortController().signal;
  const second = incidentServer(sql, { person });
  await Promise.all([server, second, server, second].map(({ settling }) => settling.workOnce(signal)));
  await server.deliver();
  const told = toldOf(organizationId, server);
  expect(told.filter((kind) => kind === "incident.resolved")).toHaveLength(3);
  expect((await server.list(organizationId)).items).toMatchObject([{ status: "resolved" }]);
});

test("what is wrong again just as it is to be settled stays open", async () => {
  const server = incidentServer(sql, { person });
  const organizationId = await makeOrganization(sql);
  for (const minute of [0, 2, 4]) {
    server.clock.nowMs = START_MS + minute * MINUTE_MS;
    await server.raise(organizationId, {});
    await server.clear(organizationId, {});
    await server.deliver();
  }
  await sql`UPDATE incidents SET settle_at = now() WHERE organization_id = ${organizationId}`;
  const raised = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const cause = { organizationId, actor: JOB, origin: SERVER_ORIGIN };
  const raising = server.changes.inChange(cause, null, async (change) => {
    await raiseProblem(change, problemOf({}, server.clock.nowMs));
    raised.resolve();
    await release.promise;
  });
  await raised.promise;
  const settling = incidentServer(sql, { person }).settling.workOnce(new AbortController().signal);
  await eventually("the job waits for the key", async () => {
    const waiting = await sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    return waiting.length > 0;
  });
  release.resolve();
  await Promise.all([raising, settling]);
  expect((await server.list(organizationId)).items).toMatchObject([
    { status: "investigating", flapping: true },
  ]);
});

/** What was told of an organisation: deliveries take turns, so that other tests' events come along. */
function toldOf(organizationId: number, ...servers: IncidentServer[]): string[] {
  const told = servers.flatMap((server) => server.told);
  return told.filter((one) => one.organizationId === organizationId).map(({ kind }) => kind);
}

/** Everything that an incident leaves in an organisation. */
async function tracesOf(organizationId: number): Promise<number[]> {
  const [row] = await sql<{ counts: number[] }[]>`
    SELECT ARRAY[
      (SELECT count(*) FROM incidents WHERE organization_id = ${organizationId} AND resolved_at IS NULL),
      (SELECT count(*) FROM incident_monitors WHERE organization_id = ${organizationId}),
      (SELECT count(*) FROM incident_updates WHERE organization_id = ${organizationId}),
      (SELECT count(*) FROM events WHERE organization_id = ${organizationId})]::integer[] AS counts`;
  return row?.counts ?? [];
}

describe("a server that dies before the statement", () => {
  const opening = ["pg_advisory_xact_lock", "INSERT INTO incidents", "INSERT INTO incident_monitors"];
  const telling = ["INSERT INTO incident_updates", "INSERT INTO events", "commit"];

  /** Runs a verb on a server whose connection is cut right before a statement. */
  async function dying(
    statement: string,
    organizationId: number,
    verb: Parameters<IncidentServer["changes"]["inChange"]>[2],
  ): Promise<void> {
    const url = new URL(stores.postgresUrl);
    const gate = await openStatementGate({ host: url.hostname, port: Number(url.port) });
    url.port = String(gate.port);
    const cut = createPostgres(url.href, { maxConnections: 1 });
    await cut`SELECT 1`;
    gate.stopAt(statement);
    const outcome = incidentServer(cut, { person })
      .changes.inChange({ organizationId, actor: JOB, origin: SERVER_ORIGIN }, null, verb)
      .then(
        () => "kept",
        () => "failed",
      );
    await gate.stopped;
    await gate.close();
    expect(await outcome).toBe("failed");
    await cut.end({ timeout: 0 });
  }

  test.each([...opening, ...telling])(
    "%p leaves nothing of an opening, which another one does whole",
    async (statement) => {
      const organizationId = await makeOrganization(sql);
      const problem = problemOf({ monitorIds: [await makeMonitor(sql, organizationId)] }, START_MS);
      await dying(statement, organizationId, (change) => raiseProblem(change, problem));
      expect(await tracesOf(organizationId)).toEqual([0, 0, 0, 0]);
      await incidentServer(sql).changes.inChange(
        { organizationId, actor: JOB, origin: SERVER_ORIGIN },
        null,
        (change) => raiseProblem(change, problem),
      );
      expect(await tracesOf(organizationId)).toEqual([1, 1, 1, 1]);
    },
  );

  test.each(["UPDATE incidents SET", ...telling])(
    "%p leaves an ending undone, which another one does whole",
    async (statement) => {
      const organizationId = await makeOrganization(sql);
      const server = incidentServer(sql, { person });
      await raiseNow(server, organizationId, "high");
      const at = new Date(START_MS).toISOString();
      const clearing = { key: KEY, at, cause: "recovered", summary: "Well." } as const;
      await dying(statement, organizationId, (change) => clearProblem(change, clearing));
      expect(await tracesOf(organizationId)).toEqual([1, 0, 1, 1]);
      await server.clear(organizationId, {});
      await server.deliver();
      expect((await server.list(organizationId)).items).toMatchObject([{ resolution: "recovered" }]);
      expect(toldOf(organizationId, server)).toEqual(["incident.opened", "incident.resolved"]);
    },
  );
});
