/** What entries and records say of somebody is found under each of his names, with whoever he had to do with, and of nobody else's. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SERVER_ORIGIN } from "../../../src/changes/changes.ts";
import { riskOf } from "../../../src/domains/context/risk.ts";
import { linkIncident, linksOfIncident } from "../../../src/entities/incident-links.ts";
import { type EntityName, edgesKey } from "../../../src/entities/signal-labels.ts";
import { openTestStores, type TestStores } from "../../harness/stores.ts";
import { type IocServer, iocServer, PATH } from "../iocs/ioc-server.ts";
import { makeOrganization } from "../log-alerts/alert-server.ts";

const CONTEXT = "/api/v1/context";
const DAY_MS = 86_400_000;

interface Shown {
  readonly kind: string;
  readonly direction: string;
  readonly entity: { readonly type: string; readonly key: string };
  readonly count: number;
}

let stores: TestStores;
let server: IocServer;
let own: number;
beforeAll(async () => {
  stores = await openTestStores();
  server = await iocServer(stores);
});
afterAll(() => stores.close());

async function newcomer(): Promise<number> {
  own = await makeOrganization(stores);
  return own;
}

async function lookUp(type: string, key: string) {
  const { status, body } = await server.send(
    own,
    "GET",
    `${CONTEXT}/lookup?type=${type}&key=${encodeURIComponent(key)}`,
  );
  expect(status).toBe(200);
  return body.entity;
}

async function neighborsOf(
  type: string,
  key: string,
  query = "",
): Promise<{ shown: string[]; total: number }> {
  const { id } = await lookUp(type, key);
  const { status, body } = await server.send(own, "GET", `${CONTEXT}/entity/${id}/neighbors${query}`);
  expect(status).toBe(200);
  const shown = body.items.map(
    ({ kind, direction, entity, count }: Shown) =>
      `${kind} ${direction} ${entity.type}:${entity.key} ${count}`,
  );
  return { shown: shown.toSorted(), total: body.total };
}

/** Edges from an entity to domains, the same ones for each, as seals write them; of those with low numbers some are seen last. */
async function storeEdges(from: EntityName, n: number): Promise<void> {
  const name = `${from.type}\\t${from.key}`;
  await stores.clickhouse.command({
    query: `
      INSERT INTO signals (organization_id, kind, key, group_hash, bucket, n, last_id, sealed_day, label, first_ms, last_ms)
      SELECT ${own}, 'edge', ${edgesKey(from)}, number, now64(9), 1, number, today(),
        concat('uses\\tout\\t${name}\\tdomain\\td', toString(number), '.example.com'),
        toUnixTimestamp(now()) * 1000 - number % 100, toUnixTimestamp(now()) * 1000 - number % 100
      FROM numbers(${n})`,
  });
}

async function openIncident(fields: {
  sourceKey: string | null;
  severity?: string;
  daysAgo?: number;
  groupKey?: object;
}) {
  const { severity = "medium", daysAgo = 0, sourceKey, groupKey = {} } = fields;
  const openedAt = new Date(server.clock.nowMs - daysAgo * DAY_MS);
  const [row] = await server.sql<{ id: number }[]>`
    INSERT INTO incidents (organization_id, title, status, severity, source_key, opened_at, created_at, updated_at)
    VALUES (${own}, 'Something is wrong', 'investigating', ${severity}, ${sourceKey}, ${openedAt}, now(), now())
    RETURNING id::integer`;
  const id = row?.id ?? 0;
  const incident = {
    id,
    sourceKey,
    openedAt: openedAt.toISOString(),
    monitorIds: [],
    groupKey: { ...groupKey },
  };
  const cause = { organizationId: own, actor: { kind: "job", name: "test" } as const, origin: SERVER_ORIGIN };
  for (let i = 0; i < 2; i += 1)
    await server.changes.inChange(cause, null, (change) => linkIncident(change, incident));
  return id;
}

