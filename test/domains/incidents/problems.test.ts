/** Whatever notices something opens one incident of a key at a time, which tells its own story. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import {
  type IncidentServer,
  incidentServer,
  KEY,
  MINUTE_MS,
  makeMonitor,
  makeOrganization,
  makePerson,
  makePolicy,
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

const at = (minutes: number): string => new Date(START_MS + minutes * MINUTE_MS).toISOString();

interface Suite {
  readonly server: IncidentServer;
  readonly organizationId: number;
  readonly raise: (minute: number, problem?: Parameters<IncidentServer["raise"]>[1]) => Promise<void>;
  readonly clear: (minute: number, clearing?: Parameters<IncidentServer["clear"]>[1]) => Promise<void>;
  /** Kinds of what was told, with a mark where nobody need be notified. */
  readonly told: () => string[];
}

async function suite(): Promise<Suite> {
  const server = incidentServer(sql, { person });
  const organizationId = await makeOrganization(sql);
  return {
    server,
    organizationId,
    raise: async (minute, problem = {}) => {
      server.clock.nowMs = START_MS + minute * MINUTE_MS;
      await server.raise(organizationId, problem);
      await server.deliver();
    },
    clear: async (minute, clearing = {}) => {
      server.clock.nowMs = START_MS + minute * MINUTE_MS;
      await server.clear(organizationId, clearing);
      await server.deliver();
    },
    told: () =>
      server.told.map(({ kind, notify }) => `${kind.replace("incident.", "")}${notify ? "" : " silently"}`),
  };
}

describe("what is raised", () => {
  test("opens an incident that is dated back and names its source, its monitors and its proof", async () => {
    const { server, organizationId, raise } = await suite();
    const monitorId = await makeMonitor(sql, organizationId);
    const escalationPolicyId = await makePolicy(sql, organizationId);
    await raise(5, {
      since: at(3),
      monitorIds: [monitorId],
      evidence: { error: "timeout" },
      escalationPolicyId,
    });
    const { items, total } = await server.list(organizationId);
    expect(total).toBe(1);
    expect(items[0]).toMatchObject({
      title: "Checkout is down",
      status: "investigating",
      severity: "high",
      monitorIds: [monitorId],
      source: { kind: "monitor", id: 17, name: "Checkout" },
      sourceKey: KEY,
      openedAt: at(3),
      createdAt: at(5),
      acknowledgedAt: null,
      resolvedAt: null,
      reopened: 0,
      flapping: false,
      escalationPolicyId,
    });
    const details = await server.read(organizationId, items[0]?.id ?? 0);
    expect(details.evidence).toEqual({ error: "timeout" });
    expect(details.updates).toMatchObject([
      { kind: "opened", status: "investigating", public: false, body: "No answer within 5 s.", userId: null },
    ]);
    expect(server.told).toMatchObject([
      { kind: "incident.opened", run: 0, notify: true, incident: items[0], update: { kind: "opened" } },
    ]);
  });

  test("is not dated into the future", async () => {
    const { server, organizationId, raise } = await suite();
    await raise(0, { since: at(60) });
    expect((await server.list(organizationId)).items).toMatchObject([{ openedAt: at(0) }]);
  });

  test("again and again the same leaves no trace", async () => {
    const { server, organizationId, raise, told } = await suite();
    await raise(0, { evidence: { a: [1, { b: 2 }] } });
    await raise(1, { evidence: { a: [1, { b: 2 }] } });
    await raise(2);
    const { items } = await server.list(organizationId);
    expect(items).toHaveLength(1);
    expect((await server.read(organizationId, items[0]?.id ?? 0)).updates).toHaveLength(1);
    expect(items[0]?.updatedAt).toBe(at(0));
    expect(told()).toEqual(["opened"]);
  });

  test("in another way changes what is open; only what gets worse is told to people", async () => {
    const { server, organizationId, raise, told } = await suite();
    const [first, second] = [await makeMonitor(sql, organizationId), await makeMonitor(sql, organizationId)];
    await raise(0, { severity: "medium", title: "Checkout is slow", monitorIds: [first] });
    await raise(1, {
      severity: "high",
      title: "Checkout is down",
      monitorIds: [second],
      summary: "No answer.",
    });
    await raise(2, { severity: "medium", title: "Checkout is down" });
    const { items } = await server.list(organizationId);
    expect(items).toMatchObject([
      { title: "Checkout is down", severity: "medium", monitorIds: [first, second], openedAt: at(0) },
    ]);
    const { updates } = await server.read(organizationId, items[0]?.id ?? 0);
    expect(updates.map(({ kind, body }) => [kind, body])).toEqual([
      ["opened", "No answer within 5 s."],
      ["changed", "No answer."],
      ["changed", "No answer within 5 s."],
    ]);
    expect(told()).toEqual(["opened", "updated", "updated silently"]);
  });

  test("ends with the cause that its source gives, and only once", async () => {
    for (const cause of ["recovered", "paused", "deleted", "sender"] as const) {
      const { server, organizationId, raise, clear, told } = await suite();
      await raise(0);
      await clear(5, { cause, at: at(4), summary: "Over." });
      await clear(6, { cause: "deleted" });
      const { items } = await server.list(organizationId);
      expect(items).toMatchObject([{ status: "resolved", resolvedAt: at(4), resolution: cause }]);
      const { updates } = await server.read(organizationId, items[0]?.id ?? 0);
      expect(updates.map(({ kind, status, body }) => [kind, status, body])).toEqual([
        ["opened", "investigating", "No answer within 5 s."],
        ["resolved", "resolved", "Over."],
      ]);
      expect(told()).toEqual(["opened", "resolved"]);
    }
  });

  test("is heard in the order in which it happened: what is over does not open an incident afterwards", async () => {
    const { server, organizationId } = await suite();
    for (let n = 0; n < 5; n += 1) {
      const key = `monitor:${n}`;
      await server.raise(organizationId, { key });
      await server.clear(organizationId, { key });
    }
    await server.deliver();
    expect((await server.list(organizationId, "?status=open")).total).toBe(0);
    expect((await server.list(organizationId, "?status=resolved")).total).toBe(5);
  });

  test("under keys that begin alike, however long, is told apart", async () => {
    const { server, organizationId, raise, clear } = await suite();
    const [one, other] = [`rule:5:${"x".repeat(500)}`, `rule:5:${"x".repeat(499)}y`];
    await raise(0, { key: one });
    await raise(0, { key: other });
    await clear(1, { key: one });
    expect((await server.list(organizationId, "?status=open")).items).toMatchObject([{ sourceKey: other }]);
  });

  test("stays in its organisation: the same key elsewhere is another incident", async () => {
    const [own, foreign] = [await suite(), await suite()];
    await own.raise(0);
    await foreign.raise(0);
    await foreign.clear(1);
    expect((await own.server.list(own.organizationId, "?status=open")).total).toBe(1);
    expect((await own.server.list(foreign.organizationId, "?status=open")).total).toBe(0);
    const [incident] = (await own.server.list(own.organizationId)).items;
    expect(
      (await own.server.send(foreign.organizationId, "GET", `/api/v1/incidents/${incident?.id}`)).status,
    ).toBe(404);
  });
});

