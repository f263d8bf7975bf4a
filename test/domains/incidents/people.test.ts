/** What people do about incidents: opened by hand, written about, acknowledged, resolved, learned from. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Type } from "typebox";
import { IncidentDetails } from "../../../src/domains/incidents/types.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { bodyOf, ErrorAnswer } from "../../identity/identity-server.ts";
import { auditOf } from "../organizations/organization-server.ts";
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
let server: IncidentServer;
let own: number;
let foreign: number;
beforeAll(async () => {
  stores = await openTestStores();
  sql = stores.postgres;
  person = await makePerson(sql);
  own = await makeOrganization(sql);
  foreign = await makeOrganization(sql);
  server = incidentServer(sql, { person });
});
afterAll(() => stores.close());

async function open(
  json: object = { title: "Checkout is down" },
  organizationId = own,
): Promise<IncidentDetails> {
  const response = await server.send(organizationId, "POST", INCIDENTS, json);
  expect(response.status).toBe(201);
  return bodyOf(response, IncidentDetails);
}

async function act(id: number, action: string, json?: unknown): Promise<IncidentDetails> {
  const method = action === "postmortem" ? "PUT" : "POST";
  const response = await server.send(own, method, `${INCIDENTS}/${id}/${action}`, json);
  expect(response.status).toBe(action === "updates" ? 201 : 200);
  return bodyOf(response, IncidentDetails);
}

async function refused(response: Promise<Response>): Promise<[number, string, string[]]> {
  const { status } = await response;
  const { code, fields = [] } = await bodyOf(await response, ErrorAnswer);
  return [status, code, fields.map((field) => `${field.path} ${field.code}`)];
}

/** What was told since the last question. */
async function told(): Promise<string[]> {
  await server.deliver();
  return server.told
    .splice(0)
    .map(({ kind, notify }) => `${kind.replace("incident.", "")}${notify ? "" : " silently"}`);
}

describe("an incident by hand", () => {
  test("has a title and whatever else is known, and is told", async () => {
    const monitorId = await makeMonitor(sql, own);
    await told();
    const least = await open();
    expect(least).toMatchObject({
      severity: "medium",
      status: "investigating",
      source: null,
      sourceKey: null,
    });
    expect(least.updates).toMatchObject([{ kind: "opened", public: false, userId: person }]);
    const full = {
      title: "é".repeat(255),
      severity: "critical",
      monitorIds: [monitorId, monitorId],
      body: "We look.",
    };
    expect(await open(full)).toMatchObject({
      title: full.title,
      severity: "critical",
      monitorIds: [monitorId],
      openedAt: new Date(START_MS).toISOString(),
      updates: [{ kind: "opened", public: true, body: "We look.", status: "investigating" }],
    });
    expect(await told()).toEqual(["opened", "opened"]);
  });

  test("of the longest texts there are can be told, cut where an event has no room", async () => {
    await told();
    const made = await open({ title: "\u0001".repeat(255), body: "\u0001".repeat(4096) });
    expect(made.updates[0]?.body).toHaveLength(4096);
    expect(await told()).toEqual(["opened"]);
  });

  test.each<[object, string]>([
    [{}, "/title invalid_type"],
    [{ title: "" }, "/title too_small"],
    [{ title: "x".repeat(256) }, "/title too_big"],
    [{ title: "x\0" }, "/title invalid_string"],
    [{ title: "x", severity: "bad" }, "/severity invalid_literal"],
    [{ title: "x", body: "" }, "/body too_small"],
    [{ title: "x", body: "x".repeat(4097) }, "/body too_big"],
    [{ title: "x", monitorIds: Array.from({ length: 101 }, (_, n) => n + 1) }, "/monitorIds too_big"],
    [{ title: "x", monitorIds: ["1"] }, "/monitorIds/0 invalid_type"],
    [{ title: "x", escalationPolicyId: 4 }, "/escalationPolicyId custom"],
    [{ title: "x", status: "resolved" }, "/status unrecognized_keys"],
  ])("%j is refused", async (body, issue) => {
    expect(await refused(server.send(own, "POST", INCIDENTS, body))).toEqual([
      400,
      "VALIDATION_FAILED",
      [issue],
    ]);
  });

  test("names monitors of its organisation only", async () => {
    const [mine, theirs] = [await makeMonitor(sql, own), await makeMonitor(sql, foreign)];
    const json = { title: "x", monitorIds: [mine, theirs, 999_999_999] };
    expect(await refused(server.send(own, "POST", INCIDENTS, json))).toEqual([
      400,
      "VALIDATION_FAILED",
      ["/monitorIds/1 custom", "/monitorIds/2 custom"],
    ]);
  });

  test("is read by viewers, and touched by members with the scope", async () => {
    const { id } = await open();
    expect((await server.send(own, "GET", `${INCIDENTS}/${id}`, undefined, { role: "viewer" })).status).toBe(
      200,
    );
    expect((await server.send(own, "POST", INCIDENTS, { title: "x" }, { role: "viewer" })).status).toBe(403);
    const readOnly = { scopes: "incidents:read" };
    expect((await server.send(own, "POST", `${INCIDENTS}/${id}/resolve`, undefined, readOnly)).status).toBe(
      403,
    );
  });
});