describe("entries", () => {
  test("name who and what there is, when it was seen, and what had to do with what", async () => {
    const other = await newcomer();
    await newcomer();
    const before = server.clock.nowMs - 2 * DAY_MS;
    const signIn = {
      service: "sshd",
      host: "Web-1",
      message: "Accepted publickey for Sam from 45.33.32.156 port 4711 ssh2",
    };
    await server.store(own, { ...signIn, atMs: before }, signIn);
    await server.store(own, {
      ...signIn,
      message: "Failed password for root from 185.220.101.7 port 22 ssh2",
    });
    await server.seal();
    await server.store(own, signIn, {
      service: "proxy",
      host: "web-1",
      message: "GET https://cdn.example.com/x",
    });
    await server.seal();
    expect(await lookUp("identity", "SAM")).toMatchObject({ key: "sam", name: "Sam", source: "observed" });
    expect(await lookUp("host", "WEB-1")).toMatchObject({ firstSeen: new Date(before).toISOString() });
    expect((await neighborsOf("identity", "sam")).shown).toEqual([
      "logged_in_from out ip:45.33.32.156 3",
      "uses out host:web-1 3",
      "uses out service:sshd 3",
    ]);
    expect((await neighborsOf("host", "web-1")).shown).toEqual([
      "runs_on in service:proxy 1",
      "runs_on in service:sshd 4",
      "uses in identity:sam 3",
      "uses out domain:cdn.example.com 1",
    ]);
    // Where an address is, of those that the database of places knows.
    expect((await lookUp("ip", "45.33.32.156")).attrs.place).toMatchObject({
      ...{ country: "Ruritania", city: "Strelsau" },
    });
    expect((await lookUp("ip", "185.220.101.7")).attrs).toEqual({});
    // Whoever failed to sign in did not sign in from there.
    expect((await neighborsOf("ip", "185.220.101.7")).shown).toEqual(["calls out service:sshd 1"]);
    own = other;
    expect(await lookUp("identity", "sam")).toBeNull();
  });

  test("are counted by type, listed up to a limit, of a type and of a time", async () => {
    await newcomer();
    const entries = Array.from({ length: 5 }, (_, i) => ({ service: `s${i}`, host: "h", message: "" }));
    await server.store(own, ...entries, { service: "old", host: "h", atMs: server.clock.nowMs - 3 * DAY_MS });
    await server.seal();
    expect(await neighborsOf("host", "h", "?limit=2")).toMatchObject({ total: 6, shown: { length: 2 } });
    expect((await neighborsOf("host", "h", "?type=domain")).total).toBe(0);
    const since = new Date(server.clock.nowMs - DAY_MS).toISOString();
    expect((await neighborsOf("host", "h", `?from=${since}`)).total).toBe(5);
    expect((await neighborsOf("host", "h", `?to=${since}`)).shown).toEqual(["runs_on in service:old 1"]);
    expect((await server.send(own, "GET", `${CONTEXT}/entity/1/neighbors?limit=201`)).status).toBe(400);
  });

  test("with a name that has a tab in it are found from both ends", async () => {
    await newcomer();
    await server.store(own, { service: "a\tb", host: "c\td", message: "" });
    await server.seal();
    expect((await neighborsOf("service", "a\tb")).shown).toEqual(["runs_on out host:c d 1"]);
    expect((await neighborsOf("host", "c d")).shown).toEqual(["runs_on in service:a b 1"]);
  });

  test("are all counted, however many there are, and each once where several names have it", async () => {
    await newcomer();
    await server.store(own, { service: "shop", host: "web-1", message: "" });
    await server.seal();
    await storeEdges({ type: "host", key: "web-1" }, 12_000);
    const { id } = await lookUp("host", "web-1");
    const read = async (of: number) =>
      (await server.send(own, "GET", `${CONTEXT}/entity/${of}/neighbors?limit=200`)).body;
    expect(await read(id)).toMatchObject({ total: 12_001, byType: { domain: 12_000, service: 1 } });
    await server.send(own, "POST", "/api/v1/assets", { ip: "203.0.113.7", hostname: "web-1" });
    await storeEdges({ type: "ip", key: "203.0.113.7" }, 13_000);
    const together = await read((await lookUp("asset", "203.0.113.7")).id);
    expect(together).toMatchObject({
      total: 13_001,
      byType: { domain: 13_000, service: 1 },
      items: { length: 200 },
    });
    const counts = new Set(together.items.map(({ count }: Shown) => count));
    expect([...counts].toSorted()).toEqual([1, 2]);
  });
});