describe("what comes back", () => {
  test("within ten minutes of an end by itself reopens the incident, which nobody has acknowledged", async () => {
    const { server, organizationId, raise, clear, told } = await suite();
    await raise(0);
    const [first] = (await server.list(organizationId)).items;
    await server.send(organizationId, "POST", `/api/v1/incidents/${first?.id}/acknowledge`);
    await clear(2);
    await raise(11.9, { summary: "Again." });
    const { items } = await server.list(organizationId);
    expect(items).toMatchObject([
      {
        id: first?.id,
        status: "investigating",
        openedAt: at(0),
        acknowledgedAt: null,
        acknowledgedBy: null,
        resolvedAt: null,
        resolution: null,
        reopened: 1,
        flapping: false,
      },
    ]);
    expect(told()).toEqual(["opened", "acknowledged", "resolved", "reopened"]);
    expect(server.told.at(-1)).toMatchObject({ run: 1, update: { kind: "reopened", body: "Again." } });
  });

  test("later is another incident", async () => {
    const { server, organizationId, raise, clear } = await suite();
    await raise(0);
    await clear(2);
    await raise(12);
    expect((await server.list(organizationId)).items).toMatchObject([
      { status: "investigating", openedAt: at(12) },
      { status: "resolved", openedAt: at(0) },
    ]);
  });

  test.each(["paused", "deleted"] as const)("after it was %s is another incident", async (cause) => {
    const { server, organizationId, raise, clear } = await suite();
    await raise(0);
    await clear(2, { cause });
    await raise(3);
    expect((await server.list(organizationId)).total).toBe(2);
  });

  test("after a person said that it is over is another incident", async () => {
    const { server, organizationId, raise } = await suite();
    await raise(0);
    const [first] = (await server.list(organizationId)).items;
    await server.send(organizationId, "POST", `/api/v1/incidents/${first?.id}/resolve`);
    await raise(1);
    expect((await server.list(organizationId)).total).toBe(2);
  });
});

/** Ends waiting as the time of the database does. */
async function letItBeWell(): Promise<void> {
  await sql`UPDATE incidents SET settle_at = now() WHERE settle_at IS NOT NULL`;
}