describe("an update", () => {
  test("moves to any status, backwards too, and is public", async () => {
    const { id } = await open();
    await told();
    for (const status of ["monitoring", "identified", "investigating", "resolved"])
      expect(await act(id, "updates", { status, body: `now ${status}` })).toMatchObject({ status });
    const { updates, resolution, resolvedAt } = await server.read(own, id);
    expect(updates.slice(1)).toMatchObject(
      ["monitoring", "identified", "investigating", "resolved"].map((status) => ({
        kind: status === "resolved" ? "resolved" : "update",
        status,
        public: true,
        body: `now ${status}`,
        userId: person,
      })),
    );
    expect([resolution, resolvedAt]).toEqual(["person", new Date(START_MS).toISOString()]);
    expect(await told()).toEqual(["updated", "updated", "updated", "resolved"]);
    expect(await act(id, "updates", { status: "resolved", body: "All is well." })).toMatchObject({
      status: "resolved",
    });
    expect(await told()).toEqual(["updated"]);
  });

  test("reopens what was resolved, acknowledged by nobody", async () => {
    const { id } = await open();
    await act(id, "acknowledge");
    await act(id, "resolve");
    await told();
    expect(await act(id, "updates", { status: "identified", body: "It is back." })).toMatchObject({
      status: "identified",
      resolvedAt: null,
      resolution: null,
      acknowledgedAt: null,
      acknowledgedBy: null,
      reopened: 1,
    });
    expect(await told()).toEqual(["reopened"]);
  });

  test("does not reopen while another incident of the key is open", async () => {
    const key = `monitor:${crypto.randomUUID()}`;
    await server.raise(own, { key });
    await server.deliver();
    const [first] = (await server.list(own, "?status=open&limit=1000")).items.filter(
      ({ sourceKey }) => sourceKey === key,
    );
    const id = first?.id ?? 0;
    await act(id, "resolve");
    await server.raise(own, { key });
    await server.deliver();
    const json = { status: "investigating", body: "Once more." };
    expect(await refused(server.send(own, "POST", `${INCIDENTS}/${id}/updates`, json))).toEqual([
      409,
      "CONFLICT",
      [],
    ]);
    expect(await server.read(own, id)).toMatchObject({ status: "resolved", reopened: 0 });
    // What its source says ends the one that is open.
    await server.clear(own, { key });
    await server.deliver();
    expect(await act(id, "updates", json)).toMatchObject({ status: "investigating" });
    await server.raise(own, { key, title: "Still down" });
    await server.clear(own, { key });
    await server.deliver();
    expect(await server.read(own, id)).toMatchObject({
      status: "resolved",
      title: "Still down",
      resolution: "recovered",
    });
  });

  test("has a text of some length, and the timeline an end", async () => {
    const { id } = await open();
    const path = `${INCIDENTS}/${id}/updates`;
    expect(await refused(server.send(own, "POST", path, { status: "open", body: "" }))).toEqual([
      400,
      "VALIDATION_FAILED",
      ["/status invalid_literal", "/body too_small"],
    ]);
    await act(id, "updates", { status: "identified", body: "\u{1f525}".repeat(2048) });
    await sql`
      INSERT INTO incident_updates (organization_id, incident_id, kind, public, body, created_at)
      SELECT ${own}, ${id}, 'update', true, 'x', now() FROM generate_series(1, 998)`;
    expect(await refused(server.send(own, "POST", path, { status: "identified", body: "x" }))).toEqual([
      409,
      "CONFLICT",
      [],
    ]);
    expect(await act(id, "resolve")).toMatchObject({ status: "resolved" });
    await told();
  });
});