describe("records", () => {
  test("stand in the graph under all of their names as soon as they are made, and leave it when they are deleted", async () => {
    await newcomer();
    await server.store(own, { service: "shop", host: "web-1", message: "" });
    await server.seal();
    const { body: asset } = await server.send(own, "POST", "/api/v1/assets", {
      ...{ ip: "2001:DB8::0:7", hostname: "WEB-1", criticality: "critical", tags: ["web"] },
    });
    expect(asset).toMatchObject({ ip: "2001:db8::7", hostname: "WEB-1" });
    expect(await lookUp("asset", "2001:db8:0::7")).toMatchObject({
      ...{ name: "WEB-1", source: "record", attrs: { criticality: "critical", tags: ["web"] } },
      aliases: [
        { type: "host", key: "web-1" },
        { type: "ip", key: "2001:db8::7" },
      ],
    });
    expect(await lookUp("host", "web-1")).toMatchObject({ canonical: { type: "asset", key: "2001:db8::7" } });
    expect((await neighborsOf("asset", "2001:db8::7")).shown).toEqual(["runs_on in service:shop 1"]);
    await server.send(own, "PATCH", `/api/v1/assets/${asset.id}`, { hostname: null });
    expect(await lookUp("host", "web-1")).toMatchObject({ canonical: null });
    const again = await server.send(own, "POST", "/api/v1/assets", { ip: "2001:db8::7", owner: "shop" });
    expect(again).toMatchObject({
      status: 200,
      body: { id: asset.id, criticality: "critical", owner: "shop" },
    });
    await server.send(own, "DELETE", `/api/v1/assets/${asset.id}`);
    expect(await lookUp("asset", "2001:db8::7")).toBeNull();
  });

  test("of identities are one in every case, and found by their aliases", async () => {
    await newcomer();
    const made = await server.send(own, "POST", "/api/v1/identities", {
      ...{ principal: "Sam@Example.com", aliases: ["EXAMPLE\\sam", "sam"], risk: "high" },
    });
    expect(made.status).toBe(201);
    const again = await server.send(own, "POST", "/api/v1/identities", {
      principal: "sam@example.COM",
      displayName: "Sam",
    });
    expect(again).toMatchObject({
      status: 200,
      body: { id: made.body.id, displayName: "Sam", risk: "high" },
    });
    await server.store(own, {
      service: "vpn",
      message: "",
      attrs: [
        ["user.name", "Example\\SAM"],
        ["source.ip", "45.33.32.156"],
      ],
    });
    await server.seal();
    expect(await lookUp("identity", "example\\sam")).toMatchObject({ canonical: { key: "sam@example.com" } });
    expect((await neighborsOf("identity", "SAM@example.com")).shown).toEqual([
      "logged_in_from out ip:45.33.32.156 1",
      "uses out service:vpn 1",
    ]);
    expect((await server.send(own, "GET", "/api/v1/identities")).body.items).toHaveLength(1);
    // Who calls somebody else's name an alias does not become that one.
    await server.send(own, "POST", "/api/v1/identities", { principal: "pat", aliases: ["Sam@example.com"] });
    expect(await lookUp("identity", "sam@example.com")).toMatchObject({ canonical: null, source: "record" });
  });

  test("that have no entity yet get it when they are asked for; what is none is null", async () => {
    await newcomer();
    const id = await openIncident({ sourceKey: null });
    expect(await lookUp("incident", String(id))).toMatchObject({
      name: "Something is wrong",
      attrs: { severity: "medium" },
    });
    expect(await lookUp("incident", String(id + 1000))).toBeNull();
    expect(await lookUp("monitor", "web-1")).toBeNull();
    expect((await server.send(own, "GET", `${CONTEXT}/lookup?type=planet&key=x`)).status).toBe(400);
    expect((await server.send(own, "GET", `${CONTEXT}/entity/999999`)).status).toBe(404);
  });
});

describe("incidents", () => {
  test("are linked with what they are about, once, and make its risk", async () => {
    await newcomer();
    const ioc = await server.send(own, "POST", PATH, { type: "ip", value: "45.33.32.156", severity: "high" });
    await server.store(own, { host: "web-1", service: "shop", message: "45.33.32.156" });
    await server.seal();
    await server.tell();
    await server.send(own, "POST", "/api/v1/assets", {
      ip: "10.0.0.7",
      hostname: "web-1",
      criticality: "critical",
    });
    const key = `ioc:${ioc.body.id}:host:web-1`;
    const id = await openIncident({ sourceKey: key, severity: "high", daysAgo: 7 });
    const ruleId = await openIncident({
      sourceKey: "rule:log:1",
      severity: "low",
      groupKey: { client_ip: "45.33.32.156", host: null },
    });
    expect((await neighborsOf("incident", String(id))).shown).toEqual([
      "evidence_of in host:web-1 1",
      "triggered in ioc:45.33.32.156 1",
    ]);
    expect((await neighborsOf("host", "web-1", "?type=ioc")).shown).toEqual([
      "matched in ioc:45.33.32.156 1",
    ]);
    expect((await neighborsOf("ioc", "45.33.32.156")).shown).toContain("matched out host:web-1 1");
    expect((await neighborsOf("incident", String(ruleId))).shown).toEqual([
      "evidence_of in ip:45.33.32.156 1",
    ]);
    const { risk } = await lookUp("asset", "10.0.0.7");
    expect(risk).toMatchObject({
      score: 26,
      factor: 1.5,
      terms: [{ incidentId: id, severity: "high", weight: 0.35, decay: 0.5 }],
    });
  });

  test("name nobody where they say nothing, or what is no name", () => {
    const incident = { id: 1, sourceKey: null, openedAt: "2026-01-01T00:00:00Z", monitorIds: [] };
    expect(linksOfIncident(incident)).toEqual([]);
    expect(
      linksOfIncident({
        ...incident,
        sourceKey: "ioc:1:planet:x",
        groupKey: { colour: "red", sourceAddress: "x" },
      }),
    ).toEqual([]);
  });
});