describe("what comes and goes", () => {
  const signal = new AbortController().signal;

  async function flapping(): Promise<Suite & { id: number }> {
    const made = await suite();
    await made.raise(0);
    await made.clear(1);
    await made.raise(10);
    await made.clear(11);
    await made.raise(20);
    const [incident] = (await made.server.list(made.organizationId)).items;
    return { ...made, id: incident?.id ?? 0 };
  }

  test("the third time within an hour flaps: one message, and silence while it goes on", async () => {
    const { server, organizationId, id, raise, clear, told } = await flapping();
    expect(await server.read(organizationId, id)).toMatchObject({
      flapping: true,
      reopened: 2,
      status: "investigating",
    });
    const before = ["opened", "resolved", "reopened", "resolved", "reopened"];
    expect(told()).toEqual(before);
    expect(server.told.at(-1)).toMatchObject({ incident: { flapping: true }, update: { kind: "flapping" } });
    const { updates } = await server.read(organizationId, id);
    for (let minute = 21; minute < 60; minute += 2) {
      await clear(minute);
      await raise(minute + 1);
    }
    await raise(61, { severity: "critical" });
    expect(told()).toEqual([...before, "updated silently"]);
    expect((await server.list(organizationId)).total).toBe(1);
    const after = await server.read(organizationId, id);
    expect(after).toMatchObject({ status: "investigating", reopened: 22 });
    expect(after.updates).toHaveLength(updates.length + 1);
  });

  test("ends once it has been well for fifteen minutes by the clock of the database, and not before", async () => {
    const { server, organizationId, id, clear, told } = await flapping();
    await clear(21);
    const [waiting] = await sql<{ seconds: number }[]>`
      SELECT extract(epoch FROM settle_at - now())::float AS seconds FROM incidents WHERE id = ${id}`;
    expect(waiting?.seconds).toBeWithin(10 * 60, 15 * 60 + 1);
    // Said again, it does not begin anew.
    await sql`UPDATE incidents SET settle_at = settle_at - interval '1 minute' WHERE id = ${id}`;
    await clear(22);
    const [still] = await sql<{ seconds: number }[]>`
      SELECT extract(epoch FROM settle_at - now())::float AS seconds FROM incidents WHERE id = ${id}`;
    expect(still?.seconds).toBeLessThan(14 * 60);
    await server.settling.workOnce(signal);
    expect(await server.read(organizationId, id)).toMatchObject({ status: "investigating" });
    await letItBeWell();
    await server.settling.workOnce(signal);
    await server.settling.workOnce(signal);
    await server.deliver();
    expect(await server.read(organizationId, id)).toMatchObject({
      status: "resolved",
      resolution: "recovered",
    });
    expect(told().slice(5)).toEqual(["resolved"]);
  });

  test("goes on when it is wrong again before that", async () => {
    const { server, organizationId, id, raise, clear } = await flapping();
    await clear(21);
    await raise(22);
    await letItBeWell();
    await server.settling.workOnce(signal);
    expect(await server.read(organizationId, id)).toMatchObject({ status: "investigating", reopened: 3 });
  });

  test("ends at once when nobody looks any more, or by a person", async () => {
    const paused = await flapping();
    await paused.clear(21, { cause: "paused" });
    expect(await paused.server.read(paused.organizationId, paused.id)).toMatchObject({
      resolution: "paused",
    });
    const resolved = await flapping();
    await resolved.clear(21);
    await resolved.server.send(resolved.organizationId, "POST", `/api/v1/incidents/${resolved.id}/resolve`);
    await letItBeWell();
    await resolved.server.settling.workOnce(signal);
    expect(await resolved.server.read(resolved.organizationId, resolved.id)).toMatchObject({
      resolution: "person",
    });
  });

  test("as the alert of another system ends by its sender", async () => {
    const { server, organizationId, raise, clear } = await suite();
    const source = { kind: "alert", id: 3, name: "Alertmanager" } as const;
    for (const minute of [0, 2, 4]) {
      await raise(minute, { source });
      await clear(minute + 1, { cause: "sender" });
    }
    await letItBeWell();
    await server.settling.workOnce(signal);
    expect((await server.list(organizationId)).items).toMatchObject([
      { flapping: true, resolution: "sender" },
    ]);
  });

  test("slower than thrice an hour does not flap", async () => {
    const { server, organizationId, raise, clear } = await suite();
    const end = async (minute: number): Promise<void> => {
      await clear(minute);
    };
    await raise(0);
    await end(51);
    await raise(60);
    await end(111);
    await raise(120);
    expect((await server.list(organizationId)).items).toMatchObject([{ flapping: false, reopened: 2 }]);
  });

  test("fills no timeline without end", async () => {
    const { server, organizationId, raise } = await suite();
    await raise(0);
    const [incident] = (await server.list(organizationId)).items;
    await sql`
      INSERT INTO incident_updates (organization_id, incident_id, kind, public, body, created_at)
      SELECT ${organizationId}, ${incident?.id ?? 0}, 'changed', false, 'x', now() FROM generate_series(1, 498)`;
    await raise(1, { severity: "low" });
    await raise(2, { severity: "medium" });
    expect((await server.read(organizationId, incident?.id ?? 0)).updates).toHaveLength(500);
    expect(server.told.at(-1)).toMatchObject({ incident: { severity: "medium" }, update: null });
  });
});