describe("acknowledging and resolving", () => {
  test("repeat harmlessly: told once, with the first time and person", async () => {
    const { id } = await open();
    await told();
    const first = await act(id, "acknowledge");
    expect(first).toMatchObject({ acknowledgedBy: person, acknowledgedAt: new Date(START_MS).toISOString() });
    server.clock.nowMs = START_MS + MINUTE_MS;
    expect(await act(id, "acknowledge")).toEqual(first);
    const ended = await act(id, "resolve");
    expect(ended).toMatchObject({ status: "resolved", resolution: "person" });
    server.clock.nowMs = START_MS + 2 * MINUTE_MS;
    expect(await act(id, "resolve")).toEqual(ended);
    expect(await told()).toEqual(["acknowledged", "resolved"]);
    server.clock.nowMs = START_MS;
  });

  test("of what is resolved there is nothing to acknowledge", async () => {
    const { id } = await open();
    await act(id, "acknowledge");
    await act(id, "resolve");
    expect(await refused(server.send(own, "POST", `${INCIDENTS}/${id}/acknowledge`))).toEqual([
      409,
      "CONFLICT",
      [],
    ]);
  });

  test("many at once are one", async () => {
    const { id } = await open();
    await told();
    const second = incidentServer(sql, { person });
    const each = [server, second, server, second].flatMap((one) => [
      one.send(own, "POST", `${INCIDENTS}/${id}/acknowledge`),
      one.send(own, "POST", `${INCIDENTS}/${id}/resolve`),
    ]);
    const statuses = (await Promise.all(each)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    const { updates } = await server.read(own, id);
    expect(updates.filter(({ kind }) => kind === "resolved")).toHaveLength(1);
    expect(updates.filter(({ kind }) => kind === "acknowledged").length).toBeLessThan(2);
    expect((await told()).filter((kind) => kind === "resolved")).toHaveLength(1);
  });
});

test("a postmortem is written whenever, and bounded", async () => {
  const { id } = await open();
  await told();
  expect(await act(id, "postmortem", { postmortem: "x".repeat(16_384) })).toMatchObject({
    status: "investigating",
  });
  expect(await act(id, "postmortem", { postmortem: "" })).toMatchObject({ postmortem: "" });
  const path = `${INCIDENTS}/${id}/postmortem`;
  expect(await refused(server.send(own, "PUT", path, { postmortem: "x".repeat(16_385) }))).toEqual([
    400,
    "VALIDATION_FAILED",
    ["/postmortem too_big"],
  ]);
  expect(await refused(server.send(own, "PUT", path, { postmortem: null }))).toEqual([
    400,
    "VALIDATION_FAILED",
    ["/postmortem invalid_type"],
  ]);
  expect(await told()).toEqual([]);
});

test("every call is audited with what it changed", async () => {
  const organizationId = await makeOrganization(sql);
  const { id } = await open({ title: "Audited" }, organizationId);
  const calls: [string, string, unknown][] = [
    ["POST", "acknowledge", undefined],
    ["POST", "acknowledge", undefined],
    ["POST", "updates", { status: "identified", body: "Found." }],
    ["POST", "resolve", undefined],
    ["PUT", "postmortem", { postmortem: "Learned." }],
  ];
  for (const [method, action, json] of calls)
    await server.send(organizationId, method, `${INCIDENTS}/${id}/${action}`, json);
  const rows = await auditOf(stores, organizationId);
  expect(rows.map(({ action, resource, meta }) => [action, resource, meta.changedFields])).toEqual([
    ["CREATE_INCIDENT", `incident:${id}`, expect.arrayContaining(["title", "severity"])],
    ["ACKNOWLEDGE_INCIDENT", `incident:${id}`, ["acknowledgedAt", "acknowledgedBy"]],
    ["ACKNOWLEDGE_INCIDENT", `incident:${id}`, []],
    ["UPDATE_INCIDENT", `incident:${id}`, ["status"]],
    ["RESOLVE_INCIDENT", `incident:${id}`, ["status", "resolvedAt", "resolution"]],
    ["UPDATE_POSTMORTEM", `incident:${id}`, ["postmortem"]],
  ]);
  await told();
});

describe("the list", () => {
  test("is paged by numbers in texts, the latest first, and filtered by status", async () => {
    const organizationId = await makeOrganization(sql);
    const ids: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      server.clock.nowMs = START_MS + n * MINUTE_MS;
      ids.unshift((await open({ title: `${n}` }, organizationId)).id);
    }
    server.clock.nowMs = START_MS;
    const [newest, , middle] = ids;
    await server.send(organizationId, "POST", `${INCIDENTS}/${newest}/resolve`);
    await server.send(organizationId, "POST", `${INCIDENTS}/${middle}/updates`, {
      status: "monitoring",
      body: "x",
    });
    const listed = async (query: string): Promise<[number[], number]> => {
      const { items, total } = await server.list(organizationId, query);
      return [items.map(({ id }) => id), total];
    };
    expect(await listed("")).toEqual([ids, 5]);
    expect(await listed("?limit=2&offset=1")).toEqual([ids.slice(1, 3), 5]);
    expect(await listed("?offset=9")).toEqual([[], 5]);
    expect(await listed("?status=open")).toEqual([ids.slice(1), 4]);
    expect(await listed("?status=resolved")).toEqual([ids.slice(0, 1), 1]);
    expect(await listed("?status=monitoring&limit=1")).toEqual([ids.slice(2, 3), 1]);
    expect(await listed("?status=identified")).toEqual([[], 0]);
    const [item] = (await server.list(organizationId, "?limit=1")).items;
    expect(item).not.toHaveProperty("updates");
  });

  test.each([
    ["?limit=0", "/limit too_small"],
    ["?limit=1001", "/limit too_big"],
    ["?limit=-1", "/limit invalid_string"],
    ["?limit=ten", "/limit invalid_string"],
    ["?offset=1000001", "/offset too_big"],
    ["?status=closed", "/status invalid_literal"],
    ["?page=1", "/page unrecognized_keys"],
  ])("%s is refused", async (query, issue) => {
    expect(await refused(server.send(own, "GET", `${INCIDENTS}${query}`))).toEqual([
      400,
      "VALIDATION_FAILED",
      [issue],
    ]);
  });
});

test("nothing was sent about an incident before there are notifications", async () => {
  const { id } = await open();
  const answer = await server.send(own, "GET", `${INCIDENTS}/${id}/deliveries`);
  expect(await bodyOf(answer, Type.Array(Type.Unknown()))).toEqual([]);
  expect((await server.send(foreign, "GET", `${INCIDENTS}/${id}/deliveries`)).status).toBe(404);
});

test("another organisation's incident is nobody's", async () => {
  const { id } = await open();
  const calls: [string, string, unknown][] = [
    ["GET", "", undefined],
    ["POST", "/acknowledge", undefined],
    ["POST", "/resolve", undefined],
    ["POST", "/updates", { status: "resolved", body: "Mine." }],
    ["PUT", "/postmortem", { postmortem: "Mine." }],
  ];
  for (const [method, path, json] of calls)
    expect((await server.send(foreign, method, `${INCIDENTS}/${id}${path}`, json)).status).toBe(404);
  expect(await server.read(own, id)).toMatchObject({
    status: "investigating",
    acknowledgedAt: null,
    postmortem: null,
  });
});