test("risk lies between 0 and 100, grows with what is worse and newer, and says every term", () => {
  const cause = fc.record({
    incidentId: fc.nat(),
    title: fc.string(),
    severity: fc.constantFrom("low", "medium", "high", "critical" as const),
    atMs: fc.integer({ min: 0, max: 400 * DAY_MS }),
  });
  const standing = fc.constantFrom(null, "low", "medium", "high", "critical");
  fc.assert(
    fc.property(fc.array(cause, { maxLength: 50 }), cause, standing, (causes, one, of) => {
      const nowMs = 400 * DAY_MS;
      const risk = riskOf(causes, of, nowMs);
      expect(risk.score).toBeWithin(0, 101);
      expect(risk.terms).toHaveLength(causes.length);
      expect(riskOf([...causes, one], of, nowMs).score).toBeGreaterThanOrEqual(risk.score);
      const older = causes.map((each) => ({ ...each, atMs: each.atMs - DAY_MS }));
      expect(riskOf(older, of, nowMs).score).toBeLessThanOrEqual(risk.score);
    }),
  );
  expect(riskOf([], "critical", 0)).toEqual({ score: 0, factor: 1.5, terms: [] });
});

test("an edge that was seen again and again keeps none of those from the answer that were seen before, whatever is asked for", async () => {
  await newcomer();
  const self = { type: "host", key: "web-1" } as const;
  await server.store(own, { host: "web-1", message: "nothing" });
  await server.seal();
  const rows = (n: number, label: string, ms: string) =>
    stores.clickhouse.command({
      query: `
        INSERT INTO signals (organization_id, kind, key, group_hash, bucket, n, last_id, sealed_day, label, first_ms, last_ms)
        SELECT ${own}, 'edge', ${edgesKey(self)}, xxHash64(${label}), toDateTime64('2020-01-01 00:00:00', 9) + toIntervalDay(number), 1,
          number, today(), ${label}, ${ms}, ${ms}
        FROM numbers(${n})`,
    });
  // As many rows as an answer of few looks at for each of its edges, and many more; all are later than those of the others.
  await rows(2000, "'uses\\tout\\thost\\tweb-1\\tdomain\\tbusy.example.com'", "1000000 + number");
  await rows(
    30,
    "concat('uses\\tout\\thost\\tweb-1\\tdomain\\td', toString(number), '.example.com')",
    "1000 + number",
  );
  await rows(7, "concat('runs_on\\tin\\thost\\tweb-1\\tservice\\ts', toString(number))", "2000 + number");
  // Another entity under the same key of the log store.
  await rows(
    5,
    "concat('uses\\tout\\thost\\tweb-2\\tdomain\\tforeign', toString(number))",
    "9000000 + number",
  );
  const { id } = await lookUp("host", "web-1");
  const ask = async (query: string) => {
    const { body } = await server.send(
      own,
      "GET",
      `${CONTEXT}/entity/${id}/neighbors?from=1970-01-01T00:00:00Z${query}`,
    );
    const keys = body.items.map(({ entity, count }: Shown) => `${entity.key} ${count}`);
    return { keys, total: body.total, byType: body.byType };
  };
  expect(await ask("&limit=4")).toEqual({
    ...{ keys: ["busy.example.com 2000", "s6 1", "s5 1", "s4 1"], total: 38 },
    byType: { domain: 31, service: 7 },
  });
  expect((await ask("&limit=3&type=domain")).keys).toEqual([
    "busy.example.com 2000",
    "d29.example.com 1",
    "d28.example.com 1",
  ]);
  expect((await ask("&limit=2&type=service")).keys).toEqual(["s6 1", "s5 1"]);
  const all = await ask("&limit=200");
  expect(all.keys).toHaveLength(38);
  expect(all.keys.at(-1)).toBe("d0.example.com 1");
});
